// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.report.PollInterval;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A pool in which nothing of interest happens costs no write, however often it is looked at. */
class QuietPoolTest {
    private static final String NAMESPACE = "quiet";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofMillis(50);
    private static final int LOOKS = 40;
    private static final long MIB = 1L << 20;
    private static final List<String> NODES = List.of("calm-default-0", "calm-default-1", "spread.quiet-1");

    private static OperatorUnderTest operator;
    private static KubernetesClient client;
    private static ClusterActor cluster;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE, new PollInterval(POLL, POLL));
        client = operator.client();
        cluster = new ClusterActor(client, NAMESPACE);
        operator.applyEngine("engine", "{}");
        cluster.addNode("quiet-1", Map.of("quiet", "yes", "topology.kubernetes.io/zone", "eu-1"));
        operator.applyPool("calm", """
                {transferEngine: engine, deletionPolicy: Retain, storage: [
                  {name: default, capacity: 1Gi, replicas: 2, volume: {type: persistentVolumeClaim}},
                  {name: spread, capacity: 1Gi, perNode: {nodeSelector: {quiet: "yes"}},
                    volume: {type: hostPath, path: /dev/shm/kvpool}}]}""");
        await().atMost(LIMIT).until(() -> Children.of(client, NAMESPACE, "calm").size() == 17);
        cluster.runPodsOf("calm-master");
        cluster.runPodsOf("calm-default");
        cluster.schedulePodsOf("calm-default", "quiet-1");
        cluster.runPodOn("calm-spread", "quiet-1");
        used(500 * MIB, 0);
        cluster.takeLease("calm-master", "calm-master-0", 1);
        await().atMost(LIMIT).untilAsserted(() -> {
            assertThat(operator.pool("calm").getStatus().phase()).isEqualTo(PoolPhase.READY);
            assertThat(operator.engine("engine").getStatus().nodes().summary()).isEqualTo("3/3");
            assertThat(cluster.isLabelledLeader("calm-master-0")).isTrue();
            assertThat(Children.expectedNodes(client, NAMESPACE, "calm"))
                    .isEqualTo("calm-default-0 quiet-1\ncalm-default-1 quiet-1\nspread.quiet-1 quiet-1\n");
        });
    }

    @AfterAll
    static void stop() {
        client.nodes().withName("quiet-1").delete();
        operator.close();
    }

    @Test
    void nothingIsWritten() {
        look(5);
        Map<String, String> before = versions();

        for (int look = 0; look < LOOKS; look++) {
            // What goes on in a healthy pool: renewals, slow growth, heartbeats of kubelets.
            renewLease(look);
            used(500 * MIB + look * MIB / 16, look % 3);
            touchPod(look);
            cluster.label("quiet-1", "look", Integer.toString(look));
            look(1);
        }

        assertThat(versions()).isEqualTo(before);
    }

    /** Waits until the operator has looked at the pool again. */
    private static void look(int times) {
        long until = operator.masters().questions() + times;
        await().atMost(LIMIT).until(() -> operator.masters().questions() >= until);
    }

    private static void renewLease(int second) {
        client.leases()
                .inNamespace(NAMESPACE)
                .withName("calm-master")
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"spec\":{\"renewTime\":\"2026-01-01T00:%02d:%02d.000000Z\"}}"
                                .formatted(second / 60, second % 60));
    }

    /** So much is used, and so many of the objects wait for a copy at this moment. */
    private static void used(long bytes, long underReplicated) {
        PoolReport report = ScriptedMasters.leader("calm-master-0", 1, bytes, NODES);
        operator.masters().say("calm-master-0", Reports.missing(0, underReplicated, report));
    }

    private static void touchPod(int value) {
        client.pods()
                .inNamespace(NAMESPACE)
                .withName("calm-default-0")
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"annotations\":{\"look\":\"%d\"}}}".formatted(value));
    }

    /** Resource versions of all that the operator writes, and the events there are; not of what the test writes. */
    private static Map<String, String> versions() {
        List<HasMetadata> objects = new ArrayList<>(Children.of(client, NAMESPACE, "calm"));
        objects.removeIf(Lease.class::isInstance);
        objects.add(operator.pool("calm"));
        objects.add(operator.engine("engine"));
        objects.addAll(client.resources(Pod.class)
                .inNamespace(NAMESPACE)
                .withLabel(PoolLabels.ROLE, PoolLabels.ROLE_MASTER)
                .list()
                .getItems());
        objects.addAll(
                client.resources(Event.class).inNamespace(NAMESPACE).list().getItems());
        Map<String, String> versions = new TreeMap<>();
        objects.forEach(object -> versions.put(
                object.getKind() + "/" + object.getMetadata().getName(),
                object.getMetadata().getResourceVersion()));
        return versions;
    }
}
