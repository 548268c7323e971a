// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.BindingStatus;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.MastersSpec;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A pool can be bound as servicebinding.io says it, on a real API server, by an operator that can read no Secret. */
class BindingTest {
    private static final String NAMESPACE = "bindings";
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final String SPEC = "{masters: {replicas: %d}, storage: [{name: a, capacity: 1Gi}]}";

    private static OperatorUnderTest operator;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE);
    }

    @AfterAll
    static void stop() {
        operator.close();
    }

    @Test
    void theStatusNamesASecretInTheLayoutOfServiceBindings() {
        String uid =
                operator.applyPool("bound", SPEC.formatted(2)).getMetadata().getUid();
        await().atMost(LIMIT).until(() -> binding("bound").isPresent());

        Secret secret = secret(binding("bound").orElseThrow());
        assertThat(secret.getType()).isEqualTo("servicebinding.io/kvpool");
        assertThat(secret.getImmutable()).isTrue();
        assertThat(secret.getMetadata().getOwnerReferences())
                .singleElement()
                .satisfies(owner -> assertThat(owner.getUid()).isEqualTo(uid));
        assertThat(entries(secret))
                .containsEntry("type", "kvpool")
                .containsEntry("provider", "kvpool")
                .containsEntry("host", "bound-leader.bindings.svc")
                .containsEntry("port", "50051")
                .containsEntry("uri", "mooncakestore://bound-leader.bindings.svc:50051/")
                .containsEntry("masters", masters(MastersSpec.REPLICAS_MAX))
                .hasEntrySatisfying(
                        "mooncake.json", file -> assertThat(file).contains(masters(MastersSpec.REPLICAS_MAX)));
    }

    @Test
    void anotherNumberOfMastersIsNoOtherSecretAndOneThatIsThereIsTaken() {
        operator.applyPool("grows", SPEC.formatted(2));
        await().atMost(LIMIT).until(() -> binding("grows").isPresent());
        String first = binding("grows").orElseThrow();

        operator.applyPool("grows", SPEC.formatted(3));
        await().atMost(LIMIT).until(() -> operator.pool("grows").getStatus().observedGeneration() == 2);
        assertThat(binding("grows")).contains(first);

        operator.client()
                .resources(KvCachePool.class)
                .inNamespace(NAMESPACE)
                .withName("grows")
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"binding\":null}}");
        operator.applyPool("grows", SPEC.formatted(4));
        await().atMost(LIMIT)
                .until(() -> operator.pool("grows").getStatus().observedGeneration() == 3
                        && binding("grows").filter(first::equals).isPresent());
    }

    private static String masters(int count) {
        return IntStream.range(0, count)
                .mapToObj("bound-master-%d.bound-master.bindings.svc:50051"::formatted)
                .collect(Collectors.joining(","));
    }

    private static Optional<String> binding(String pool) {
        return Optional.ofNullable(operator.pool(pool).getStatus())
                .map(KvCachePoolStatus::binding)
                .map(BindingStatus::name);
    }

    private static Secret secret(String name) {
        return operator.client().secrets().inNamespace(NAMESPACE).withName(name).get();
    }

    private static Map<String, String> entries(Secret secret) {
        return secret.getData().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        entry -> new String(Base64.getDecoder().decode(entry.getValue()), StandardCharsets.UTF_8)));
    }
}
