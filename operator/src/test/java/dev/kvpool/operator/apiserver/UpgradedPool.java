// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.PoolLabels;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * Two masters and storage nodes of one pool on the test API server. When {@link #look} is called it does what kubelets and masters
 * would have done since: run the preflight's pod, start containers whose image was changed, and tell the leader of it.
 */
final class UpgradedPool {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration LOOK = Duration.ofMillis(100);

    private final OperatorUnderTest operator;
    private final KubernetesClient client;
    private final ClusterActor cluster;
    private final String namespace;
    private final String name;
    private final int nodes;
    private final Map<String, String> running = new LinkedHashMap<>();
    private final Map<String, Integer> starts = new LinkedHashMap<>();
    private final List<String> startedAnew = new ArrayList<>();
    private String verdict = "rolling-warm";
    private String neverReady = "";
    private int leader;
    private int epoch = 1;

    private UpgradedPool(OperatorUnderTest operator, String namespace, String name, int nodes) {
        this.operator = operator;
        this.client = operator.client();
        this.cluster = new ClusterActor(client, namespace);
        this.namespace = namespace;
        this.name = name;
        this.nodes = nodes;
    }

    /** A pool of this spec that is ready. */
    static UpgradedPool ready(OperatorUnderTest operator, String namespace, String name, String spec, int nodes) {
        operator.applyPool(name, spec);
        UpgradedPool pool = new UpgradedPool(operator, namespace, name, nodes);
        pool.run();
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(operator.pool(name).getStatus().phase()).isEqualTo(PoolPhase.READY));
        return pool;
    }

    /** Does what is to be done again and again. */
    void play(BooleanSupplier until) {
        await().atMost(LIMIT).pollInterval(LOOK).until(() -> {
            look();
            return until.getAsBoolean();
        });
    }

    private void run() {
        cluster.runPodsOf(name + "-master");
        cluster.runPodsOf(name + "-default");
        cluster.takeLease(name + "-master", master(leader), epoch);
        operator.masters().onHandOver(address -> handOver());
        pods().forEach(pod -> running.put(
                pod.getMetadata().getName(),
                pod.getSpec().getContainers().getFirst().getImage()));
        say();
    }

    UpgradedPool preflightAnswers(String answer) {
        verdict = answer;
        return this;
    }

    /** Containers with this image never get ready. */
    UpgradedPool neverReady(String image) {
        neverReady = image;
        return this;
    }

    /** Pods whose container was started anew, in order. */
    List<String> startedAnew() {
        return List.copyOf(startedAnew);
    }

    /** Images that run. */
    List<String> images() {
        return running.values().stream().distinct().sorted().toList();
    }

    void look() {
        answerPreflight();
        for (Pod pod : pods()) {
            String podName = pod.getMetadata().getName();
            String image = pod.getSpec().getContainers().getFirst().getImage();
            if (running.containsKey(podName) && !Objects.equals(image, running.get(podName))) {
                running.put(podName, image);
                starts.merge(podName, 1, Integer::sum);
                startedAnew.add(podName + " " + image);
                status(podName, !image.equals(neverReady), starts.get(podName));
                if (podName.equals(master(leader)) && !image.equals(neverReady)) {
                    handOver();
                }
            }
        }
        say();
    }

    private List<Pod> pods() {
        return client.pods()
                .inNamespace(namespace)
                .withLabel(PoolLabels.POOL, name)
                .withLabelIn(PoolLabels.ROLE, PoolLabels.ROLE_MASTER, PoolLabels.ROLE_STORAGE)
                .list()
                .getItems();
    }

    private void answerPreflight() {
        Job job = client.batch()
                .v1()
                .jobs()
                .inNamespace(namespace)
                .withName(name + "-preflight")
                .get();
        String podName = name + "-preflight-"
                + (job == null ? "" : job.getMetadata().getUid().substring(0, 8));
        if (job == null
                || client.pods().inNamespace(namespace).withName(podName).get() != null) {
            return;
        }
        client.resource(new PodBuilder()
                        .withNewMetadata()
                        .withName(podName)
                        .withNamespace(namespace)
                        .withLabels(job.getSpec().getTemplate().getMetadata().getLabels())
                        .endMetadata()
                        .withSpec(job.getSpec().getTemplate().getSpec())
                        .build())
                .create();
        patchStatus(podName, """
                {"status": {"phase": "Succeeded", "containerStatuses": [{"name": "preflight", "ready": false,
                  "restartCount": 0, "image": "i", "imageID": "i", "state": {"terminated": {"exitCode": 0,
                  "message": "{\\"verdict\\":\\"%s\\",\\"reason\\":\\"both sides, and the way out\\"}"}}}]}}
                """.formatted(verdict));
    }

    private void status(String pod, boolean ready, int restarts) {
        patchStatus(pod, """
                {"status": {"conditions": [{"type": "Ready", "status": "%s"}],
                  "containerStatuses": [{"name": "c", "ready": %s, "restartCount": %d, "image": "i", "imageID": "%s",
                    "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}}
                """.formatted(ready ? "True" : "False", ready, restarts, running.get(pod)));
    }

    private void patchStatus(String pod, String patch) {
        client.pods()
                .inNamespace(namespace)
                .withName(pod)
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
    }

    private synchronized void handOver() {
        leader = 1 - leader;
        epoch++;
        cluster.takeLease(name + "-master", master(leader), epoch);
        say();
    }

    private synchronized void say() {
        List<PoolReport.Node> reports = new ArrayList<>();
        for (int i = 0; i < nodes; i++) {
            reports.add(node(name + "-default-" + i));
        }
        operator.masters().say(master(leader), ScriptedMasters.leading(master(leader), epoch, reports));
        operator.masters().say(master(1 - leader), ScriptedMasters.standby(master(1 - leader), epoch, reports));
    }

    private PoolReport.Node node(String id) {
        boolean ready = !Objects.equals(running.get(id), neverReady);
        int life = starts.getOrDefault(id, 0);
        return Reports.node(
                id,
                ready ? "ready" : "away",
                "",
                false,
                0,
                100,
                "0.1.0",
                List.of("shm", "tcp"),
                "%016x".formatted(life + 1),
                new PoolReport.Objects(100, "00000000000000aa"),
                new PoolReport.Restored(100, "00000000000000aa", 0),
                life == 0 ? null : 0L,
                null,
                List.of());
    }

    private String master(int ordinal) {
        return name + "-master-" + ordinal;
    }
}
