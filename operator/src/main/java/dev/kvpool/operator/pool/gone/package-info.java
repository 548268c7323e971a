// SPDX-License-Identifier: Apache-2.0

/**
 * What is left to do for pools that are gone. A pool has no finalizer, so that it can go while no operator runs; what garbage
 * collection cannot do is done later, from what the pool has written down.
 */
package dev.kvpool.operator.pool.gone;
