// SPDX-License-Identifier: Apache-2.0
/** Whether a pool can be carried out at all, and what to change if not. Pure. */
package dev.kvpool.operator.pool.validate;
