// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;

/**
 * A transition that has not begun.
 *
 * @param of the master's pod, or the storage node's id
 * @param because why it is to happen
 * @param sentence why it has not begun, as a part of a sentence
 */
public record Wait(String of, StepCause because, String sentence) {}
