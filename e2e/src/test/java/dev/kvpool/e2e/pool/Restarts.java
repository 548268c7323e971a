// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Restarts of containers, and pods that are replaced, told apart. */
public final class Restarts {

    private final Cluster cluster;

    public Restarts(Cluster cluster) {
        this.cluster = cluster;
    }

    /** How often kvpool's container of each pod was restarted, by the pod's uid: a replaced pod has another one. */
    public Map<String, Integer> byUid(List<Pod> pods) {
        return pods.stream().collect(Collectors.toMap(pod -> pod.getMetadata().getUid(), Restarts::count));
    }

    /** Waits until the container of a pod was restarted since the pod was read, in the same pod, and is ready. */
    public void awaitRestartOf(Pod before) {
        String name = before.getMetadata().getName();
        Wait.until("the killed container of " + name + " runs again", Limits.RESTART, () -> {
            Pod now = cluster.client()
                    .pods()
                    .inNamespace(before.getMetadata().getNamespace())
                    .withName(name)
                    .require();
            assertThat(now.getMetadata().getUid())
                    .as("uid of the pod")
                    .isEqualTo(before.getMetadata().getUid());
            assertThat(count(now)).as("restarts").isGreaterThan(count(before));
            assertThat(Readiness.isPodReady(now)).as("ready").isTrue();
        });
    }

    private static int count(Pod pod) {
        return OwnContainer.statusOf(pod).getRestartCount();
    }
}
