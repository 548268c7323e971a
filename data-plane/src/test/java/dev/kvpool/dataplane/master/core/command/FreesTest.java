// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.IndexRoom;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.NodesSetApart;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FreesTest {
    @Test
    void freesThatATermHasNotSentAreTakenBackInParts() {
        Index index = new Index(1, new Random(1));
        Membership membership = new Membership(Set.of("n"), new NodesSetApart(), new IndexRoom(index));
        NodeView node = membership.connect(1, new NodePeer("n", 1, "test"), 0);
        Frees frees = new Frees(index, new Outbox(), () -> 1);
        index.beginSnapshot(node);
        index.setUsable(node, true);
        List<Boolean> told = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            StoredObject object = index.commit(node, line(i));
            frees.giveUp(object, Cause.REMOVED, new Frees.Removal(told::add));
        }
        assertThat(node.room.freeingSlots()).isEqualTo(100);

        frees.abandon(node);
        assertThat(frees.goOnTakingBack(40)).isFalse();
        assertThat(node.room.freeingSlots()).isEqualTo(60);
        assertThat(told).hasSize(40).containsOnly(false);
        frees.endTerm();
        assertThat(frees.goOnTakingBack(59)).isFalse();
        assertThat(frees.goOnTakingBack(59)).isTrue();
        assertThat(node.room.freeingSlots()).isZero();
        assertThat(told).as("who waited has been answered when the term ended").hasSize(40);
    }

    @Test
    void whoWantsWhatIsBeingFreedAlreadyHearsOfItToo() {
        Index index = new Index(1, new Random(1));
        Membership membership = new Membership(Set.of("n"), new NodesSetApart(), new IndexRoom(index));
        NodeView node = membership.connect(1, new NodePeer("n", 1, "test"), 0);
        Frees frees = new Frees(index, new Outbox(), () -> 1);
        index.beginSnapshot(node);
        index.setUsable(node, true);
        StoredObject object = index.commit(node, line(1));
        frees.giveUp(object, Cause.REPLACED, 0);
        List<Boolean> told = new ArrayList<>();
        List<Replica> replicas = new ArrayList<>();
        object.replicas().forEach(replicas::add);
        frees.trim(replicas, new Frees.Removal(told::add));
        assertThat(told).isEmpty();

        frees.abandon(node);
        assertThat(frees.goOnTakingBack(1)).isTrue();
        assertThat(told).as("its node was not told").containsExactly(false);
    }

    private static DirectoryRecord line(int i) {
        return DirectoryRecord.committed(
                new ExtentRef(0, i, 1), new ObjectId(5, i), i * 4096L, 4096, 100, i, Key.of("k" + i));
    }
}
