// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import picocli.CommandLine.Option;

/** Which cluster and namespace, as kubectl takes them. */
public final class ClusterOptions {
    @Option(
            names = {"-n", "--namespace"},
            paramLabel = "NAME",
            description = "Namespace of the pool; that of the context otherwise.")
    private String namespace;

    @Option(
            names = "--context",
            paramLabel = "NAME",
            description = "Context of the kubeconfig; the current one otherwise.")
    private String context;

    String namespace() {
        return namespace;
    }

    String context() {
        return context;
    }
}
