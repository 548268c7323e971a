// SPDX-License-Identifier: Apache-2.0
/** What people read of a pool: status, conditions, events. Pure. */
package dev.kvpool.operator.pool.report;
