// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.wire.RecordState;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The numbers of a node's snapshots come round; what an old snapshot confirmed must not look confirmed by a new one. */
class SnapshotNumbersTest {
    private static final int ROUND = NodeReplicas.SNAPSHOT_MAX;

    private final Index index = new Index(1, new Random(1));
    private final NodeView node = new NodeView("n");

    private static DirectoryRecord line(int slot) {
        return new DirectoryRecord(
                RecordState.COMMITTED,
                new ExtentRef(0, slot, 1),
                new ObjectId(1, slot + 1),
                slot * 64L,
                64,
                64,
                0,
                Retention.NONE,
                Key.of("k" + slot));
    }

    private void wholeSnapshot(int objects) {
        index.beginSnapshot(node);
        for (int slot = 0; slot < objects; slot++) {
            index.commit(node, line(slot));
        }
        index.dropUnconfirmed(node, Integer.MAX_VALUE);
    }

    @Test
    void wholeSnapshotsMayFollowEachOtherForEver() {
        wholeSnapshot(2);
        for (int i = 0; i < ROUND + 10; i++) {
            wholeSnapshot(2);
        }
        assertThat(node.replicaCount()).isEqualTo(2);

        wholeSnapshot(1);
        assertThat(node.replicaCount()).isEqualTo(1);
    }

    @Test
    void theNumberAfterTheLastConfirmsNothing() {
        while (node.replicas.snapshot() < ROUND) {
            wholeSnapshot(1);
        }
        index.beginSnapshot(node);
        int replica = node.replicas.at(line(0).extent());
        assertThat(node.replicas.snapshot()).isEqualTo(1);
        assertThat(node.replicas.isConfirmed(replica)).isFalse();
        assertThat(node.replicas.hasUnconfirmed()).isTrue();
    }

    /** Each breaks off when it has named the first object of two, so the second keeps the number of the first snapshot. */
    @Test
    void aRoundOfSnapshotsThatAllBreakOffConfirmsNothing() {
        wholeSnapshot(2);
        int second = node.replicas.at(line(1).extent());
        for (int i = 0; i < 2 * ROUND + 10; i++) {
            index.beginSnapshot(node);
            assertThat(node.replicas.isConfirmed(second)).isFalse();
            index.commit(node, line(0));
        }
        index.dropUnconfirmed(node, Integer.MAX_VALUE);
        assertThat(node.replicaCount()).isEqualTo(1);
    }
}
