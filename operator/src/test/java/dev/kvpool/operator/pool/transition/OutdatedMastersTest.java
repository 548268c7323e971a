// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which master is made anew when the settings of masters have changed. */
class OutdatedMastersTest {
    @Test
    void standbysComeBeforeTheLeader() {
        assertThat(next(pool("old", "old", "old"))).containsExactly("demo-master-2");
        assertThat(next(pool("old", "old", "new"))).containsExactly("demo-master-1");
        assertThat(next(pool("old", "new", "new"))).containsExactly("demo-master-0");
        assertThat(next(pool("new", "new", "new"))).isEmpty();
    }

    @Test
    void noneIsTakenAwayWhileAnotherIsMissing() {
        PoolSketch pool = pool("old", "old", "new");
        pool.pod(PoolSketch.notReady(master(2, "new")));

        assertThat(next(pool)).isEmpty();
    }

    @Test
    void oneThatIsMissingAnywayIsMadeAnew() {
        PoolSketch pool = pool("old", "old", "old");
        pool.pod(PoolSketch.notReady(master(1, "old")));

        assertThat(next(pool)).containsExactly("demo-master-1");
    }

    @Test
    void withoutALeaderNobodyIsTakenAway() {
        assertThat(next(pool("old", "old", "old").silent("demo-master-0"))).isEmpty();
    }

    private static PoolSketch pool(String... settings) {
        PoolSketch pool = new PoolSketch("{masters: {replicas: 3}, storage: [{name: a, capacity: 1Gi}]}")
                .masters(3, 1, PoolSketch.leader(List.of()))
                .child(PoolSketch.statefulSet("master", 3));
        for (int i = 0; i < settings.length; i++) {
            pool.pod(master(i, settings[i]));
        }
        return pool;
    }

    private static ObservedPod master(int ordinal, String settings) {
        return PoolSketch.pod("demo-master-" + ordinal, PoolLabels.ROLE_MASTER, "", true, settings);
    }

    private static List<String> next(PoolSketch pool) {
        return OutdatedMasters.next(pool.observation()).stream()
                .map(ObservedPod::name)
                .toList();
    }
}
