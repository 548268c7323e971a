// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.report.PollInterval;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What somebody else changes or removes is put right, also in a pool of which everything was found to be as planned. */
class ForeignChangesTest {
    private static final String NAMESPACE = "foreign-changes";
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final int LOOKS = 5;

    private static OperatorUnderTest operator;
    private static KubernetesClient client;

    @BeforeAll
    static void makeCalmPool() {
        operator = new OperatorUnderTest(NAMESPACE, new PollInterval(POLL, POLL));
        client = operator.client();
        operator.applyPool("demo", "{storage: [{name: default, capacity: 1Gi, replicas: 2}]}");
        await().atMost(LIMIT).until(() -> Children.of(client, NAMESPACE, "demo").size() == 15);
        new ClusterActor(client, NAMESPACE).runPodsOf("demo-master");
        long asked = operator.masters().questions();
        await().atMost(LIMIT).until(() -> operator.masters().questions() > asked + LOOKS);
    }

    @AfterAll
    static void stop() {
        operator.close();
    }

    @Test
    void theContentOfAnObject() {
        patch(ConfigMap.class, "demo-pool", "{\"data\": {\"expected-nodes\": \"nobody\"}}");

        await().atMost(LIMIT)
                .until(() -> Children.expectedNodes(client, NAMESPACE, "demo").contains("demo-default-0"));
    }

    @Test
    void theOwnerOfTheLease() {
        patch(Lease.class, "demo-master", "{\"metadata\": {\"ownerReferences\": null}}");

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(lease().getOwnerReferences()).hasSize(1));
    }

    @Test
    void aNoteOnTheLease() {
        Map<String, String> before = lease().getAnnotations();
        assertThat(before).containsKey(PoolLabels.POOL_ID);
        patch(
                Lease.class,
                "demo-master",
                "{\"metadata\": {\"annotations\": {\"%s\": \"other\"}}}".formatted(PoolLabels.POOL_ID));

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(lease().getAnnotations()).isEqualTo(before));
    }

    @Test
    void objectsThatAreGone() {
        List<String> services = List.of("demo-leader", "demo-storage");
        services.forEach(
                name -> client.services().inNamespace(NAMESPACE).withName(name).delete());

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(
                                client.services().inNamespace(NAMESPACE).list().getItems())
                        .extracting(service -> service.getMetadata().getName())
                        .containsAll(services));
    }

    private static ObjectMeta lease() {
        return client.leases()
                .inNamespace(NAMESPACE)
                .withName("demo-master")
                .get()
                .getMetadata();
    }

    private static <T extends HasMetadata> void patch(Class<T> kind, String name, String change) {
        client.resources(kind)
                .inNamespace(NAMESPACE)
                .withName(name)
                .patch(PatchContext.of(PatchType.JSON_MERGE), change);
    }
}
