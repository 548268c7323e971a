// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.pod.MastersSpec;
import dev.kvpool.api.v1alpha1.status.BindingStatus;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A pool can be bound as servicebinding.io says it, on a real API server, by an operator that can read no Secret. */
class BindingTest {
    private static final String NAMESPACE = "bindings";
    private static final String SPEC = "{masters: {replicas: %d}, storage: [{name: a, capacity: 1Gi}]}";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE);

    @Test
    void theStatusNamesASecretInTheLayoutOfServiceBindings() {
        PoolUnderTest pool = OPERATOR.make("bound", SPEC.formatted(2));
        await().until(() -> binding(pool).isPresent());

        Secret secret = OPERATOR.client()
                .secrets()
                .inNamespace(NAMESPACE)
                .withName(binding(pool).orElseThrow())
                .get();
        assertThat(secret.getType()).isEqualTo("servicebinding.io/kvpool");
        assertThat(secret.getImmutable()).isTrue();
        assertThat(secret.getMetadata().getOwnerReferences())
                .singleElement()
                .satisfies(owner -> assertThat(owner.getUid()).isEqualTo(pool.uid()));
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
        PoolUnderTest pool = OPERATOR.make("grows", SPEC.formatted(2));
        await().until(() -> binding(pool).isPresent());
        String first = binding(pool).orElseThrow();

        pool.apply(SPEC.formatted(3));
        await().until(() -> pool.status().observedGeneration() == 2);
        assertThat(binding(pool)).contains(first);

        OPERATOR.client()
                .resource(pool.get())
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"binding\":null}}");
        pool.apply(SPEC.formatted(4));
        await().until(() -> pool.status().observedGeneration() == 3
                && binding(pool).filter(first::equals).isPresent());
    }

    private static String masters(int count) {
        return IntStream.range(0, count)
                .mapToObj("bound-master-%d.bound-master.bindings.svc:50051"::formatted)
                .collect(Collectors.joining(","));
    }

    private static Optional<String> binding(PoolUnderTest pool) {
        return Optional.ofNullable(pool.status())
                .map(KvCachePoolStatus::binding)
                .map(BindingStatus::name);
    }

    private static Map<String, String> entries(Secret secret) {
        return secret.getData().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        entry -> new String(Base64.getDecoder().decode(entry.getValue()), StandardCharsets.UTF_8)));
    }
}
