// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.apiserver.OperatorUnderTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** The counts of {@link OperatorScale} with few pools: nothing is written at rest, and a restart changes nothing. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ManyPoolsTest {
    private static final String NAMESPACE = "many-pools";
    private static final int POOLS = 20;
    private static final int ROUNDS = 3;
    private static final int STATUS_BYTES_MAX = 64 << 10;
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private static OperatorUnderTest operator;
    private static SimulatedCluster cluster;
    private static PoolCensus census;

    @BeforeAll
    static void makePools() {
        operator = OperatorUnderTest.in(NAMESPACE).looking(POLL, POLL).start();
        cluster = new SimulatedCluster(
                operator.client(),
                List.of(NAMESPACE),
                (master, report) -> operator.masters().say(master.pod(), report),
                2);
        census = new PoolCensus(operator.client(), List.of(NAMESPACE));
        for (int pool = 0; pool < POOLS; pool++) {
            operator.applyPool(
                    "many-" + pool, "{masters: {replicas: 2}, storage: [{name: default, capacity: 1Gi, replicas: 1}]}");
        }
        await().atMost(LIMIT).until(() -> {
            cluster.check();
            return census.ready() == POOLS;
        });
        assertThat(cluster.pods()).isEqualTo(3 * POOLS);
        lookAtAll(ROUNDS);
    }

    @AfterAll
    static void stop() {
        census.close();
        cluster.close();
        operator.close();
    }

    @Test
    @Order(1)
    void nothingIsWrittenAtRest() {
        List<String> before = operator.writes();

        lookAtAll(ROUNDS);

        assertThat(operator.writes()).isEqualTo(before);
        assertThat(census.largestStatus()).isBetween(1, STATUS_BYTES_MAX);
    }

    @Test
    @Order(2)
    void aRestartWritesNothingAndChangesNothing() {
        Map<String, String> before = census.versions();
        List<String> writes = operator.writes();

        operator.restart();
        lookAtAll(ROUNDS);

        assertThat(operator.writes()).isEqualTo(writes);
        assertThat(PoolCensus.changed(before, census.versions())).isEmpty();
        assertThat(before).hasSizeGreaterThan(10 * POOLS);
    }

    /** Waits until the operator has asked the masters of each pool so often again. */
    private static void lookAtAll(int rounds) {
        Map<String, Long> before = operator.masters().questionsByPod();
        await().atMost(LIMIT).until(() -> {
            Map<String, Long> now = operator.masters().questionsByPod();
            for (int pool = 0; pool < POOLS; pool++) {
                String leader = "many-" + pool + "-master-0";
                if (now.getOrDefault(leader, 0L) < before.getOrDefault(leader, 0L) + rounds) {
                    return false;
                }
            }
            return true;
        });
    }
}
