// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import java.time.Instant;

/**
 * A Job that brings an image to a Kubernetes node, as far as it is.
 *
 * @param node name of the node
 * @param image the image
 * @param state how far the Job is
 * @param since when it began
 * @param trouble why it does not go on, as the end of a sentence; empty when nothing is known
 */
public record ImagePull(String node, String image, State state, Instant since, String trouble) {
    /** How far the Job is. */
    public enum State {
        RUNNING,
        /** The kubelet of the node cannot get the image, and goes on trying. */
        REFUSED,
        DONE,
        /** Its pod could not run there, which says nothing of the image. */
        FAILED
    }
}
