// SPDX-License-Identifier: Apache-2.0
/** Pools: their reconciliations, and whose turn it is to get other pods of the same spec. */
package dev.kvpool.operator.pool;
