// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.report.PollInterval;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The operator's API server goes away in the middle of an upgrade and comes back: once killed, so that no watch can go on from where it
 * was, and once suspended, so that nothing ends and nothing is answered.
 */
class ApiOutageTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration OUTAGE = Duration.ofSeconds(12);
    private static final PollInterval INTERVAL = new PollInterval(Duration.ofMillis(300), Duration.ofMillis(200));
    private static final int LOOKS = 20;
    private static final String STORAGE = "storage: [{name: default, capacity: 1Gi, replicas: 2}]";

    private OtherApiServer server;
    private OperatorUnderTest operator;
    private KubernetesClient client;
    private String namespace;

    @BeforeEach
    void start() {
        server = new OtherApiServer();
        awaitServer();
    }

    @AfterEach
    void stop() {
        operator.close();
        server.close();
    }

    @Test
    void afterOneThatEndedTheWatchesAllGoesOn() {
        startOperator("outage-killed");
        UpgradedPool calm = ready("calm");
        ready("changed");
        UpgradedPool upgraded = inTheMiddleOfAnUpgrade("rolls");
        Map<String, String> before = versions("calm");
        List<String> pods = pods();
        String old = podsVersion();

        server.kill();
        // Seen by no watch that ends here, and too long ago for the one that begins afterwards.
        operator.applyPool("changed", "{masters: {replicas: 3}, " + STORAGE + "}");
        upgraded.look();
        outage();
        server.forgetHistory();
        server.start();
        awaitServer();
        operator.applyPool("calm-too", "{" + STORAGE + "}");

        assertThat(isGone(old)).as("no watch can go on from where it was").isTrue();
        awaitMasters("changed", 3);
        awaitMasters("calm-too", 2);
        goesOn(upgraded, calm, before, pods);
    }

    @Test
    void afterOneThatAnsweredNothingAllGoesOn() {
        startOperator("outage-suspended");
        UpgradedPool calm = ready("calm");
        ready("changed");
        UpgradedPool upgraded = inTheMiddleOfAnUpgrade("rolls");
        Map<String, String> before = versions("calm");
        List<String> pods = pods();

        server.suspend();
        operator.applyPool("changed", "{masters: {replicas: 3}, " + STORAGE + "}");
        upgraded.look();
        outage();
        server.resume();

        awaitMasters("changed", 3);
        operator.applyPool("changed", "{masters: {replicas: 2}, " + STORAGE + "}");
        awaitMasters("changed", 2);
        goesOn(upgraded, calm, before, pods);
    }

    private void startOperator(String name) {
        namespace = name;
        RequestedRights requested = new RequestedRights();
        operator = new OperatorUnderTest(namespace, INTERVAL, requested, server.operatorClient(requested));
        client = operator.client();
    }

    private void goesOn(UpgradedPool upgraded, UpgradedPool calm, Map<String, String> before, List<String> pods) {
        upgraded.play(() -> operator.pool("rolls").getStatus().roll() == null);
        assertThat(upgraded.startedAnew())
                .containsExactly(
                        "rolls-master-1 kvpool:0.2.0",
                        "rolls-master-0 kvpool:0.2.0",
                        "rolls-default-1 kvpool:0.2.0",
                        "rolls-default-0 kvpool:0.2.0");
        calm.look();
        assertThat(pods()).as("pods, by their UIDs").containsAll(pods);
        assertThat(versions("calm")).as("a pool in which nothing happened").isEqualTo(before);
        assertThat(operator.dead()).isEmpty();

        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(operator.pool("rolls").getStatus().phase()).isEqualTo(PoolPhase.READY));
        look(5);
        Map<String, String> after = versions("rolls");
        look(LOOKS);
        assertThat(versions("rolls")).as("the upgraded pool, some looks later").isEqualTo(after);
    }

    /** Waits for as long as it lasts; the operator is alive all the time. */
    private void outage() {
        await().during(OUTAGE)
                .atMost(OUTAGE.plusSeconds(5))
                .until(() -> operator.dead().isEmpty());
    }

    private UpgradedPool inTheMiddleOfAnUpgrade(String name) {
        UpgradedPool pool = ready(name);
        operator.applyPool(name, "{version: 0.2.0, upgrade: {stepTimeout: 10s}, " + STORAGE + "}");
        pool.play(() -> pool.startedAnew().size() == 2);
        await().atMost(LIMIT)
                .until(() -> client.pods()
                        .inNamespace(namespace)
                        .withName(name + "-default-1")
                        .get()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getImage()
                        .equals("kvpool:0.2.0"));
        return pool;
    }

    private UpgradedPool ready(String name) {
        return UpgradedPool.ready(operator, namespace, name, "{" + STORAGE + "}", 2);
    }

    private void awaitMasters(String pool, int count) {
        await().atMost(LIMIT).until(() -> {
            StatefulSet masters = set(pool + "-master");
            return masters != null && masters.getSpec().getReplicas() == count;
        });
    }

    private void look(int times) {
        long until = operator.masters().questions() + times;
        await().atMost(LIMIT).until(() -> operator.masters().questions() >= until);
    }

    private StatefulSet set(String name) {
        return client.apps()
                .statefulSets()
                .inNamespace(namespace)
                .withName(name)
                .get();
    }

    private void awaitServer() {
        try (KubernetesClient other = server.client()) {
            await().atMost(LIMIT)
                    .ignoreExceptionsInstanceOf(KubernetesClientException.class)
                    .until(() -> "ok".equals(other.raw("/readyz")));
        }
    }

    private String podsVersion() {
        return client.pods().inNamespace(namespace).list().getMetadata().getResourceVersion();
    }

    /** Whether a watch from there is told that this was too long ago. */
    private boolean isGone(String version) {
        CompletableFuture<Boolean> gone = new CompletableFuture<>();
        Watcher<Pod> watcher = new Watcher<>() {
            @Override
            public void eventReceived(Action action, Pod pod) {
                gone.complete(false);
            }

            @Override
            public void onClose(WatcherException cause) {
                gone.complete(cause.isHttpGone());
            }
        };
        // Its watches end with it.
        try (KubernetesClient other = server.client()) {
            other.pods().inNamespace(namespace).withResourceVersion(version).watch(watcher);
            return gone.completeOnTimeout(false, LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .join();
        }
    }

    private List<String> pods() {
        return client
                .pods()
                .inNamespace(namespace)
                .withLabelIn(PoolLabels.ROLE, PoolLabels.ROLE_MASTER, PoolLabels.ROLE_STORAGE)
                .list()
                .getItems()
                .stream()
                .map(pod ->
                        pod.getMetadata().getName() + " " + pod.getMetadata().getUid())
                .sorted()
                .toList();
    }

    /** Resource versions of a pool, of all that the operator made for it, of its pods and of the events about it. */
    private Map<String, String> versions(String pool) {
        List<HasMetadata> objects = new ArrayList<>(Children.of(client, namespace, pool));
        objects.removeIf(Lease.class::isInstance);
        objects.add(operator.pool(pool));
        objects.addAll(client.pods()
                .inNamespace(namespace)
                .withLabel(PoolLabels.POOL, pool)
                .list()
                .getItems());
        client.resources(Event.class).inNamespace(namespace).list().getItems().stream()
                .filter(event -> event.getRegarding().getName().equals(pool))
                .forEach(objects::add);
        Map<String, String> versions = new TreeMap<>();
        objects.forEach(object -> versions.put(
                object.getKind() + "/" + object.getMetadata().getName(),
                object.getMetadata().getResourceVersion()));
        return versions;
    }
}
