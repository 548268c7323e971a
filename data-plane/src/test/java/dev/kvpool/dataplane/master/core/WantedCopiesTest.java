// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import org.junit.jupiter.api.Test;

/** How many copies a new leader wants of what it finds: nodes do not know what a put asked for. */
class WantedCopiesTest {
    private static final long MIB = 1L << 20;

    @Test
    void whatATransientNodeHoldsBesideIsNotWanted() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        ModelNode engine = pool.transientNode("engine", MIB);
        engine.dial(pool.talkedTo());
        pool.world.run(50);
        GrantReply grant = pool.grant("k", 100);
        ObjectId id = grant.grants().getFirst().objectId();
        pool.publish(id, "k", pool.write(grant, "k", 100));
        for (String node : new String[] {"a", "b", "engine"}) {
            Status status = pool.node(node).write(Scenario.authority(7), id, Key.of("k"), 100, "k".hashCode());
            assertThat(status).isEqualTo(Status.OK);
        }
        pool.world.run(50);

        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Scenario.OBJECT_LEASE_MS + Scenario.LEASE_DURATION_MS);
        engine.crash();
        pool.world.run(60_000);

        assertThat(next.status().underReplicatedObjects())
                .as("two nodes can never have three copies")
                .isZero();
    }
}
