// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.event;

/**
 * One event to publish.
 *
 * @param reason the decision
 * @param note a sentence about it
 */
public record Notice(EventReason reason, String note) {}
