// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
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
import java.util.function.UnaryOperator;

/**
 * Two masters and storage nodes of one pool on the test API server. When {@link #look} is called it does what kubelets and masters
 * would have done since: run the preflight's pod, start containers whose image was changed, and tell the leader of it.
 */
final class UpgradedPool {
    private static final String PLAIN = "kvpool:0.1.0";
    private static final Container SIDECAR =
            new ContainerBuilder().withName("sidecar").withImage("mesh:1").build();
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration LOOK = Duration.ofMillis(100);

    private final OperatorUnderTest operator;
    private final KubernetesClient client;
    private final ClusterActor cluster;
    private final String namespace;
    private final String name;
    private final int nodes;
    private final UnaryOperator<String> admission;
    private final Map<String, String> running = new LinkedHashMap<>();
    private final Map<String, Integer> starts = new LinkedHashMap<>();
    private final List<String> startedAnew = new ArrayList<>();
    private String verdict = "rolling-warm";
    private String neverReady = "";
    private int leader;
    private int epoch = 1;

    private UpgradedPool(
            OperatorUnderTest operator, String namespace, String name, int nodes, UnaryOperator<String> admission) {
        this.admission = admission;
        this.operator = operator;
        this.client = operator.client();
        this.cluster = new ClusterActor(client, namespace);
        this.namespace = namespace;
        this.name = name;
        this.nodes = nodes;
        cluster.admit(this::admitted);
    }

    /** A pool of this spec that is ready. */
    static UpgradedPool ready(OperatorUnderTest operator, String namespace, String name, String spec, int nodes) {
        return ready(operator, namespace, name, spec, nodes, UnaryOperator.identity());
    }

    /** The same, where admission makes this of each image, and puts a sidecar first where that is another one. */
    static UpgradedPool ready(
            OperatorUnderTest operator,
            String namespace,
            String name,
            String spec,
            int nodes,
            UnaryOperator<String> admission) {
        operator.applyPool(name, spec);
        UpgradedPool pool = new UpgradedPool(operator, namespace, name, nodes, admission);
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
        pods().forEach(pod -> running.put(pod.getMetadata().getName(), own(pod).getImage()));
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
            String image = readmitted(pod);
            if (running.containsKey(podName) && !Objects.equals(image, running.get(podName))) {
                running.put(podName, image);
                starts.merge(podName, 1, Integer::sum);
                startedAnew.add(podName + " " + image);
                status(podName, own(pod).getName(), !image.equals(neverReady), starts.get(podName));
                if (podName.equals(master(leader)) && !image.equals(neverReady)) {
                    handOver();
                }
            }
        }
        say();
    }

    private PodSpec admitted(PodSpec pod) {
        pod.getContainers().forEach(container -> container.setImage(admission.apply(container.getImage())));
        if (!admission.apply(PLAIN).equals(PLAIN)) {
            pod.getContainers().addFirst(SIDECAR);
        }
        return pod;
    }

    /** What the image of a pod is once admission has seen its last change too. */
    private String readmitted(Pod pod) {
        assertThat(pod.getSpec().getContainers().stream()
                        .filter(container -> container.getName().equals(SIDECAR.getName())))
                .allMatch(container -> container.getImage().equals(SIDECAR.getImage()));
        String wished = own(pod).getImage();
        String image = admission.apply(wished);
        if (!image.equals(wished)) {
            client.resource(pod)
                    .patch(
                            PatchContext.of(PatchType.STRATEGIC_MERGE),
                            "{\"spec\":{\"containers\":[{\"name\":\"%s\",\"image\":\"%s\"}]}}"
                                    .formatted(own(pod).getName(), image));
        }
        return image;
    }

    private static Container own(Pod pod) {
        String name = OwnContainer.name(pod.getMetadata().getLabels().get(PoolLabels.ROLE));
        return pod.getSpec().getContainers().stream()
                .filter(container -> container.getName().equals(name))
                .findFirst()
                .orElseThrow();
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
                        .withAnnotations(
                                job.getSpec().getTemplate().getMetadata().getAnnotations())
                        .endMetadata()
                        .withSpec(admitted(job.getSpec().getTemplate().getSpec()))
                        .build())
                .create();
        patchStatus(podName, """
                {"status": {"phase": "Succeeded", "containerStatuses": [{"name": "preflight", "ready": false,
                  "restartCount": 0, "image": "i", "imageID": "i", "state": {"terminated": {"exitCode": 0,
                  "message": "{\\"verdict\\":\\"%s\\",\\"reason\\":\\"both sides, and the way out\\"}"}}}]}}
                """.formatted(verdict));
    }

    private void status(String pod, String container, boolean ready, int restarts) {
        patchStatus(pod, """
                {"status": {"conditions": [{"type": "Ready", "status": "%s"}],
                  "containerStatuses": [{"name": "%s", "ready": %s, "restartCount": %d, "image": "i", "imageID": "%s",
                    "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}}
                """.formatted(ready ? "True" : "False", container, ready, restarts, running.get(pod)));
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
