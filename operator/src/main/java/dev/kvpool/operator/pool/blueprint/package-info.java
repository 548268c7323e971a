// SPDX-License-Identifier: Apache-2.0
/** What every object of a pool is built from: one record of what is wanted and what was decided. Knows no object that is built. Pure. */
package dev.kvpool.operator.pool.blueprint;
