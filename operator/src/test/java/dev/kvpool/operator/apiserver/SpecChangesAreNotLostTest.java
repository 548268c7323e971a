// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Java Operator SDK 5.3.0 to 5.3.4 loses changes of the spec that arrive while the operator writes a status. This races
 * both, many times: a new leader makes the operator write, and a change of the spec follows a moment later. Polling is
 * off, so a lost change stays lost and is seen. With comparableResourceVersions on, this test fails.
 */
class SpecChangesAreNotLostTest {
    private static final String NAMESPACE = "stress";
    private static final int POOLS = 20;
    private static final int ROUNDS = 6;
    private static final int GAP_MAX_US = 30_000;
    private static final int PATCHERS = 6;
    private static final long SETTLE_LIMIT_NANOS = Duration.ofSeconds(30).toNanos();

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE).lookingOnChangesOnly();

    @Test
    void everyChangeIsSeen() throws ExecutionException, InterruptedException {
        for (int pool = 0; pool < POOLS; pool++) {
            OPERATOR.applyPool(name(pool), "{masters: {replicas: 1}, storage: [{name: default, capacity: 1Gi}]}");
        }
        assertThat(notSeen()).as("pools the operator did not see at first").isEmpty();
        Random random = new Random(7);
        List<String> lost = new ArrayList<>();
        try (ExecutorService patchers = Executors.newFixedThreadPool(PATCHERS)) {
            for (int round = 0; round < ROUNDS; round++) {
                race(patchers, random, round);
                lost.addAll(notSeen());
            }
        }
        assertThat(lost).as("changes lost of %d", POOLS * ROUNDS).isEmpty();
    }

    private static void race(ExecutorService patchers, Random random, int round)
            throws ExecutionException, InterruptedException {
        List<Future<?>> races = new ArrayList<>();
        for (int pool = 0; pool < POOLS; pool++) {
            String name = name(pool);
            int epoch = round + 1;
            long gapNanos = TimeUnit.MICROSECONDS.toNanos(random.nextInt(GAP_MAX_US));
            races.add(patchers.submit(() -> {
                OPERATOR.cluster().takeLease(name + "-master", name + "-master-0", epoch);
                LockSupport.parkNanos(gapNanos);
                changeSpec(name, 2 + round % 5);
            }));
        }
        for (Future<?> race : races) {
            race.get();
        }
    }

    private static void changeSpec(String pool, int masters) {
        OPERATOR.client()
                .resources(KvCachePool.class)
                .inNamespace(NAMESPACE)
                .withName(pool)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"spec\":{\"masters\":{\"replicas\":%d}}}".formatted(masters));
    }

    /** Pools whose last change has not reached their status and their StatefulSet when the limit is over. */
    private static List<String> notSeen() {
        long deadline = System.nanoTime() + SETTLE_LIMIT_NANOS;
        List<String> waiting = IntStream.range(0, POOLS)
                .mapToObj(SpecChangesAreNotLostTest::name)
                .toList();
        while (!waiting.isEmpty() && System.nanoTime() < deadline) {
            waiting = waiting.stream().filter(name -> !seen(name)).toList();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
        }
        return waiting;
    }

    private static boolean seen(String name) {
        KvCachePool pool = OPERATOR.pool(name);
        if (pool.getStatus() == null
                || !pool.getMetadata().getGeneration().equals(pool.getStatus().observedGeneration())) {
            return false;
        }
        var masters = OPERATOR.client()
                .apps()
                .statefulSets()
                .inNamespace(NAMESPACE)
                .withName(name + "-master")
                .get();
        return masters != null
                && masters.getSpec()
                        .getReplicas()
                        .equals(pool.getSpec().masters().replicas());
    }

    private static String name(int pool) {
        return "s" + pool;
    }
}
