// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.failure;

import dev.kvpool.identity.text.Quoted;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.Serial;

/** A pod was reached through the API server, and does not do what was asked of it. The message is what the pod said. */
public final class RefusedByPodException extends KubernetesClientException {
    @Serial
    private static final long serialVersionUID = 1;

    /**
     * Makes one.
     *
     * @param status of the HTTP answer
     * @param body what the pod said
     */
    public RefusedByPodException(int status, String body) {
        super("it answered with HTTP status " + status + ": " + Quoted.cut(body.strip()), status, null);
    }
}
