// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kvpool.e2e.cluster.Cluster;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.EndpointAddress;
import io.fabric8.kubernetes.api.model.EndpointPort;
import io.fabric8.kubernetes.api.model.EndpointSubset;
import io.fabric8.kubernetes.api.model.Endpoints;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * What the Prometheus operator makes of a ServiceMonitor and a PodMonitor: the configuration of a Prometheus. That one is outside of the
 * cluster and scrapes through the API server. Debian's knows no Kubernetes, so targets come by files, with the labels that the discovery
 * in Kubernetes gives them.
 */
public final class Scrapes {
    private static final String INTERVAL = "1s";
    private static final String META = "__meta_kubernetes_";
    private static final String POD = "pod";
    private static final String ENDPOINTS = "endpoints";

    private final Cluster cluster;
    private final Path folder;
    private final List<Map<String, Object>> jobs = new ArrayList<>();

    /** In a folder that this fills. */
    public Scrapes(Cluster cluster, Path folder) {
        this.cluster = cluster;
        this.folder = folder;
    }

    /** Adds what a monitor asks for. @throws IllegalArgumentException for a kind that is neither of the two */
    public Scrapes add(JsonNode monitor) {
        String kind = monitor.path("kind").asText();
        switch (kind) {
            case "PodMonitor" ->
                addEach(monitor, POD, "pod_", monitor.path("spec").path("podMetricsEndpoints"));
            case "ServiceMonitor" ->
                addEach(monitor, ENDPOINTS, "service_", monitor.path("spec").path("endpoints"));
            default -> throw new IllegalArgumentException("no monitor: " + kind);
        }
        return this;
    }

    /** Writes {@code prometheus.yml}, with the rules of a PrometheusRule. */
    public void write(JsonNode rule) {
        try {
            Config config = cluster.client().getConfiguration();
            secret("ca.crt", config.getCaCertData());
            secret("client.crt", config.getClientCertData());
            secret("client.key", config.getClientKeyData());
            Files.writeString(folder.resolve("rules.yml"), Serialization.asYaml(rule.path("spec")));
            Files.writeString(folder.resolve(POD + ".json"), Serialization.asJson(pods()));
            Files.writeString(folder.resolve(ENDPOINTS + ".json"), Serialization.asJson(endpoints()));
            Map<String, Object> all = new LinkedHashMap<>();
            all.put("global", Map.of("scrape_interval", INTERVAL, "evaluation_interval", INTERVAL));
            all.put("rule_files", List.of("rules.yml"));
            all.put("scrape_configs", jobs);
            Files.writeString(folder.resolve("prometheus.yml"), Serialization.asYaml(all));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the configuration of Prometheus", e);
        }
    }

    private void secret(String file, String base64) throws IOException {
        Files.write(folder.resolve(file), Base64.getDecoder().decode(base64));
    }

    /**
     * @param role how Prometheus finds targets
     * @param labelled prefix of the labels that the selector is about
     */
    private void addEach(JsonNode monitor, String role, String labelled, JsonNode endpoints) {
        for (JsonNode endpoint : endpoints) {
            Map<String, Object> job = new LinkedHashMap<>();
            String name = monitor.path("metadata").path("name").asText();
            job.put("job_name", "%s/%s/%d".formatted(monitor.path("kind").asText(), name, jobs.size()));
            job.put("scheme", "https");
            job.put("tls_config", tls());
            job.put("file_sd_configs", List.of(Map.of("files", List.of(role + ".json"))));
            job.put("relabel_configs", relabellings(monitor.path("spec"), role, labelled, endpoint));
            jobs.add(job);
        }
    }

    private static Map<String, Object> tls() {
        return Map.of("ca_file", "ca.crt", "cert_file", "client.crt", "key_file", "client.key");
    }

    private List<Map<String, Object>> relabellings(JsonNode spec, String role, String labelled, JsonNode endpoint) {
        List<Map<String, Object>> rules = new ArrayList<>();
        spec.path("namespaceSelector")
                .path("matchNames")
                .forEach(name -> rules.add(keep(META + "namespace", name.asText())));
        spec.path("selector")
                .path("matchLabels")
                .properties()
                .forEach(wanted -> rules.add(keep(
                        META + labelled + "label_" + plain(wanted.getKey()),
                        wanted.getValue().asText())));
        for (JsonNode wanted : spec.path("selector").path("matchExpressions")) {
            if (!wanted.path("operator").asText().equals("Exists")) {
                throw new IllegalArgumentException("not known here: " + wanted);
            }
            rules.add(keep(
                    META + labelled + "labelpresent_" + plain(wanted.path("key").asText()), "true"));
        }
        String port = role.equals(POD) ? "pod_container_port_name" : "endpoint_port_name";
        rules.add(keep(META + port, endpoint.path("port").asText()));
        rules.add(
                Map.of("action", "drop", "source_labels", List.of(META + "pod_phase"), "regex", "(Failed|Succeeded)"));
        for (String label : List.of("namespace", "pod")) {
            String from = label.equals("pod") ? META + "pod_name" : META + label;
            rules.add(Map.of("source_labels", List.of(from), "target_label", label));
        }
        spec.path("podTargetLabels")
                .forEach(label -> rules.add(Map.of(
                        "source_labels",
                        List.of(META + "pod_label_" + plain(label.asText())),
                        "regex",
                        "(.+)",
                        "target_label",
                        plain(label.asText()))));
        rules.addAll(throughApiServer(endpoint.path("path").asText()));
        return rules;
    }

    private List<Map<String, Object>> throughApiServer(String path) {
        URI server = URI.create(cluster.client().getConfiguration().getMasterUrl());
        return List.of(
                Map.of(
                        "source_labels",
                        List.of(META + "namespace", META + "pod_name", "__address__"),
                        "regex",
                        "(.+);(.+);.+:([0-9]+)",
                        "target_label",
                        "__metrics_path__",
                        "replacement",
                        "/api/v1/namespaces/${1}/pods/${2}:${3}/proxy" + path),
                Map.of("target_label", "__address__", "replacement", server.getHost() + ":" + server.getPort()));
    }

    /** Role {@code pod} of the discovery: each port of each container. */
    private List<Map<String, Object>> pods() {
        List<Map<String, Object>> targets = new ArrayList<>();
        for (Pod pod : cluster.client().pods().inAnyNamespace().list().getItems()) {
            for (Container container : pod.getSpec().getContainers()) {
                for (ContainerPort port : container.getPorts()) {
                    Map<String, String> labels = labels("pod_", pod);
                    labels.put(META + "pod_name", pod.getMetadata().getName());
                    labels.put(META + "pod_phase", pod.getStatus().getPhase());
                    labels.put(META + "pod_container_port_name", port.getName());
                    targets.add(target(pod.getStatus().getPodIP(), port.getContainerPort(), labels));
                }
            }
        }
        return targets;
    }

    /** Role {@code endpoints}: each port of each address behind a Service. */
    private List<Map<String, Object>> endpoints() {
        List<Map<String, Object>> targets = new ArrayList<>();
        for (Service service :
                cluster.client().services().inAnyNamespace().list().getItems()) {
            Endpoints behind = cluster.client()
                    .endpoints()
                    .inNamespace(service.getMetadata().getNamespace())
                    .withName(service.getMetadata().getName())
                    .get();
            for (EndpointSubset subset : behind == null ? List.<EndpointSubset>of() : behind.getSubsets()) {
                for (EndpointAddress address : subset.getAddresses()) {
                    for (EndpointPort port : subset.getPorts()) {
                        Map<String, String> labels = labels("service_", service);
                        if (address.getTargetRef() != null) {
                            labels.put(META + "pod_name", address.getTargetRef().getName());
                        }
                        labels.put(META + "endpoint_port_name", port.getName());
                        targets.add(target(address.getIp(), port.getPort(), labels));
                    }
                }
            }
        }
        return targets;
    }

    private static Map<String, String> labels(String prefix, HasMetadata object) {
        Map<String, String> labels = new TreeMap<>();
        labels.put(META + "namespace", object.getMetadata().getNamespace());
        Map<String, String> own = object.getMetadata().getLabels();
        (own == null ? Map.<String, String>of() : own).forEach((name, value) -> {
            labels.put(META + prefix + "label_" + plain(name), value);
            labels.put(META + prefix + "labelpresent_" + plain(name), "true");
        });
        return labels;
    }

    private static Map<String, Object> target(String ip, int port, Map<String, String> labels) {
        labels.values().removeIf(Objects::isNull);
        return Map.of("targets", List.of(ip + ":" + port), "labels", labels);
    }

    private static Map<String, Object> keep(String label, String value) {
        return Map.of("action", "keep", "source_labels", List.of(label), "regex", value.replace(".", "\\."));
    }

    /** As Prometheus writes names of labels. */
    private static String plain(String label) {
        return label.replaceAll("[^a-zA-Z0-9_]", "_");
    }
}
