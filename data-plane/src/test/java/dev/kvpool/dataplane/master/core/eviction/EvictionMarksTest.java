// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import static org.assertj.core.api.Assertions.assertThat;

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
            new RetainedObjects(View.empty(1, 1 << 28, Set.of(), new NodesSetApart(), new Random(1)));

    @Test
    void directorySlotsCountLikeBytes() {
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
                List.of(new Segment(0, Medium.DRAM, 1_000_000, 10)),
                "a:50061",
                "",
                ""));
        new Index(1, new Random(1)).setUsable(node, true);
        for (int i = 0; i < 9; i++) {
            node.setAside(1);
        }
        EvictionRules rules = EvictionRules.between(0.50, 0.90);
        node.byteLimits.relax(node.capacityBytes(), rules);
        node.slotLimits.relax(node.capacitySlots(), rules);
        assertThat(new Eviction(List.of(node), rules, NOTHING_RETAINED, 0).isNeeded())
                .isFalse();

        node.setAside(1);
        assertThat(new Eviction(List.of(node), rules, NOTHING_RETAINED, 0).isNeeded())
                .isTrue();
    }
}
