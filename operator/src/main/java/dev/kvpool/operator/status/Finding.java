// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.status;

/**
 * One observation: why, and a sentence about this very resource.
 *
 * @param reason says the condition type and its status too
 * @param message what is the case and what the operator does about it
 */
public record Finding(Reason reason, String message) {}
