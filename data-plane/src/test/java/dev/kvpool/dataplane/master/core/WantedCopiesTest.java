// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How many copies a new leader wants of what it finds: nodes do not know what a put asked for. */
class WantedCopiesTest {
    private static final long MIB = 1L << 20;
    private static final String ENGINE = "engine";

    /** "k" has a copy on each of these nodes, and a master that has seen them all leads. */
    private static ModelMaster successor(Scenario pool, String... holders) {
        GrantReply grant = pool.grant("k", 100);
        ObjectId id = grant.grants().getFirst().objectId();
        for (String node : holders) {
            Status status = pool.node(node).write(Scenario.authority(7), id, Key.of("k"), 100, "k".hashCode());
            assertThat(status).isEqualTo(Status.OK);
        }
        pool.publish(
                id,
                "k",
                List.of(holders).stream().map(it -> pool.node(it).incarnation()).toList());
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        assertThat(next.core().holders(Key.of("k"))).containsExactlyInAnyOrder(holders);
        return next;
    }

    private static Scenario withEngine(String... nodes) {
        Scenario pool = new Scenario().withNodes(MIB, nodes).leading(7);
        pool.transientNode(ENGINE, MIB).dial(pool.talkedTo());
        pool.world.run(50);
        return pool;
    }

    @Test
    void whatATransientNodeHoldsBesideIsNotWantedWhenItIsGone() {
        Scenario pool = withEngine("a");
        ModelMaster next = successor(pool, "a", ENGINE);
        pool.node(ENGINE).crash();
        pool.world.run(Bounds.TRANSIENT_AWAY_MS + Scenario.REPAIR_DELAY_MS);

        assertThat(next.status().underReplicatedObjects())
                .as("one node can never have two copies")
                .isZero();
    }

    @Test
    void whatNodesThatStayHoldIsWantedAlsoBeyondThePoolsNumber() {
        Scenario pool = withEngine("a", "b");
        ModelMaster next = successor(pool, "a", "b");

        pool.crash("b");
        pool.world.run(100);

        assertThat(next.status().underReplicatedObjects()).isEqualTo(1);
    }
}
