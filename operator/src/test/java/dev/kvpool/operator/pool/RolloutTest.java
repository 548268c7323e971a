// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RolloutTest {
    private Instant now = PoolSketch.NOON;

    @Test
    void atMostSoManyPoolsHaveTheirTurn() {
        Rollout rollout = new Rollout(2, () -> now);

        assertThat(takes(rollout, "a")).isTrue();
        assertThat(takes(rollout, "b")).isTrue();
        assertThat(takes(rollout, "c")).isFalse();
        assertThat(takes(rollout, "a")).isTrue();

        rollout.ends(id("a"));
        assertThat(takes(rollout, "c")).isTrue();
        assertThat(takes(rollout, "a")).isFalse();
    }

    @Test
    void onePoolThatCannotGoOnKeepsTheOthersWaitingForAMinute() {
        Rollout rollout = new Rollout(1, () -> now);
        assertThat(takes(rollout, "a")).isTrue();

        now = now.plus(Duration.ofSeconds(59));
        assertThat(takes(rollout, "b")).isFalse();
        rollout.goesOn(id("a"));
        now = now.plus(Duration.ofSeconds(59));
        assertThat(takes(rollout, "b")).isFalse();
        now = now.plus(Duration.ofSeconds(2));
        assertThat(takes(rollout, "b")).isTrue();

        rollout.goesOn(id("a"));
        rollout.ends(id("b"));
        assertThat(takes(rollout, "c")).isTrue();
    }

    @Test
    void whatAnEarlierProcessBeganComesFirst() {
        Rollout rollout = new Rollout(2, () -> now);
        Stream<KvCachePool> all = Stream.of(
                pool("a", StepState.WAITING), pool("b", StepState.FAILED), pool("c", StepState.UNDER_WAY), pool("d"));

        assertThat(rollout.takes(id("d"), all)).isFalse();
        assertThat(takes(rollout, "a")).isFalse();
        assertThat(takes(rollout, "b")).isTrue();
        assertThat(takes(rollout, "c")).isTrue();
    }

    private static boolean takes(Rollout rollout, String pool) {
        return rollout.takes(id(pool), Stream.of());
    }

    private static ResourceID id(String pool) {
        return new ResourceID(pool, "ns");
    }

    private static KvCachePool pool(String name, StepState... states) {
        KvCachePool pool = new KvCachePool();
        pool.setMetadata(
                new ObjectMetaBuilder().withName(name).withNamespace("ns").build());
        List<StepStatus> steps = Stream.of(states)
                .map(state ->
                        new StepStatus(name, StepKind.REPLACE, StepCause.SETTINGS, state, PoolSketch.NOON.toString()))
                .toList();
        if (!steps.isEmpty()) {
            pool.setStatus(PoolSketch.statusWith(steps));
        }
        return pool;
    }
}
