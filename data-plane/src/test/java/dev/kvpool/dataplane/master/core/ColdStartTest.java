// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.nativelib.Status;
import org.junit.jupiter.api.Test;

/** How long a master that has not heard of every expected node waits for those that are missing. */
class ColdStartTest {
    private static final long MIB = 1 << 20;

    @Test
    void aColdStartWaitsForTheExpectedNodes() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        pool.put("k", 100);
        pool.talkedTo().crash();

        ModelMaster cold = pool.lonelyMaster();
        pool.lead(cold, 8).talkTo(cold);
        pool.node("a").dial(cold);
        pool.world.run(5_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.RECOVERING);
        assertThat(cold.status().notReady()).contains("taking over");

        pool.node("b").dial(cold);
        pool.world.run(0);
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
    }

    @Test
    void aColdStartServesAfterItsBoundWithoutTheNodesThatAreMissing() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        pool.put("k", 100);
        String holder = pool.lookup("k").nodes().getFirst().nodeId();
        String other = holder.equals("a") ? "b" : "a";
        ModelMaster cold = pool.lonelyMaster();
        pool.lead(cold, 8).talkTo(cold);
        pool.node(other).dial(cold);

        pool.world.run(Bounds.COLD_WAIT_MS);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);

        pool.node(holder).dial(cold);
        pool.world.run(0);
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
    }

    /** A client that is told so takes it for removed. */
    @Test
    void whatIsNotFoundToBeRemovedIsNotThereLaterEither() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        pool.put("k", 100);
        String holder = pool.lookup("k").nodes().getFirst().nodeId();
        pool.talkedTo().crash();
        ModelMaster cold = pool.lonelyMaster();
        pool.lead(cold, 8).talkTo(cold);
        pool.node(holder.equals("a") ? "b" : "a").dial(cold);
        pool.world.run(Bounds.COLD_WAIT_MS);

        assertThat(pool.remove("k", false)).isEqualTo(Status.NOT_FOUND);
        pool.node(holder).dial(cold);
        pool.world.run(1_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void aNodeThatWasDownAllTheTimeHoldsUpNoNewLeader() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        pool.crash("b");
        ModelMaster standby = pool.master();
        pool.world.run(Bounds.COLD_WAIT_MS);
        assertThat(standby.status().nodes()).as("it has never heard b").hasSize(2);

        pool.lead(standby, 8).talkTo(standby);
        pool.world.run(Bounds.FENCE_WAIT_WARM_MS);

        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
    }

    @Test
    void aStandbyThatHasJustStartedWaitsTheRestOfTheTimeForNodesItHasNotHeard() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        pool.crash("b");
        ModelMaster standby = pool.master();
        pool.world.run(4_000);

        pool.lead(standby, 8).talkTo(standby);
        pool.world.run(Bounds.COLD_WAIT_MS - 4_000 - 100);
        assertThat(pool.put("early", 100)).isEqualTo(Status.RECOVERING);
        pool.world.run(200);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
    }

    @Test
    void aStandbyThatNoNodeHasFoundIsNotReadyForAWhile() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        ModelMaster unknown = pool.lonelyMaster();
        unknown.standBy();
        pool.world.run(Bounds.FIRST_NODE_WAIT_MS / 2);
        assertThat(unknown.status().notReady()).isEqualTo("none of the 2 expected nodes has connected yet");
        assertThat(unknown.status().isHalfConnected()).isFalse();

        pool.node("a").dial(unknown);
        pool.world.run(100);
        assertThat(unknown.status().notReady()).isEmpty();
        assertThat(unknown.status().isHalfConnected()).isTrue();
    }

    @Test
    void aStandbyIsReadyInAPoolWhoseNodesAreAllBroken() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        ModelMaster unknown = pool.lonelyMaster();
        unknown.standBy();
        pool.world.run(Bounds.FIRST_NODE_WAIT_MS + 100);
        assertThat(unknown.status().notReady()).isEmpty();
        assertThat(unknown.status().isHalfConnected()).isFalse();
    }
}
