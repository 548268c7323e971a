// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.ArrayList;
import java.util.List;

/**
 * The Python client in pods of its own, one per call. A pod gets what it has to know from the pool's client ConfigMap, as
 * an engine would. What it put it can check byte for byte in another pod: content follows from the key.
 */
public final class Clients {

    private static final String IMAGE = "kvpool-client:0.1.0";
    private static final long NOBODY = 65532L;

    private final Cluster cluster;
    private final Pool pool;

    public Clients(Cluster cluster, Pool pool) {
        this.cluster = cluster;
        this.pool = pool;
    }

    /** Puts objects whose keys begin with the prefix; returns the lines that the client printed. */
    public List<String> put(String prefix, int count) {
        return run("put", prefix, count);
    }

    /** Gets the objects and compares their bytes; returns the lines that the client printed. */
    public List<String> get(String prefix, int count) {
        return run("get", prefix, count);
    }

    private List<String> run(String verb, String prefix, int count) {
        List<String> words =
                new ArrayList<>(List.of("kvcheck", verb, "--prefix", prefix, "--count", Integer.toString(count)));
        return PodRun.toEnd(cluster, pool.namespace(), pod(words), Limits.CLIENT_POD)
                .orThrow(String.join(" ", words))
                .lines()
                .toList();
    }

    private Pod pod(List<String> words) {
        return new PodBuilder()
                .withNewMetadata()
                .withGenerateName("client-" + words.get(1) + "-")
                .endMetadata()
                .withNewSpec()
                .withRestartPolicy("Never")
                .withAutomountServiceAccountToken(false)
                .withTerminationGracePeriodSeconds(0L)
                .withNewSecurityContext()
                .withRunAsNonRoot(true)
                .withRunAsUser(NOBODY)
                .withNewSeccompProfile()
                .withType("RuntimeDefault")
                .endSeccompProfile()
                .endSecurityContext()
                .addNewContainer()
                .withName("client")
                .withImage(IMAGE)
                .withCommand(words)
                .addNewEnvFrom()
                .withNewConfigMapRef()
                .withName(pool.name() + "-client")
                .endConfigMapRef()
                .endEnvFrom()
                .withNewSecurityContext()
                .withAllowPrivilegeEscalation(false)
                .withNewCapabilities()
                .withDrop("ALL")
                .endCapabilities()
                .endSecurityContext()
                .endContainer()
                .endSpec()
                .build();
    }
}
