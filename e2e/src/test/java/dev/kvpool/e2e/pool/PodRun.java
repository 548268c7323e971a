// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Wait;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;

/** Runs a pod to its end. */
final class PodRun {

    /** How a pod ended: its phase (Succeeded or Failed) and what its container printed. */
    record Outcome(String phase, String log) {

        /** The log of a pod that must succeed. @throws AssertionError with the log when it did not */
        String orThrow(String what) {
            assertThat(phase).as("%s; the pod printed: %s", what, log).isEqualTo("Succeeded");
            return log;
        }
    }

    private PodRun() {}

    /** Creates the pod, waits until its container ended, and removes it. */
    static Outcome toEnd(Cluster cluster, String namespace, Pod pod, Duration limit) {
        var pods = cluster.client().pods().inNamespace(namespace);
        String name = pods.resource(pod).create().getMetadata().getName();
        try {
            Wait.until(
                    "pod " + name + " ends",
                    limit,
                    () -> assertThat(pods.withName(name).require().getStatus().getPhase())
                            .as("phase")
                            .isIn("Succeeded", "Failed"));
            return new Outcome(
                    pods.withName(name).require().getStatus().getPhase(),
                    pods.withName(name).getLog());
        } finally {
            pods.withName(name).withGracePeriod(0).delete();
        }
    }
}
