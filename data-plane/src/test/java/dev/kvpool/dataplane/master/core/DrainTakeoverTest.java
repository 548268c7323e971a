// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The emptying of a node goes on, or stays cancelled, whoever leads. */
class DrainTakeoverTest {
    private static final long MIB = 1 << 20;
    private static final long TIMEOUT_MS = 600_000;
    private static final long STARTED_MS = 1_234;
    private static final long RECOVERY_MS = Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS;

    private final Scenario pool =
            new Scenario().withNodes(4 * MIB, "a", "b", "c").leading(7);
    private long epoch = 7;

    private void fill(int keys, long payload) {
        for (int i = 0; i < keys; i++) {
            assertThat(pool.put("k" + i, payload)).isEqualTo(Status.OK);
        }
    }

    private void drain(String node, long timeoutMs) {
        assertThat(pool.talkedTo().core().drain(node, false, timeoutMs, STARTED_MS, pool.world.nowMs()))
                .isEmpty();
        pool.world.run(20);
    }

    private void changeLeaders() {
        pool.standBy();
        ModelMaster next = pool.master();
        pool.world.run(20);
        epoch++;
        pool.lead(next, epoch).talkTo(next);
    }

    private DrainStatus status() {
        return pool.talkedTo().status().drains().getFirst();
    }

    private PoolStatus.NodeState stateOf(String node) {
        return pool.talkedTo().status().nodes().stream()
                .filter(it -> it.id().equals(node))
                .findFirst()
                .orElseThrow()
                .state();
    }

    @Test
    void theNextLeaderGoesOnAndPutsNothingThere() {
        fill(30, 1_000);
        int before = pool.node("a").directory().size();
        drain("a", TIMEOUT_MS);

        changeLeaders();
        assertThat(status().state()).isEqualTo(DrainStatus.State.DRAINING);
        assertThat(status().startedAtMs()).isEqualTo(STARTED_MS);
        assertThat(stateOf("a")).isEqualTo(PoolStatus.NodeState.DRAINING);
        for (int i = 0; i < 50; i++) {
            assertThat(pool.grantOne("x" + i, "a")).isFalse();
        }

        pool.pass(RECOVERY_MS + Scenario.OBJECT_LEASE_MS + 40_000);
        assertThat(status().state()).isEqualTo(DrainStatus.State.DRAINED);
        assertThat(status().objectsMoved()).as("whoever moved them").isLessThanOrEqualTo(before);
        pool.crash("a");
        for (int i = 0; i < 30; i++) {
            assertThat(pool.find("k" + i).status()).isEqualTo(Status.OK);
        }
    }

    @Test
    void whatWasMovedIsCountedOn() {
        fill(30, 1_000);
        pool.world.run(RECOVERY_MS);
        drain("a", 40_000);
        pool.world.run(4_000);
        long moved = status().objectsMoved();
        assertThat(moved).isPositive();

        changeLeaders();

        assertThat(status().objectsMoved()).isEqualTo(moved);
    }

    @Test
    void oneThatHasEndedStaysSo() {
        fill(6, 1_000);
        pool.world.run(RECOVERY_MS);
        drain("a", TIMEOUT_MS);
        pool.world.run(Scenario.OBJECT_LEASE_MS + 5_000);
        assertThat(status().state()).isEqualTo(DrainStatus.State.DRAINED);

        changeLeaders();
        assertThat(pool.grantOne("x", "a")).isFalse();
        pool.pass(RECOVERY_MS + 5_000);

        assertThat(status().state()).isEqualTo(DrainStatus.State.DRAINED);
    }

    @Test
    void itsTimeRunsOnOverChangesOfLeaders() {
        for (int i = 0; i < 38; i++) {
            pool.put("k" + i, 300_000); // more than two nodes take
        }
        pool.lookup("k0", "k1", "k2");
        drain("a", 20_000);
        for (int i = 0; i < 4; i++) {
            assertThat(status().state()).isEqualTo(DrainStatus.State.DRAINING);
            pool.pass(4_000);
            changeLeaders();
        }
        // A change of leaders gives back a sixteenth of the time at most, or a second.
        pool.pass(4_000 + 4 * 1_250);

        assertThat(status().state()).isEqualTo(DrainStatus.State.TIMED_OUT);
        changeLeaders();
        assertThat(status().state()).isEqualTo(DrainStatus.State.TIMED_OUT);
    }

    /** Who is told so may have this leader end: the next one must know of the latest wish, not of the one before. */
    @Test
    void whatIsAskedIsKeptWhenTheRegisterHasIt() {
        MasterCore leader = pool.talkedTo().core();
        drain("a", TIMEOUT_MS);
        isKeptOnceTheLeaseIsWritten(() -> assertThat(leader.drain("a", true, 1_000, STARTED_MS, pool.world.nowMs()))
                .isEmpty());
        isKeptOnceTheLeaseIsWritten(() -> assertThat(leader.cancelDrain("a")).isTrue());
        assertThat(pool.world.register().drains()).isEmpty();
        assertThat(leader.cancelDrain("a")).isFalse();
        pool.crash("b");
        pool.world.run(5_000);
        isKeptOnceTheLeaseIsWritten(
                () -> assertThat(leader.forget("b", pool.world.nowMs())).isEmpty());
    }

    /** Also asked again before it is. */
    private void isKeptOnceTheLeaseIsWritten(Runnable wish) {
        List<String> kept = new ArrayList<>();
        pool.world.cutLease(true);
        for (String which : List.of("first", "again")) {
            wish.run();
            pool.talkedTo().core().whenKept(() -> kept.add(which));
            pool.world.run(1_000);
            assertThat(kept).isEmpty();
        }
        pool.world.cutLease(false);
        pool.world.run(20);
        assertThat(kept).containsExactly("first", "again");
    }

    @Test
    void theNextLeaderCanCancelItAndTheOneAfterKnows() {
        fill(30, 100_000);
        drain("a", TIMEOUT_MS);
        changeLeaders();

        assertThat(pool.talkedTo().core().cancelDrain("a")).isTrue();
        pool.world.run(20);
        changeLeaders();

        assertThat(pool.talkedTo().status().drains()).isEmpty();
        assertThat(stateOf("a")).isEqualTo(PoolStatus.NodeState.READY);
    }

    @Test
    void aNodeThatMissedTheEndDoesNotBringItBack() {
        fill(6, 1_000);
        drain("a", TIMEOUT_MS);
        pool.crash("c");
        assertThat(pool.talkedTo().core().cancelDrain("a")).isTrue();
        pool.world.run(5_000);
        assertThat(pool.world.register().drains()).isEmpty();

        changeLeaders();
        pool.restart("c");
        pool.world.run(1_000);
        assertThat(pool.talkedTo().status().drains()).isEmpty();
    }

    @Test
    void oneBegunAnewIsNotTakenForTheOld() {
        fill(6, 1_000);
        drain("a", TIMEOUT_MS);
        drain("a", 1_000);
        pool.world.run(2_000);

        assertThat(status().state()).isEqualTo(DrainStatus.State.TIMED_OUT);
    }

    @Test
    void whatComesBackAsAnotherProcessIsNotDrainedByTheNextLeader() {
        fill(6, 1_000);
        pool.world.run(RECOVERY_MS);
        drain("a", TIMEOUT_MS);
        pool.world.run(Scenario.OBJECT_LEASE_MS + 5_000);
        pool.crash("a");
        pool.restart("a");
        pool.world.run(1_000);
        assertThat(pool.talkedTo().status().drains()).isEmpty();

        changeLeaders();
        assertThat(pool.talkedTo().status().drains()).isEmpty();
        assertThat(stateOf("a")).isEqualTo(PoolStatus.NodeState.READY);
    }

    @Test
    void aPurgeChangesNothingAboutIt() {
        fill(6, 1_000);
        drain("a", TIMEOUT_MS);
        pool.removeAll(true);
        pool.world.run(5_000);

        changeLeaders();
        assertThat(status().state()).isIn(DrainStatus.State.DRAINING, DrainStatus.State.DRAINED);
    }

    @Test
    void whetherANodeIsToBeClearedIsKnownToTheNextLeaderToo() {
        fill(6, 1_000);
        assertThat(pool.talkedTo().core().drain("a", true, TIMEOUT_MS, STARTED_MS, pool.world.nowMs()))
                .isEmpty();
        pool.world.run(20);

        assertThat(pool.world.register().drains().get("a").clears()).isTrue();
    }
}
