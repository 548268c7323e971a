// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.report.PoolStatus.NodeState;
import dev.kvpool.dataplane.master.core.report.PoolStatus.State;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What may concern millions of objects, and is not asked for by anybody, is done a bounded number at a time. */
class BoundedTurnsTest {
    private static final int FORGOTTEN_PER_TURN = Bounds.COMPARED_PER_TICK / Bounds.FORGOTTEN_IS_VISITS;

    private static final int EVICTED_PER_TURN = Bounds.EVICTION_VISITS / Bounds.EVICTED_IS_VISITS;

    /** Until what is given up may be freed: the largest object lease, counted from the takeover. */
    private static final long LEASES_MS = 10_100;

    private final LargePool pool = new LargePool();
    private final MasterCore core = pool.core;

    private void serve() {
        core.clientConnected(LargePool.CLIENT, pool.nowMs);
        core.lead(LargePool.OURS, pool.nowMs + 1_000_000, pool.nowMs, LargePool.REGISTER, pool.nowMs);
        pool.obeyed(1, 2);
        assertThat(core.status().state()).isEqualTo(State.SERVING);
    }

    private NodeState state(String node) {
        return core.status().nodes().stream()
                .filter(it -> it.id().equals(node))
                .findFirst()
                .orElseThrow()
                .state();
    }

    private Status status(String key) {
        return pool.lookup(key).objects().getFirst().status();
    }

    @Test
    void whatANodeHasLostIsForgottenInPartsAndUnavailableUntilThen() {
        int keys = 2 * FORGOTTEN_PER_TURN + 1_000;
        pool.show(1, keys, 1);
        pool.show(2, 0, 0);
        serve();

        core.closed(1, "gone", pool.nowMs);
        pool.show(1, 1, 1);
        long left = core.status().objects();
        int turns = 1;
        assertThat(left).isBetween((long) keys - FORGOTTEN_PER_TURN, keys - 1L);
        while (state("node-1") == NodeState.SYNCING && turns < 20) {
            assertThat(status("k0")).isEqualTo(Status.UNAVAILABLE);
            pool.tick();
            pool.obeyed(1);
            assertThat(left - core.status().objects()).isLessThanOrEqualTo(FORGOTTEN_PER_TURN);
            left = core.status().objects();
            turns++;
        }
        pool.tick();

        assertThat(turns).isGreaterThanOrEqualTo(3);
        assertThat(state("node-1")).isEqualTo(NodeState.READY);
        assertThat(core.status().objects()).isEqualTo(1);
        assertThat(status("k0")).isEqualTo(Status.OK);
        assertThat(status("k1")).isEqualTo(Status.NOT_FOUND);
        assertThat(core.status().nodes().getFirst().contents().orElseThrow().lostAtReturn())
                .hasValue(keys - 1L);
    }

    @Test
    void aNodeThatIsCutOffMeanwhileBeginsAnew() {
        int keys = 3 * FORGOTTEN_PER_TURN;
        pool.show(1, keys, 1);
        pool.show(2, 0, 0);
        serve();
        core.closed(1, "gone", pool.nowMs);
        pool.show(1, 0, 1);
        pool.tick();
        assertThat(core.status().objects()).isPositive();

        core.closed(1, "gone again", pool.nowMs);
        pool.show(1, keys, 1);
        pool.obeyed(1);
        for (int i = 0; i < 20; i++) {
            pool.tick();
        }

        assertThat(state("node-1")).isEqualTo(NodeState.READY);
        assertThat(core.status().objects()).isEqualTo(keys);
        assertThat(core.status().unavailableObjects()).isZero();
    }

    @Test
    void theTombstonesOfANodeThatJoinsAreLookedAtInPartsBeforeItTakesPart() {
        int keys = 2 * Bounds.TOMBSTONES_OF_NODE_PER_TICK + 100;
        pool.show(1, keys, 1);
        pool.show(2, 0, 0);
        serve();
        core.closed(2, "gone", pool.nowMs);
        pool.writeTombstone(2, keys);
        long left = keys;
        int turns = 0;
        pool.obeyed(2);
        while (state("node-2") != NodeState.READY && turns < 20) {
            assertThat(left - core.status().objects()).isLessThanOrEqualTo(Bounds.TOMBSTONES_OF_NODE_PER_TICK);
            left = core.status().objects();
            pool.tick();
            turns++;
        }

        assertThat(turns).isGreaterThanOrEqualTo(2);
        assertThat(core.status().objects()).isZero();
    }

    @Test
    void whatATermWasToFreeIsFreedByTheNext() {
        int keys = 2 * Bounds.FREES_TAKEN_BACK_PER_TICK + 100;
        pool.show(1, keys, 1);
        pool.show(2, keys, 0);
        lead(LargePool.OURS);
        int sent = pool.freedAfter(LEASES_MS).size();
        assertThat(sent).as("the others wait").isBetween(1, keys - 1);

        lead(new Authority(7, 1));

        assertThat(pool.freedAfter(LEASES_MS)).hasSize(sent);
    }

    @Test
    void whatAnSsdHasTooMuchOfGoesABoundedNumberAtATimeDownToTheLowerMark() {
        int keys = 20_000;
        pool.showOnSsd(1, keys, false);
        pool.show(2, 0, 0);
        serve();

        List<Extent> freed = freedInTurns(EVICTED_PER_TURN);

        int toLose = keys - (int) (keys * Bounds.SSD_LOW);
        assertThat(freed).hasSize(toLose);
        assertThat(core.status().counters().get(Count.EVICTED)).isEqualTo(toLose);
    }

    @Test
    void whatTheSsdHasAsWellLeavesMemoryABoundedNumberAtATime() {
        int keys = 20_000;
        pool.showOnSsd(1, keys, true);
        pool.show(2, 0, 0);
        serve();

        List<Extent> freed = freedInTurns(EVICTED_PER_TURN);

        assertThat(freed).hasSizeBetween(keys / 10, keys / 2);
        assertThat(freed).allMatch(extent -> extent.extent().segment() == ExtentRef.MEMORY);
        assertThat(core.status().counters().get(Count.EVICTED)).isZero();
        assertThat(core.status().objects()).isEqualTo(keys);
    }

    /** What is freed until nothing more is. */
    private List<Extent> freedInTurns(int perTurnMax) {
        List<Extent> freed = new ArrayList<>();
        List<Extent> now = pool.freesAfter(LEASES_MS);
        while (!now.isEmpty()) {
            assertThat(now).hasSizeLessThanOrEqualTo(perTurnMax);
            freed.addAll(now);
            now = pool.freesAfter(10);
        }
        return freed;
    }

    private void lead(Authority authority) {
        core.lead(authority, pool.nowMs + 1_000_000, pool.nowMs, LargePool.REGISTER, pool.nowMs);
        pool.obeyed(authority, 1, 2);
        for (int turns = 0; core.status().state() != State.SERVING && turns < 30; turns++) {
            pool.tick();
        }
        assertThat(core.status().state()).isEqualTo(State.SERVING);
    }
}
