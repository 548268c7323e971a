// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.core.report.PoolStatus.State;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.nativelib.Status;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Takeovers with more to decide than fits into one turn. */
class LargeTakeoverTest {
    private final LargePool pool = new LargePool();
    private final MasterCore core = pool.core;

    @Test
    void whatIsInDisputeIsDecidedInPartsAndServedWhenAllIsDecided() {
        int keys = 2 * Bounds.SETTLED_PER_TURN;
        core.clientConnected(LargePool.CLIENT, pool.nowMs);
        pool.show(1, keys, 1);
        pool.show(2, keys, 0);
        core.lead(LargePool.OURS, pool.nowMs + 1_000_000, pool.nowMs, LargePool.REGISTER, pool.nowMs);
        pool.obeyed(1, 2);

        assertThat(core.status().state()).isEqualTo(State.RECOVERING);
        assertThat(pool.lookup("k0").status()).as("it answers meanwhile").isEqualTo(Status.RECOVERING);
        pool.tick();
        assertThat(core.status().state()).isEqualTo(State.RECOVERING);
        pool.tick();

        assertThat(core.status().state()).isEqualTo(State.SERVING);
        assertThat(core.status().objects()).isEqualTo(keys);
        assertThat(core.status().unavailableObjects()).isZero();
        for (int i = 0; i < keys; i += 997) {
            assertThat(pool.lookup("k" + i).objects().getFirst().objectId()).isEqualTo(LargePool.newer(i));
        }
        assertThat(pool.freedAfter(1_000)).isEmpty();
        assertThat(pool.freedAfter(10_000))
                .hasSize(Bounds.FREE_REQUESTS_PER_NODE_MAX * Bounds.FREE_EXTENTS_MAX)
                .allMatch(id -> id.counter() % 2 == 0);
    }

    @Test
    void whatIsNotInDisputeNeedsNoTurn() {
        pool.show(1, 3 * Bounds.SETTLED_PER_TURN, 1);
        pool.show(2, 0, 0);

        core.lead(LargePool.OURS, pool.nowMs + 1_000_000, pool.nowMs, LargePool.REGISTER, pool.nowMs);
        pool.obeyed(1, 2);

        assertThat(core.status().state()).isEqualTo(State.SERVING);
        assertThat(core.status().objects()).isEqualTo(3 * Bounds.SETTLED_PER_TURN);
    }

    /** The register has none of them: each writes itself down once, however often the others are looked at until that is stored. */
    @Test
    void manyNewNodesThatAnswerAtOnceCostNoCopyOfTheRegisterForEachOther() {
        int nodes = 1_000;
        LargePool many = new LargePool(nodes);
        for (int node = 1; node <= nodes; node++) {
            many.show(node, List.of());
        }
        many.core.lead(LargePool.OURS, many.nowMs + 1_000_000, many.nowMs, Register.NONE, many.nowMs);

        long before = allocatedBytes();
        many.obeyed(IntStream.rangeClosed(1, nodes).toArray());
        assertThat(allocatedBytes() - before)
                .as("a copy takes 40 KB: some a node, not a thousand")
                .isLessThan(nodes * 1_000_000L);

        assertThat(many.core.status().state()).isEqualTo(State.RECOVERING);
        many.tick();
        many.tick();
        assertThat(many.core.status().state()).isEqualTo(State.SERVING);
        assertThat(many.core.status().nodes()).allMatch(node -> node.state() == PoolStatus.NodeState.READY);
    }

    private static long allocatedBytes() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
    }

    @Test
    void aNodeThatComesLateIsReliedOnWhenAllItShowsHasBeenDecided() {
        int keys = Bounds.SETTLED_PER_TICK + 100;
        pool.show(1, keys, 0);
        core.lead(LargePool.OURS, pool.nowMs + 1_000_000, pool.nowMs, LargePool.REGISTER, pool.nowMs);
        pool.obeyed(1);
        for (int i = 0; i < 11; i++) {
            pool.nowMs += 1_000;
            pool.tell(1, new Heartbeat());
            pool.tick();
        }
        assertThat(core.status().state()).isEqualTo(State.SERVING);

        pool.show(2, keys, 1);
        pool.obeyed(2);
        assertThat(core.status().notReady()).contains("catching up with node node-2");
        pool.tick();

        assertThat(core.status().notReady()).isEmpty();
        assertThat(core.status().objects()).isEqualTo(keys);
        assertThat(core.holders(Key.of("k0"))).containsExactly("node-2");
    }

    @Test
    void theSumsFollowANodeThatWentLittleByLittle() {
        int keys = 3 * Bounds.RECOUNTED_PER_TICK;
        pool.show(1, keys, 1);
        pool.show(2, 0, 0);
        core.lead(LargePool.OURS, pool.nowMs + 1_000_000, pool.nowMs, LargePool.REGISTER, pool.nowMs);
        pool.obeyed(1, 2);

        core.closed(1, "gone", pool.nowMs);
        assertThat(core.status().unavailableObjects()).isBetween(1L, (long) Bounds.RECOUNTED_PER_TICK);
        for (int i = 0; i < 8; i++) {
            pool.tick();
        }

        assertThat(core.status().unavailableObjects()).isEqualTo(keys);
    }

    /** Node 1 held so many keys and is about to be forgotten; node 2 stays. */
    private void firstNodeIsGoneForGood(int keys) {
        pool.show(1, keys, 1);
        pool.show(2, 0, 0);
        core.lead(LargePool.OURS, pool.nowMs + 1_000_000, pool.nowMs, LargePool.REGISTER, pool.nowMs);
        pool.obeyed(1, 2);
        core.expectNodes(Map.of("node-2", ""), pool.nowMs);
        core.closed(1, "gone", pool.nowMs);
        pool.nowMs += Bounds.UNEXPECTED_AWAY_MS;
        pool.tell(2, new Heartbeat());
    }

    @Test
    void aNodeThatIsGoneForGoodIsForgottenLittleByLittle() {
        int keys = 3 * Bounds.FORGOTTEN_PER_TICK;
        firstNodeIsGoneForGood(keys);
        pool.tick();
        assertThat(core.status().objects()).isEqualTo(keys - Bounds.FORGOTTEN_PER_TICK);
        pool.tick();
        pool.tick();
        assertThat(core.status().objects()).isZero();
        assertThat(core.status().nodes()).hasSize(1);
    }

    /** It may come back with it as long as the register has the node. */
    @Test
    void nothingOfANodeThatIsBeingForgottenIsKnownNotToBeThere() {
        firstNodeIsGoneForGood(3 * Bounds.FORGOTTEN_PER_TICK);
        pool.tick();
        core.clientConnected(LargePool.CLIENT, pool.nowMs);
        Key forgotten = IntStream.range(0, 3 * Bounds.FORGOTTEN_PER_TICK)
                .mapToObj(i -> Key.of("k" + i))
                .filter(key -> core.holders(key).isEmpty())
                .findFirst()
                .orElseThrow();

        assertThat(pool.ask(new RemoveRequest(1, false, List.of(forgotten))))
                .noneMatch(reply -> ((RemoveReply) reply).results().equals(List.of(Status.NOT_FOUND)));
    }

    /** The register has dropped it: it was not told of removals. What it shows again is counted, and must go before it takes part. */
    @Test
    void aNodeThatComesBackWhileItIsForgottenDropsWhatItHolds() {
        int keys = 3 * Bounds.FORGOTTEN_PER_TICK;
        firstNodeIsGoneForGood(keys);
        pool.tick();
        pool.tick();

        pool.show(1, keys, 1);
        pool.obeyed(1);
        for (int i = 0; i < 12; i++) {
            pool.tick();
        }
        assertThat(core.status().objects()).isEqualTo(keys);
        assertThat(core.status().unavailableObjects())
                .as("what was not forgotten yet too")
                .isEqualTo(keys);
        assertThat(core.status().nodes()).hasSize(2);

        int left = keys;
        while (left > 0) {
            int freed = pool.freesAfter(1_000).size();
            left -= freed;
            assertThat(freed > 0 || pool.nowMs < 200_000)
                    .as("%d are left", left)
                    .isTrue();
        }
        pool.tick();
        assertThat(core.status().objects()).isZero();
        assertThat(core.status().unavailableObjects()).isZero();
        assertThat(core.status().nodes()).allMatch(node -> node.state() == PoolStatus.NodeState.READY);
    }

    @Test
    void manyTombstonesAreGoneThroughInParts() {
        int keys = 2 * Bounds.SETTLED_PER_TURN;
        core.clientConnected(LargePool.CLIENT, pool.nowMs);
        pool.show(1, keys, 0);
        pool.writeTombstone(2, keys);
        core.lead(LargePool.OURS, pool.nowMs + 1_000_000, pool.nowMs, LargePool.REGISTER, pool.nowMs);
        pool.obeyed(1, 2);

        assertThat(core.status().state()).as("half of them are gone through").isEqualTo(State.RECOVERING);
        pool.tick();

        assertThat(core.status().state()).isEqualTo(State.SERVING);
        assertThat(core.status().objects()).isZero();
        assertThat(core.status().tombstones()).isEqualTo(keys);
    }

    @Test
    void whatATermHasGivenUpIsReconsideredInPartsBeforeTheNextServes() {
        int keys = 2 * Bounds.SETTLED_PER_TURN;
        core.clientConnected(LargePool.CLIENT, pool.nowMs);
        pool.show(1, keys, 1);
        pool.show(2, keys, 0);
        core.lead(LargePool.OURS, pool.nowMs + 1_000_000, pool.nowMs, LargePool.REGISTER, pool.nowMs);
        pool.obeyed(1, 2);
        pool.tick();
        pool.tick();
        assertThat(core.status().state()).isEqualTo(State.SERVING);

        Authority again = new Authority(7, 1);
        core.lead(again, pool.nowMs + 1_000_000, pool.nowMs, LargePool.REGISTER, pool.nowMs);
        pool.obeyed(again, 1, 2);
        int turns = 0;
        while (core.status().state() != State.SERVING && turns < 20) {
            pool.tick();
            turns++;
        }

        assertThat(turns).as("two to reconsider, two to decide").isBetween(3, 6);
        assertThat(core.status().objects()).isEqualTo(keys);
        for (int i = 0; i < keys; i += 997) {
            assertThat(pool.lookup("k" + i).objects().getFirst().objectId()).isEqualTo(LargePool.newer(i));
        }
    }
}
