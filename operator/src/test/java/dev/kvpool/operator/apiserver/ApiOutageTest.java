// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
    private static final Duration OUTAGE = Duration.ofSeconds(12);
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
        PoolUnderTest calm = ready("calm");
        PoolUnderTest changed = ready("changed");
        PoolUnderTest upgraded = inTheMiddleOfAnUpgrade();
        Map<String, String> before = calm.versions();
        List<String> pods = pods();
        String old = podsVersion();

        server.kill();
        // Seen by no watch that ends here, and too long ago for the one that begins afterwards.
        changed.apply("{masters: {replicas: 3}, " + STORAGE + "}");
        upgraded.look();
        outage();
        server.forgetHistory();
        server.start();
        awaitServer();
        PoolUnderTest calmToo = operator.make("calm-too", "{" + STORAGE + "}");

        assertThat(isGone(old)).as("no watch can go on from where it was").isTrue();
        awaitMasters(changed, 3);
        awaitMasters(calmToo, 2);
        goesOn(upgraded, calm, before, pods);
    }

    @Test
    void afterOneThatAnsweredNothingAllGoesOn() {
        startOperator("outage-suspended");
        PoolUnderTest calm = ready("calm");
        PoolUnderTest changed = ready("changed");
        PoolUnderTest upgraded = inTheMiddleOfAnUpgrade();
        Map<String, String> before = calm.versions();
        List<String> pods = pods();

        server.suspend();
        changed.apply("{masters: {replicas: 3}, " + STORAGE + "}");
        upgraded.look();
        outage();
        server.resume();

        awaitMasters(changed, 3);
        changed.apply("{masters: {replicas: 2}, " + STORAGE + "}");
        awaitMasters(changed, 2);
        goesOn(upgraded, calm, before, pods);
    }

    private void startOperator(String name) {
        namespace = name;
        RequestedRights requested = new RequestedRights();
        operator = OperatorUnderTest.in(namespace)
                .looking(Duration.ofMillis(300), Duration.ofMillis(200))
                .reaching(server.operatorClient(requested), requested)
                .start();
        client = operator.client();
    }

    private void goesOn(PoolUnderTest upgraded, PoolUnderTest calm, Map<String, String> before, List<String> pods) {
        upgraded.play(() -> upgraded.status().roll() == null);
        assertThat(upgraded.restarted())
                .containsExactly(
                        "rolls-master-1 kvpool:0.2.0",
                        "rolls-master-0 kvpool:0.2.0",
                        "rolls-default-1 kvpool:0.2.0",
                        "rolls-default-0 kvpool:0.2.0");
        calm.look();
        assertThat(pods()).as("pods, by their UIDs").containsAll(pods);
        assertThat(calm.versions()).as("a pool in which nothing happened").isEqualTo(before);
        assertThat(operator.dead()).isEmpty();

        upgraded.awaitPhase(PoolPhase.READY);
        look(5);
        Map<String, String> after = upgraded.versions();
        look(LOOKS);
        assertThat(upgraded.versions())
                .as("the upgraded pool, some looks later")
                .isEqualTo(after);
    }

    /** Waits for as long as it lasts; the operator is alive all the time. */
    private void outage() {
        await().during(OUTAGE)
                .atMost(OUTAGE.plusSeconds(5))
                .until(() -> operator.dead().isEmpty());
    }

    private PoolUnderTest inTheMiddleOfAnUpgrade() {
        PoolUnderTest pool = ready("rolls");
        pool.apply("{version: 0.2.0, upgrade: {stepTimeout: 10s}, " + STORAGE + "}");
        pool.play(() -> pool.restarted().size() == 2);
        await().until(() -> client.pods()
                .inNamespace(namespace)
                .withName("rolls-default-1")
                .get()
                .getSpec()
                .getContainers()
                .getFirst()
                .getImage()
                .equals("kvpool:0.2.0"));
        return pool;
    }

    private PoolUnderTest ready(String name) {
        return operator.make(name, "{" + STORAGE + "}").ready();
    }

    private static void awaitMasters(PoolUnderTest pool, int count) {
        await().until(() -> pool.masters() != null && pool.masters().getSpec().getReplicas() == count);
    }

    private void look(int times) {
        long until = operator.masters().questions() + times;
        await().until(() -> operator.masters().questions() >= until);
    }

    private void awaitServer() {
        try (KubernetesClient other = server.client()) {
            await().ignoreExceptionsInstanceOf(KubernetesClientException.class)
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
            return gone.completeOnTimeout(false, 1, TimeUnit.MINUTES).join();
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
}
