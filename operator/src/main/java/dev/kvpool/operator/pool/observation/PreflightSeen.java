// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

/**
 * The preflight Job, as far as it is.
 *
 * @param image the image it asks for
 * @param state whether it still runs
 * @param verdict what it answered: rolling-warm, rolling-drained or refused; empty otherwise
 * @param reason its sentence, or why it failed or does not run yet
 */
public record PreflightSeen(String image, State state, String verdict, String reason) {
    /** How far the Job is. */
    public enum State {
        RUNNING,
        ANSWERED,
        FAILED
    }
}
