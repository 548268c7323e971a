// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes down the state of a cluster: what is there, what happened, and what the programs of kvpool printed. */
final class Diagnostics {

    private static final int LOG_LINES = 2000;

    private final Cluster cluster;
    private final Path folder;

    Diagnostics(Cluster cluster, String scenario) {
        this.cluster = cluster;
        this.folder = cluster.settings().diagnostics().resolve(scenario.replaceAll("[^A-Za-z0-9._-]", "-"));
    }

    /** Writes all it can; one thing that cannot be had does not keep the others from being written. */
    Path write() throws IOException {
        Files.createDirectories(folder);
        kubectl("pods.txt", "get", "pods", "--all-namespaces", "--output=wide");
        kubectl("events.txt", "get", "events", "--all-namespaces", "--sort-by=.lastTimestamp");
        kubectl("pools.yaml", "get", "kvcachepools,transferengines", "--all-namespaces", "--output=yaml");
        kubectl("leases.yaml", "get", "leases", "--all-namespaces", "--output=yaml");
        kubectl(
                "children.yaml",
                "get",
                "statefulsets,services,configmaps",
                "--all-namespaces",
                "--output=yaml",
                "--selector=kvpool.dev/pool");
        kubectl("describe.txt", "describe", "pods", "--all-namespaces", "--selector=app.kubernetes.io/part-of=kvpool");
        Files.writeString(folder.resolve("cluster.log"), cluster.logs());
        for (Pod pod : pods()) {
            logs(pod);
        }
        return folder;
    }

    private List<Pod> pods() {
        return cluster.client()
                .pods()
                .inAnyNamespace()
                .withLabel("app.kubernetes.io/part-of", "kvpool")
                .list()
                .getItems();
    }

    private void logs(Pod pod) throws IOException {
        String namespace = pod.getMetadata().getNamespace();
        String name = pod.getMetadata().getName();
        for (Container container : pod.getSpec().getContainers()) {
            String file = "%s.%s.%s".formatted(namespace, name, container.getName());
            String[] now = {
                "logs", "--namespace", namespace, name, "--container", container.getName(), "--tail=" + LOG_LINES
            };
            kubectl(file + ".log", now);
            if (restarts(pod) > 0) {
                String[] before = java.util.Arrays.copyOf(now, now.length + 1);
                before[now.length] = "--previous";
                kubectl(file + ".previous.log", before);
            }
        }
    }

    private static int restarts(Pod pod) {
        return pod.getStatus().getContainerStatuses().stream()
                .mapToInt(status -> status.getRestartCount())
                .sum();
    }

    private void kubectl(String file, String... arguments) throws IOException {
        String text;
        try {
            Command.Result result = cluster.kubectl().attempt("", arguments);
            text = result.output() + result.errors();
        } catch (IllegalStateException e) {
            text = String.valueOf(e.getMessage());
        }
        Files.writeString(folder.resolve(file), text);
    }
}
