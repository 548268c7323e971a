// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.api.v1alpha1.engine.Protocol;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.cluster.NodeNotes;
import dev.kvpool.operator.plugin.cluster.PodProxyMasters;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.plugin.failure.Sentences;
import dev.kvpool.operator.plugin.observation.AdminPage;
import dev.kvpool.operator.plugin.plan.PlanText;
import dev.kvpool.operator.plugin.report.Redaction;
import dev.kvpool.operator.plugin.status.StatusText;
import dev.kvpool.operator.plugin.status.StatusView;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
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
        List<Pod> pods = on.pods(seen.names().pool());
        String fabric = seen.engine()
                .flatMap(engine -> engine.getSpec().fabric())
                .map(Protocol::word)
                .orElse("");
        add("status.txt", () -> StatusText.of(StatusView.of(seen, NodeNotes.of(fabric, pods, on.masters()))));
        add("plan.txt", () -> PlanText.of(PlanCommand.view(on, seen.names().pool(), on.operatorSettings(null))));
        add("pool.yaml", () -> Redaction.yaml(List.of(seen.pool())));
        seen.engine().ifPresent(engine -> add("engine.yaml", () -> Redaction.yaml(List.of(engine))));
        add("objects.yaml", () -> Redaction.yaml(seen.children()));
        add("pods.yaml", () -> Redaction.yaml(pods));
        add("events.yaml", () -> Redaction.yaml(events(seen)));
        List<Pod> asked = pods.stream().limit(PODS_MAX).toList();
        PodProxyMasters.atOnce(asked, pod -> ofPod(pod, seen)).forEach(entries::putAll);
        return entries;
    }

    private Map<String, String> ofPod(Pod pod, PoolObservation seen) {
        Map<String, String> found = new LinkedHashMap<>();
        String name = pod.getMetadata().getName();
        AdminPage.of(pod).ifPresent(page -> {
            found.put(
                    "says/%s.json".formatted(name),
                    text(() -> on.masters().text(seen.endpoint(name), page.port(), page.path())));
            found.put(
                    "metrics/%s.txt".formatted(name),
                    text(() -> on.masters().text(MasterEndpoint.plain(name), page.port(), "/metrics")));
        });
        if (logLines > 0) {
            found.put("logs/%s.log".formatted(name), text(() -> log(pod, false)));
            if (ObservedPod.of(pod).restarts() > 0) {
                found.put("logs/%s.previous.log".formatted(name), text(() -> log(pod, true)));
            }
        }
        return found;
    }

    private String log(Pod pod, boolean previous) {
        var container = client().pods()
                .inNamespace(on.namespace())
                .withName(pod.getMetadata().getName())
                .inContainer(AdminPage.container(pod));
        return (previous ? container.terminated() : container)
                .tailingLines(logLines)
                .getLog();
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
        entries.put(name, text(text));
    }

    private static String text(Supplier<String> text) {
        try {
            String found = text.get();
            return Redaction.text(found == null ? "" : found);
        } catch (KubernetesClientException e) {
            return "not to be had: " + Sentences.of(e) + "\n";
        } catch (PluginException e) {
            return "not to be had: " + e.getMessage() + "\n";
        }
    }
}
