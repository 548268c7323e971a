// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.nativelib.Status;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A leader that nodes do not reach hands over, and what counts as reaching it. */
class BlindPoolTest {
    private static final long MIB = 1 << 20;
    private static final long LONG_MS = Scenario.LEASE_DURATION_MS + 4 * Bounds.REACH_LOOK_MS;

    private static List<Action> handOvers(ModelMaster master) {
        return master.departures().stream()
                .filter(Action.HandOver.class::isInstance)
                .toList();
    }

    private static Scenario leading(String... nodes) {
        Scenario pool = new Scenario().withNodes(MIB, nodes).leading(5);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.world.run(1_000);
        return pool;
    }

    private static Scenario seesAnotherMaster(Scenario pool) {
        pool.talkedTo().core().masterSeen("another");
        return pool;
    }

    private static void isBlindFor(Scenario pool, long ms) {
        pool.world.run(Bounds.REACH_LOOK_MS);
        pool.talkedTo().core().lookedFor(pool.world.nowMs());
        pool.world.run(ms - Bounds.REACH_LOOK_MS);
    }

    @Test
    void aLeaderThatMostNodesDoNotReachHandsOverAndSaysWhy() {
        Scenario pool = seesAnotherMaster(leading("a", "b", "c"));
        pool.crash("a");
        pool.world.run(LONG_MS);
        assertThat(handOvers(pool.talkedTo())).as("two of three are there").isEmpty();
        pool.crash("b");
        isBlindFor(pool, LONG_MS);

        assertThat(handOvers(pool.talkedTo()))
                .containsExactly(new Action.HandOver(pool.talkedTo().leads()));
        assertThat(pool.talkedTo().status().counters().get(Count.HANDOVERS_BLIND))
                .isEqualTo(1);
        assertThat(pool.talkedTo().reports())
                .anyMatch(line -> line.startsWith("only 1 of 3 storage nodes are connected to this leader")
                        && line.contains("network policies"));
    }

    @Test
    void whereNodesAreDownItWaitsForThem() {
        Scenario pool = seesAnotherMaster(leading("a", "b", "c"));
        pool.crash("a");
        pool.crash("b");
        pool.world.run(10 * Bounds.BLIND_ALONE_MS);
        assertThat(handOvers(pool.talkedTo())).as("it serves the third").isEmpty();
        pool.crash("c");
        pool.world.run(Bounds.BLIND_ALONE_MS);
        assertThat(handOvers(pool.talkedTo())).isEmpty();
        pool.world.run(4 * Bounds.REACH_LOOK_MS);
        assertThat(handOvers(pool.talkedTo())).hasSize(1);
    }

    @Test
    void itsOwnNameIsNoOtherMaster() {
        Scenario pool = leading("a", "b");
        pool.talkedTo().core().masterSeen("master-0");
        pool.crash("a");
        pool.crash("b");
        pool.world.run(600_000);
        assertThat(handOvers(pool.talkedTo())).isEmpty();
    }

    /** As when a pool grows: nodes to come are no reason to hand over, nor to leave a free Lease to others. */
    @Test
    void nodesThatHaveNeverComeAreNotMissed() {
        Scenario pool = seesAnotherMaster(leading("a", "b"));
        pool.talkedTo()
                .core()
                .expectNodes(Map.of("a", "", "b", "", "c", "", "d", "", "e", "", "f", ""), pool.world.nowMs());
        isBlindFor(pool, LONG_MS);
        assertThat(pool.talkedTo().status().isHalfConnected()).isTrue();
        assertThat(handOvers(pool.talkedTo())).isEmpty();
    }

    private static Scenario ofEngines(String... engines) {
        Scenario pool = new Scenario().leading(5);
        for (String engine : engines) {
            pool.transientNode(engine, MIB).dial(pool.talkedTo());
        }
        pool.world.run(Bounds.COLD_WAIT_MS + 1_000);
        for (String engine : engines) {
            assertThat(pool.world.register().isMember(engine)).as(engine).isTrue();
        }
        return seesAnotherMaster(pool);
    }

    @Test
    void inAPoolOfEnginesItsMembersCountWhileTheRegisterHasThem() {
        Scenario pool = ofEngines("x", "y", "z");
        pool.crash("x");
        pool.crash("y");
        pool.crash("z");
        pool.world.run(Bounds.BLIND_OF_ENGINES_MS + 2 * Bounds.REACH_LOOK_MS);
        assertThat(handOvers(pool.talkedTo())).hasSize(1);
        assertThat(pool.world.register().members()).hasSize(3);
        assertThat(pool.talkedTo().status().isHalfConnected())
                .as("a candidate waits for no engines")
                .isTrue();
    }

    /** One pod with a process for each of its devices, whose engines end with it. */
    @Test
    void enginesThatGoTogetherAreNoReasonWhileOthersAreThere() {
        Scenario pool = ofEngines("x", "y", "z", "w");
        pool.crash("x");
        pool.crash("y");
        pool.crash("z");
        pool.world.run(LONG_MS + Bounds.TRANSIENT_AWAY_MS);
        assertThat(handOvers(pool.talkedTo())).isEmpty();
        assertThat(pool.world.register().members()).hasSize(1);
    }

    /** A pool of engines gets its first storage nodes, whose pods take long. */
    @Test
    void storageNodesThatHaveNeverComeAreNotMissedInAPoolOfEngines() {
        Scenario pool = ofEngines("x", "y");
        pool.talkedTo().core().expectNodes(Map.of("a", "", "b", ""), pool.world.nowMs());
        isBlindFor(pool, 600_000);
        assertThat(handOvers(pool.talkedTo())).isEmpty();
        assertThat(pool.talkedTo().status().isHalfConnected()).isTrue();
    }

    @Test
    void oneEngineThatGoesIsNoSignOfAFault() {
        Scenario pool = ofEngines("x");
        pool.crash("x");
        pool.world.run(LONG_MS);
        assertThat(handOvers(pool.talkedTo())).isEmpty();
    }
}
