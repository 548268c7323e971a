// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin;

import dev.kvpool.operator.pool.ObservedPod;
import dev.kvpool.operator.pool.PoolLabels;
import dev.kvpool.operator.pool.PoolNames;
import dev.kvpool.operator.pool.PoolObservation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Collects a support bundle. What cannot be had is one line in its place, and the rest is there nevertheless. Secrets are never
 * asked for, nor is any path that lists keys.
 */
final class Bundle {
    static final int LOG_LINES_MAX = 100_000;

    /** Pods whose logs and metrics are taken; a pool may have a thousand. */
    private static final int PODS_MAX = 50;

    private final Cluster on;
    private final int logLines;
    private final Map<String, String> entries = new LinkedHashMap<>();

    Bundle(Cluster on, int logLines) {
        this.on = on;
        this.logLines = logLines;
    }

    /** Text by file name. */
    Map<String, String> of(PoolObservation seen) {
        add("status.txt", () -> StatusText.of(StatusView.of(seen, NodeNotes.of(seen, on.masters()))));
        add("plan.txt", () -> PlanText.of(PlanCommand.view(on, seen.names().pool(), on.operatorSettings(null))));
        add("pool.yaml", () -> Redaction.yaml(List.of(seen.pool())));
        seen.engine().ifPresent(engine -> add("engine.yaml", () -> Redaction.yaml(List.of(engine))));
        add("objects.yaml", () -> Redaction.yaml(seen.children()));
        List<Pod> pods = pods(seen);
        add("pods.yaml", () -> Redaction.yaml(pods));
        add("events.yaml", () -> Redaction.yaml(events(seen)));
        seen.pods().stream().limit(PODS_MAX).forEach(this::addPod);
        return entries;
    }

    private void addPod(ObservedPod pod) {
        boolean master = pod.role().equals(PoolLabels.ROLE_MASTER);
        int port = master ? PoolNames.MASTER_ADMIN_PORT : PoolNames.NODE_ADMIN_PORT;
        add(
                "says/%s.json".formatted(pod.name()),
                () -> on.masters().text(pod.name(), port, master ? "/api/v1/pool" : "/api/v1/node"));
        add("metrics/%s.txt".formatted(pod.name()), () -> on.masters().text(pod.name(), port, "/metrics"));
        if (logLines > 0) {
            add("logs/%s.log".formatted(pod.name()), () -> log(pod, false));
            if (pod.restarts() > 0) {
                add("logs/%s.previous.log".formatted(pod.name()), () -> log(pod, true));
            }
        }
    }

    private String log(ObservedPod pod, boolean previous) {
        var container = client().pods()
                .inNamespace(on.namespace())
                .withName(pod.name())
                .inContainer(pod.role().equals(PoolLabels.ROLE_MASTER) ? "master" : "node");
        return (previous ? container.terminated() : container)
                .tailingLines(logLines)
                .getLog();
    }

    private List<Pod> pods(PoolObservation seen) {
        return client().pods()
                .inNamespace(on.namespace())
                .withLabel(PoolLabels.POOL, seen.names().pool())
                .list()
                .getItems();
    }

    private List<? extends HasMetadata> events(PoolObservation seen) {
        String pool = seen.names().pool();
        return client().resources(Event.class).inNamespace(on.namespace()).list().getItems().stream()
                .filter(event -> event.getRegarding() != null
                        && event.getRegarding().getName() != null
                        && (event.getRegarding().getName().equals(pool)
                                || event.getRegarding().getName().startsWith(pool + "-")))
                .toList();
    }

    private KubernetesClient client() {
        return on.client();
    }

    private void add(String name, Supplier<String> text) {
        try {
            String found = text.get();
            entries.put(name, Redaction.text(found == null ? "" : found));
        } catch (KubernetesClientException e) {
            entries.put(name, "not to be had: " + Sentences.of(e) + "\n");
        } catch (PluginException e) {
            entries.put(name, "not to be had: " + e.getMessage() + "\n");
        }
    }
}
