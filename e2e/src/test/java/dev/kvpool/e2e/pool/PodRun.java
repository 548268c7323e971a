// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Command;
import dev.kvpool.e2e.cluster.Wait;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.time.Duration;
import java.util.List;

/** A pod that does one thing and ends. */
final class PodRun {

    private static final List<String> ENDS = List.of("Succeeded", "Failed");

    /** As long as a phase takes to follow the container. */
    private static final Duration ENDED = Duration.ofSeconds(30);

    private final Cluster cluster;
    private final String namespace;
    private final PodResource pod;
    private final String name;

    private PodRun(Cluster cluster, String namespace, String name) {
        this.cluster = cluster;
        this.namespace = namespace;
        this.pod = cluster.client().pods().inNamespace(namespace).withName(name);
        this.name = name;
    }

    static PodRun start(Cluster cluster, String namespace, Pod pod) {
        var pods = cluster.client().pods().inNamespace(namespace);
        return new PodRun(
                cluster, namespace, pods.resource(pod).create().getMetadata().getName());
    }

    /** Waits until the pod's container works, or has ended already. */
    PodRun awaitStarted(Duration limit) {
        Wait.until(
                "pod " + name + " runs",
                limit,
                () -> assertThat(phase()).as("phase").isIn("Running", "Succeeded", "Failed"));
        return this;
    }

    /**
     * Waits until the pod ends, and removes it.
     *
     * @return what it printed
     * @throws AssertionError with what it printed, when it failed or did not end within the limit
     */
    String awaitSuccess(Duration limit) {
        return awaitOneOf(List.of("Succeeded"), limit);
    }

    /** The same of a pod that may fail as well. */
    String awaitEnd(Duration limit) {
        return awaitOneOf(ENDS, limit);
    }

    private String awaitOneOf(List<String> phases, Duration limit) {
        try {
            Wait.until(
                    "pod " + name + " ends",
                    limit,
                    () -> assertThat(phase()).as("phase").isIn(ENDS));
            String log = pod.getLog();
            assertThat(phase()).as("pod %s, which printed: %s", name, log).isIn(phases);
            return log;
        } finally {
            pod.withGracePeriod(0).delete();
        }
    }

    /** Sends SIGTERM to its first process, and no more: a pod that is deleted takes along what it would print. */
    void tellToEnd() {
        Command.Result told =
                cluster.kubectl().attempt("", "exec", "--namespace", namespace, name, "--", "sh", "-c", "kill -TERM 1");
        if (told.status() != 0) {
            // Its container may have ended by itself; the phase says so a little later.
            Wait.until(
                    "pod " + name + ", which cannot be told to end, has ended",
                    ENDED,
                    () -> assertThat(phase()).as(told.errors()).isIn(ENDS));
        }
    }

    /** Ends it, whatever it does. */
    void stop() {
        pod.withGracePeriod(0).delete();
    }

    private String phase() {
        return pod.require().getStatus().getPhase();
    }
}
