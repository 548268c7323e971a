// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;

/**
 * Kills containers with SIGKILL, as the kernel does when memory runs out: no signal that a process could act on, no grace
 * time, and the pod stays. It works from a pod on the same node that sees the node's processes, so on any cluster that
 * admits such pods.
 */
public final class Killer implements AutoCloseable {

    private static final String NAMESPACE = "kvpool-e2e-killer";

    private final Cluster cluster;
    private final String program;

    public Killer(Cluster cluster) {
        this.cluster = cluster;
        try {
            this.program = Files.readString(cluster.settings().repository().resolve("e2e/faults/kill_container.py"));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read what the killing pod runs", e);
        }
        cluster.createNamespace(NAMESPACE, "privileged");
    }

    /** Kills the container of kvpool in the pod. @throws AssertionError when there was no such process */
    public void kill(Pod victim) {
        String container = OwnContainer.statusOf(victim).getContainerID();
        // The status writes containerd://ID.
        String id = container.substring(container.indexOf("//") + 2);
        PodRun.start(cluster, NAMESPACE, pod(victim.getSpec().getNodeName(), id))
                .awaitSuccess(Limits.CLIENT_POD);
    }

    @Override
    public void close() {
        cluster.deleteNamespace(NAMESPACE);
    }

    private Pod pod(String node, String containerId) {
        return new PodBuilder()
                .withNewMetadata()
                .withGenerateName("kill-")
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .withHostPID(true)
                .withRestartPolicy("Never")
                .withAutomountServiceAccountToken(false)
                .withTerminationGracePeriodSeconds(0L)
                .addNewContainer()
                .withName("kill")
                .withImage("kvpool-client:0.1.0")
                .withCommand("python3", "-c", program, containerId)
                .withNewSecurityContext()
                .withRunAsUser(0L)
                .endSecurityContext()
                .endContainer()
                .endSpec()
                .build();
    }
}
