// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What somebody else changes or removes is put right, also in a pool of which everything was found to be as planned. */
class ForeignChangesTest {
    private static final String NAMESPACE = "foreign-changes";
    private static final Duration POLL = Duration.ofMillis(100);
    private static final int LOOKS = 5;

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE).looking(POLL, POLL);

    private static PoolUnderTest pool;

    @BeforeAll
    static void makeCalmPool() {
        pool = OPERATOR.make("demo", "{storage: [{name: default, capacity: 1Gi, replicas: 2}]}")
                .awaitChildren(15);
        OPERATOR.cluster().runPodsOf("demo-master");
        long asked = OPERATOR.masters().questions();
        await().until(() -> OPERATOR.masters().questions() > asked + LOOKS);
    }

    @Test
    void theContentOfAnObject() {
        patch(ConfigMap.class, "demo-pool", "{\"data\": {\"expected-nodes\": \"none\"}}");

        await().until(() -> pool.expectedNodes().contains("demo-default-0"));
    }

    @Test
    void theOwnerOfTheLease() {
        patch(Lease.class, "demo-master", "{\"metadata\": {\"ownerReferences\": null}}");

        await().untilAsserted(() -> assertThat(lease().getOwnerReferences()).hasSize(1));
    }

    @Test
    void aNoteOnTheLease() {
        Map<String, String> before = lease().getAnnotations();
        assertThat(before).containsKey(PoolLabels.POOL_ID);
        patch(
                Lease.class,
                "demo-master",
                "{\"metadata\": {\"annotations\": {\"%s\": \"other\"}}}".formatted(PoolLabels.POOL_ID));

        await().untilAsserted(() -> assertThat(lease().getAnnotations()).isEqualTo(before));
    }

    @Test
    void objectsThatAreGone() {
        List<String> services = List.of("demo-leader", "demo-storage");
        services.forEach(name -> OPERATOR.client()
                .services()
                .inNamespace(NAMESPACE)
                .withName(name)
                .delete());

        await().untilAsserted(() -> assertThat(OPERATOR.client()
                        .services()
                        .inNamespace(NAMESPACE)
                        .list()
                        .getItems())
                .extracting(service -> service.getMetadata().getName())
                .containsAll(services));
    }

    private static ObjectMeta lease() {
        return pool.child(Lease.class, "master").getMetadata();
    }

    private static <T extends HasMetadata> void patch(Class<T> kind, String name, String change) {
        OPERATOR.client()
                .resources(kind)
                .inNamespace(NAMESPACE)
                .withName(name)
                .patch(PatchContext.of(PatchType.JSON_MERGE), change);
    }
}
