// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.failure;

import io.fabric8.kubernetes.client.KubernetesClientException;

/** What an API server's refusal means for the user who typed the command. */
public final class Sentences {
    /** The least code that comes from a server. */
    private static final int ANSWERED = 100;

    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;

    private Sentences() {}

    public static String of(KubernetesClientException e) {
        String said = e.getStatus() == null || e.getStatus().getMessage() == null
                ? e.getMessage()
                : e.getStatus().getMessage();
        if (e instanceof RefusedByPodException) { // its 401 and 403 are not the API server's
            return e.getMessage();
        }
        return switch (e.getCode()) {
            case UNAUTHORIZED -> "the cluster does not know you; renew the credentials of your kubeconfig";
            case FORBIDDEN -> "you may not do that: " + said;
            default ->
                e.getCode() >= ANSWERED
                        ? said
                        : "the cluster cannot be reached (%s); see kubectl cluster-info".formatted(innermost(e));
        };
    }

    /** What the innermost cause with a message says; Java's HTTP client gives none to a connection that was refused. */
    private static String innermost(Throwable e) {
        String said = e.getCause() == null ? e.getMessage() : "no connection";
        for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
            said = cause.getMessage() == null ? said : cause.getMessage();
        }
        return said;
    }
}
