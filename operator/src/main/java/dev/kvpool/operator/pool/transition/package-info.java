// SPDX-License-Identifier: Apache-2.0
/**
 * What is to happen to the pods of a pool, as one ordered list of transitions: planned from what was observed and what {@code status.steps}
 * says, with one order, one budget and one place that says why something waits. Nothing else stops a pod. Pure: no class here changes
 * anything, and none knows of the phases of an upgrade.
 *
 * <p>A look goes like this, from a {@code TransitionView}: {@code StepJudge} says of each step in the status how it stands, {@code Needs} what
 * else has to happen, in its order, {@code Waits} why each of these does not begin now, and {@code Transitions} puts it together as a
 * {@code TransitionPlan}.
 */
package dev.kvpool.operator.pool.transition;
