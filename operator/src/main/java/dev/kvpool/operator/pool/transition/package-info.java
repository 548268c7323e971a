// SPDX-License-Identifier: Apache-2.0
/**
 * What is to happen to the pods of a pool, as one ordered list of transitions: planned from what was observed and what {@code status.steps}
 * says, with one order, one budget and one place that says why something waits. Nothing else stops a pod. Pure: no class here changes
 * anything, and none knows of the phases of an upgrade.
 */
package dev.kvpool.operator.pool.transition;
