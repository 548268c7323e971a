// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.master.core.report.PoolStatus.IndexUse;
import dev.kvpool.dataplane.master.core.report.PoolStatus.Node;
import dev.kvpool.dataplane.master.core.report.PoolStatus.NodeState;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantLine;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import org.junit.jupiter.api.Test;

/** An index that has no room for more objects is like a pool without room: it evicts, refuses puts, and goes on serving. */
class IndexFullTest {
    private static final long MIB = 1 << 20;

    /** Room for 480 objects with keys of 1000 bytes. */
    private static final long RECORD_BYTES = MIB / 2;

    private static final Retention PINNED = new Retention(false, true, 0, 0);

    @Test
    void coldObjectsGiveWayToNewOnes() {
        Scenario pool = new Scenario()
                .withNodes(64 * MIB, "a", "b")
                .withRecordBytes(RECORD_BYTES)
                .leading(7);
        long fullest = 0;
        for (int i = 0; i < 2_000; i++) {
            assertThat(pool.put(key(i), 100)).as(key(i)).isEqualTo(Status.OK);
            fullest = Math.max(fullest, use(pool).usedBytes());
            if (i % 10 == 0) {
                pool.world.run(10);
            }
        }

        assertThat(fullest).isLessThan((long) (0.95 * use(pool).maxBytes()));
        assertThat(count(pool, Count.EVICTED)).isBetween(1_500L, 1_600L);
        assertThat(pool.find(key(1_999)).status()).isEqualTo(Status.OK);
        assertThat(pool.find(key(0)).status()).isEqualTo(Status.NOT_FOUND);
        assertThat(use(pool).problem()).isEmpty();
        assertThat(count(pool, Count.SET_APART_INDEX_FULL)).isZero();
    }

    @Test
    void whereNothingMayGoPutsAreRefusedAndTheStatusSaysWhy() {
        Scenario pool = pinned();
        int put = fill(pool);

        assertThat(put).isBetween(430, 480);
        GrantLine refused = pool.grant(key(put), 100).grants().getFirst();
        assertThat(refused.status()).isEqualTo(Status.NO_SPACE);
        assertThat(refused.roomMs()).as("nothing gives way").isZero();
        pool.world.run(10);
        assertThat(use(pool).problem())
                .contains("the index is full", "of the 524288 bytes", "at 95 %", "more memory", "remove objects");
        assertThat(pool.talkedTo().reports()).contains(use(pool).problem());
        assertThat(count(pool, Count.GRANTS_INDEX_FULL)).isPositive();
        assertThat(pool.find(key(0)).status()).isEqualTo(Status.OK);
        assertThat(pool.talkedTo().status().nodesSetApart()).isZero();

        for (int i = 0; i < 50; i++) {
            assertThat(pool.remove(key(i), true)).isEqualTo(Status.OK);
        }
        pool.world.run(100);

        assertThat(use(pool).problem()).isEmpty();
        assertThat(pool.put(key(put), 100)).isEqualTo(Status.OK);
    }

    @Test
    void copiesStopWherePutsDo() {
        Scenario pool = pinned();
        fill(pool);
        pool.talkedTo().goBy(PlainSettings.rules(10_000, EvictionRules.between(0.5, 0.9), 2, 30_000, 1L << 30));

        pool.pass(60_000);

        assertThat(use(pool).usedBytes()).isLessThan((long) (0.96 * use(pool).maxBytes()));
        assertThat(pool.talkedTo().status().nodesSetApart()).isZero();
        assertThat(pool.find(key(1)).status()).isEqualTo(Status.OK);
    }

    @Test
    void aNodeThatBringsMoreThanHasRoomIsSetApartUntilThereIsSome() {
        Scenario pool = pinned();
        ModelNode large = pool.unexpectedNode("large", 64 * MIB);
        large.dial(pool.talkedTo());
        pool.world.run(1_000); // A member from now on: what it holds counts when it comes back.
        pool.crash("large");
        int put = fill(pool);
        pool.crash("b");
        long away = pool.node("b").directory().size();
        for (int i = 0; i < 200; i++) {
            large.keep(new ObjectId(6, 1 + i), Key.of("large" + key(i)), 100, PINNED);
        }

        pool.restart("large");
        pool.world.run(1_000);

        assertThat(node(pool, "large").state()).isEqualTo(NodeState.SET_APART);
        assertThat(node(pool, "large").reason())
                .contains("set apart for 10 s, less when there is room again", "524288 bytes", "more memory");
        assertThat(count(pool, Count.SET_APART_INDEX_FULL)).isEqualTo(1);
        pool.restart("b");
        pool.world.run(1_000);
        assertThat(node(pool, "b").state())
                .as("what it holds is known, and has its room")
                .isEqualTo(NodeState.READY);
        assertThat(node(pool, "b").objects()).isEqualTo(away);
        assertThat(pool.find(key(put - 1)).status()).isEqualTo(Status.OK);

        for (int i = 0; i < 250; i++) {
            pool.remove(key(i), true);
        }
        pool.pass(10_000);
        large.dial(pool.talkedTo());
        pool.pass(5_000);

        assertThat(node(pool, "large").state()).isEqualTo(NodeState.READY);
        assertThat(node(pool, "large").objects()).isEqualTo(200);
    }

    @Test
    void keysOfAnotherLengthGetTheRoomThatTheOldOnesHeld() {
        Scenario pool = new Scenario()
                .withNodes(64 * MIB, "a", "b")
                .withRecordBytes(RECORD_BYTES)
                .leading(7);
        for (int i = 0; i < 1_200; i++) {
            String key = i < 600 ? key(i) : key(i) + "-with-a-tail-that-makes-another-size-of-block";
            Status status = pool.put(key, 100);
            for (int tries = 0; status == Status.NO_SPACE && tries < 100; tries++) {
                pool.world.run(10);
                status = pool.put(key, 100);
            }
            assertThat(status).as(key).isEqualTo(Status.OK);
        }
        assertThat(count(pool, Count.SET_APART_INDEX_FULL)).isZero();
    }

    private static Scenario pinned() {
        return new Scenario()
                .withNodes(64 * MIB, "a", "b")
                .withRecordBytes(RECORD_BYTES)
                .keeping(PINNED)
                .leading(7);
    }

    /** Puts until nothing more has room; how many. */
    private static int fill(Scenario pool) {
        int put = 0;
        while (pool.put(key(put), 100) == Status.OK) {
            put++;
        }
        return put;
    }

    private static String key(int i) {
        return "%01000d".formatted(i);
    }

    private static IndexUse use(Scenario pool) {
        return pool.talkedTo().status().index();
    }

    private static Node node(Scenario pool, String id) {
        return pool.talkedTo().status().nodes().stream()
                .filter(node -> node.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private static long count(Scenario pool, Count count) {
        return pool.talkedTo().status().counters().get(count);
    }
}
