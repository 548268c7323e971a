// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RolloutTest {
    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final List<Notice> told = new ArrayList<>();
    private Instant now = PoolSketch.NOON;

    /** A pool whose step has failed keeps the turn, and the operator's log alone said which that is. */
    @Test
    void aMetricNamesThePoolsThatHaveTheirTurn() {
        Rollout rollout = rollout(1);
        takes(rollout, "a");
        takes(rollout, "b");
        assertThat(measured()).containsExactly("a 1.0");

        now = now.plus(Duration.ofSeconds(61));
        takes(rollout, "b");
        assertThat(measured()).containsExactly("b 1.0");

        rollout.ends(id("b"));
        assertThat(measured()).isEmpty();
    }

    @Test
    void eachPoolIsToldWhenItsTurnBegins() {
        Rollout rollout = rollout(1);
        takes(rollout, "a");
        takes(rollout, "a");
        takes(rollout, "b");

        assertThat(told).extracting(Notice::reason).containsExactly(EventReason.ROLLOUT_TURN);
    }

    private List<String> measured() {
        return registry.find("kvpool.rollout.turn").gauges().stream()
                .map(gauge -> gauge.getId().getTag("pool") + " " + gauge.value())
                .toList();
    }

    private Rollout rollout(int pools) {
        return new Rollout(pools, () -> now, registry);
    }

    @Test
    void atMostSoManyPoolsHaveTheirTurn() {
        Rollout rollout = rollout(2);

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
        Rollout rollout = rollout(1);
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
        Rollout rollout = rollout(2);
        Stream<KvCachePool> all = Stream.of(
                pool("a", StepState.WAITING), pool("b", StepState.FAILED), pool("c", StepState.UNDER_WAY), pool("d"));

        assertThat(rollout.takes(id("d"), all, told::add)).isFalse();
        assertThat(takes(rollout, "a")).isFalse();
        assertThat(takes(rollout, "b")).isTrue();
        assertThat(takes(rollout, "c")).isTrue();
    }

    private boolean takes(Rollout rollout, String pool) {
        return rollout.takes(id(pool), Stream.of(), told::add);
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
