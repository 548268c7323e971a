// SPDX-License-Identifier: Apache-2.0
/**
 * How a pool is upgraded to another image, decided from what is seen and what the status says of the upgrade so far. Pure.
 *
 * <p>Two rules make it safe against an operator that dies at any point, and against caches that lag behind: it acts only on
 * what the status already says, and a change of that is written only over the status it was made from.
 */
package dev.kvpool.operator.pool.roll;
