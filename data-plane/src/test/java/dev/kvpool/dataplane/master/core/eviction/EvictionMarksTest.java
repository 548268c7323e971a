// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.NodesSetApart;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.wire.Medium;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EvictionMarksTest {
    private static final RetainedObjects NOTHING_RETAINED =
            new RetainedObjects(View.empty(1, 1 << 28, Set.of(), new NodesSetApart(), new Random(1)), new Clients());

    private static NodeView node(long bytes, int slots) {
        NodeView node = new NodeView("a");
        node.introduced(new NodeInfo(
                Authority.NONE,
                ObjectId.NONE,
                0,
                ObjectId.NONE,
                false,
                Restored.NOTHING,
                1,
                ActiveVersions.UNKNOWN,
                List.of(new Segment(0, Medium.DRAM, bytes, slots)),
                "a:50061",
                "",
                ""));
        new Index(1, new Random(1)).setUsable(node, true);
        return node;
    }

    @Test
    void directorySlotsCountLikeBytes() {
        NodeView node = node(1_000_000, 10);
        for (int i = 0; i < 9; i++) {
            node.room.setAside(1);
        }
        EvictionRules rules = EvictionRules.between(0.50, 0.90);
        node.room.relaxLimits(rules);
        assertThat(new Eviction(List.of(node), rules, NOTHING_RETAINED, 0).isNeeded())
                .isFalse();

        node.room.setAside(1);
        assertThat(new Eviction(List.of(node), rules, NOTHING_RETAINED, 0).isNeeded())
                .isTrue();
    }

    /** Puts find no room above 980: with the upper mark at 900 the half of it is 940, with both marks lower by 20 it is 930. */
    @Test
    void anSsdIsWaitedForUntilHalfOfTheRoomAboveTheMarkIsUsed() {
        EvictionRules rules = new EvictionRules(0.90, 0.80, 0.02, 1, true);
        NodeView node = node(1_000, 100);
        node.room.tick(0);
        node.room.setAside(935);
        assertThat(isUrgent(node, rules)).as("as much may be asked for again").isTrue();

        node.room.tick(50);
        node.room.tick(3_600_000);
        assertThat(isUrgent(node, rules)).isFalse();
        node.room.setAside(10);
        assertThat(isUrgent(node, rules)).isTrue();
    }

    private static boolean isUrgent(NodeView node, EvictionRules rules) {
        node.room.relaxLimits(rules);
        return new Eviction(List.of(node), rules, NOTHING_RETAINED, 0).isUrgentOn(node);
    }
}
