// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;

/** What lies in directories of nodes, seen by a pod there; its namespace must admit hostPath volumes. */
public final class NodeFiles {
    private static final String LIST = "import os; print(*sorted(os.listdir('/look')), sep='\\n')";

    private final Cluster cluster;
    private final String namespace;

    public NodeFiles(Cluster cluster, String namespace) {
        this.cluster = cluster;
        this.namespace = namespace;
    }

    /** Names in a directory of a node, which is made when it is not there. */
    public List<String> in(String node, String directory) {
        return PodRun.start(cluster, namespace, pod(node, directory))
                .awaitSuccess(Limits.CLIENT_POD)
                .lines()
                .filter(line -> !line.isEmpty())
                .toList();
    }

    private static Pod pod(String node, String directory) {
        return new PodBuilder()
                .withNewMetadata()
                .withGenerateName("look-")
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .withRestartPolicy("Never")
                .withAutomountServiceAccountToken(false)
                .withTerminationGracePeriodSeconds(0L)
                .addNewContainer()
                .withName("look")
                .withImage("kvpool-client:0.1.0")
                .withCommand("python3", "-c", LIST)
                .addNewVolumeMount()
                .withName("directory")
                .withMountPath("/look")
                .endVolumeMount()
                .endContainer()
                .addNewVolume()
                .withName("directory")
                .withNewHostPath()
                .withPath(directory)
                .withType("DirectoryOrCreate")
                .endHostPath()
                .endVolume()
                .endSpec()
                .build();
    }
}
