// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.status;

/**
 * One observation: why, and a sentence about this very resource.
 *
 * @param reason says the condition type and its status too
 * @param message what is the case and what the operator does about it; a longer one is cut, since the status must stay small
 */
public record Finding(Reason reason, String message) {
    /** All conditions, drains and an upgrade together then stay below 64 KiB. */
    public static final int MESSAGE_CHARS_MAX = 2_048;

    public Finding {
        message = message.length() <= MESSAGE_CHARS_MAX ? message : message.substring(0, MESSAGE_CHARS_MAX) + " ...";
    }

    /** The same with a further sentence, if it is not empty. */
    public Finding and(String sentence) {
        return sentence.isEmpty() ? this : new Finding(reason, message + " " + sentence);
    }
}
