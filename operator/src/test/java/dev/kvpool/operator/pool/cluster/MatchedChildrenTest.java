// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.Altered;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.blueprint.PoolIdentity;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.plan.PlannedChildren;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What was found to be as planned is not made and compared again, and anything that could make a difference ends that. */
class MatchedChildrenTest {
    private static final String SPEC = "{storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final StoredVersion MAP = new StoredVersion("u1", "7");
    private static final StoredVersion SERVICE = new StoredVersion("u2", "8");
    private static final Set<StoredVersion> BOTH = Set.of(MAP, SERVICE);

    private final MatchedChildren matched = new MatchedChildren();
    private final PlannedChildren planned = planned(new PoolSketch(SPEC));

    @Test
    void aPoolWithoutAnyChangeIsKnown() {
        matched.remember(planned, BOTH, true, pool -> true);

        assertThat(matched.areAll(planned(new PoolSketch(SPEC)), BOTH)).isTrue();
        assertThat(matched.areAll(planned, Set.of(MAP, SERVICE, new StoredVersion("other", "9"))))
                .isTrue();
        assertThat(matched.of(planned)).isEqualTo(BOTH);
    }

    @Test
    void anObjectThatChangedOrIsGoneIsLookedAtAndTheOthersAreNot() {
        matched.remember(planned, BOTH, true, pool -> true);

        assertThat(matched.areAll(planned, Set.of(MAP, new StoredVersion("u2", "9"))))
                .isFalse();
        assertThat(matched.areAll(planned, Set.of(MAP))).isFalse();
        assertThat(matched.of(planned)).contains(MAP);
    }

    @Test
    void anObjectThatWasNotAsPlannedIsLookedAtAgain() {
        matched.remember(planned, Set.of(MAP), false, pool -> true);

        assertThat(matched.areAll(planned, BOTH)).isFalse();
        assertThat(matched.of(planned)).containsExactly(MAP);
    }

    @Test
    void anotherPlanOfThePoolEndsIt() {
        matched.remember(planned, BOTH, true, pool -> true);
        PlannedChildren more = planned(new PoolSketch(SPEC.replace("replicas: 2", "replicas: 3")));

        assertThat(matched.areAll(more, BOTH)).isFalse();
        assertThat(matched.of(more)).isEmpty();
    }

    @Test
    void poolsThatAreGoneAreForgottenWhenAnotherOneComes() {
        matched.remember(planned, BOTH, true, pool -> true);
        matched.remember(
                in(planned, "elsewhere"), BOTH, true, pool -> pool.namespace().equals("elsewhere"));

        assertThat(matched.size()).isEqualTo(1);
        assertThat(matched.of(planned)).isEmpty();
    }

    @Test
    void noMoreThanSoManyAreRemembered() {
        for (int pool = 0; pool <= MatchedChildren.POOLS_MAX; pool++) {
            matched.remember(in(planned, "n" + pool), Set.of(MAP), true, any -> true);
        }

        assertThat(matched.size()).isEqualTo(MatchedChildren.POOLS_MAX);
        assertThat(matched.of(in(planned, "n0"))).isEmpty();
        assertThat(matched.of(in(planned, "n1"))).containsExactly(MAP);
    }

    @Test
    void everyChangeOfAnObjectIsAnotherStateButNotTheRenewalOfALease() {
        ConfigMapBuilder map = new ConfigMapBuilder()
                .withNewMetadata()
                .withUid("u")
                .withResourceVersion("1")
                .endMetadata();
        LeaseBuilder lease = new LeaseBuilder()
                .withNewMetadata()
                .withUid("u")
                .withResourceVersion("1")
                .withLabels(Map.of("a", "b"))
                .endMetadata();
        Set<StoredVersion> states = new HashSet<>();
        List<HasMetadata> all = List.of(
                map.build(),
                map.editMetadata().withResourceVersion("2").endMetadata().build(),
                lease.build(),
                lease.editMetadata().withResourceVersion("3").endMetadata().build(),
                lease.editMetadata().withLabels(Map.of()).endMetadata().build(),
                lease.editMetadata()
                        .withAnnotations(Map.of("a", "b"))
                        .endMetadata()
                        .build(),
                lease.editMetadata()
                        .addNewOwnerReference()
                        .endOwnerReference()
                        .endMetadata()
                        .build(),
                lease.editMetadata().withUid("other").endMetadata().build());
        all.forEach(object -> states.add(StoredVersion.of(object)));

        assertThat(states).hasSize(all.size() - 1);
        assertThat(StoredVersion.of(all.get(2))).isEqualTo(StoredVersion.of(all.get(3)));
    }

    private static PlannedChildren planned(PoolSketch sketch) {
        return sketch.plan().children().orElseThrow();
    }

    private static PlannedChildren in(PlannedChildren planned, String namespace) {
        PoolIdentity identity = planned.blueprint().identity();
        return Altered.of(planned)
                .with(
                        "blueprint",
                        Altered.of(planned.blueprint())
                                .with("names", new PoolNames(identity.names().pool(), namespace))
                                .build())
                .build();
    }
}
