// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.wire.RecordState;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a node has lost is forgotten a bounded number at a time. */
class IndexTurnsTest {
    /** One lost object among many that are there: finding it is what takes the time. */
    @Test
    void theSearchForWhatIsLostIsBoundedAsWell() {
        Index index = new Index(1, new Random(1));
        NodeView node = new NodeView("n");
        int there = 2 * Bounds.COMPARED_PER_TICK;
        index.beginSnapshot(node);
        for (int i = 0; i <= there; i++) {
            index.commit(node, line(i));
        }
        index.beginSnapshot(node);
        for (int i = 0; i < there; i++) {
            index.commit(node, line(i));
        }

        int turns = 0;
        while (node.replicas.hasUnconfirmed()) {
            index.dropUnconfirmed(node, Bounds.COMPARED_PER_TICK / 4);
            turns++;
        }

        assertThat(turns).isBetween(1, 12 * 2);
        assertThat(node.replicaCount()).isEqualTo(there);
        index.dropUnconfirmed(node, Bounds.COMPARED_PER_TICK);
        assertThat(node.replicaCount()).isEqualTo(there);
    }

    @Test
    void tombstonesThatANodeHasNoMoreAreForgottenInParts() {
        Tombstones tombstones = new Tombstones();
        NodeView node = new NodeView("n");
        Index index = new Index(1, new Random(1));
        index.beginSnapshot(node);
        for (int i = 0; i < 100; i++) {
            tombstones.shown(node, tombstone(i));
        }
        index.beginSnapshot(node);
        for (int i = 20; i < 30; i++) {
            tombstones.shown(node, tombstone(i));
        }

        assertThat(tombstones.dropUnconfirmed(node, 50)).isFalse();
        assertThat(tombstones.countOn(node)).isEqualTo(50);
        assertThat(tombstones.dropUnconfirmed(node, 40)).isTrue();
        assertThat(tombstones.countOn(node)).isEqualTo(10);
        assertThat(node.room.tombstoneSlots()).isEqualTo(10);
        for (int i = 0; i < 100; i++) {
            assertThat(tombstones.isDead(Key.of("k" + i), new ObjectId(1, 1))).isEqualTo(i >= 20 && i < 30);
        }
        assertThat(tombstones.drop(node, 9)).isFalse();
        assertThat(tombstones.drop(node, 9)).isTrue();
        assertThat(tombstones.size()).isZero();
    }

    @Test
    void aRoundOverTheTombstonesOfANodeComesByAllOfThem() {
        Tombstones tombstones = new Tombstones();
        NodeView node = new NodeView("n");
        assertThat(tombstones.nextOn(node)).isNull();
        List<Key> keys = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            keys.add(tombstones.shown(node, tombstone(i)).key);
        }

        List<Key> seen = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            seen.add(tombstones.nextOn(node).key);
        }

        assertThat(seen).containsExactlyElementsOf(keys);
        assertThat(tombstones.nextOn(node).key).isEqualTo(keys.getFirst());
    }

    private static DirectoryRecord line(int i) {
        return DirectoryRecord.committed(
                new ExtentRef(0, i, 1), new ObjectId(5, i), i * 4096L, 4096, 100, i, Key.of("k" + i));
    }

    private static DirectoryRecord tombstone(int i) {
        return new DirectoryRecord(
                RecordState.TOMBSTONE,
                new ExtentRef(0, i, 1),
                new ObjectId(5, i),
                i * 64L,
                64,
                0,
                0,
                Retention.NONE,
                Key.of("k" + i));
    }
}
