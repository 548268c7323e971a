// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.nativelib.Status;
import org.junit.jupiter.api.Test;

/** The versions a pool speaks and writes are its nodes', all of them, and only go up. */
class ActivationTest {
    private static final long MIB = 1 << 20;
    private static final ActiveVersions FIRST = new ActiveVersions(1, 1);
    private static final ActiveVersions SECOND = new ActiveVersions(2, 2);

    private static Scenario pool() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.nodes.values().forEach(node -> node.knowing(2, 2));
        return pool;
    }

    private static void raise(Scenario pool) {
        assertThat(pool.talkedTo().core().activate(SECOND, pool.world.nowMs())).isEmpty();
        pool.world.run(1_000);
    }

    @Test
    void nothingIsRaisedUnasked() {
        Scenario pool = pool();
        pool.world.run(60_000);

        assertThat(pool.nodes.values()).extracting(ModelNode::active).containsOnly(FIRST);
        assertThat(pool.talkedTo().status().active()).isEqualTo(FIRST);
    }

    @Test
    void aRaiseReachesEveryNodeAndIsShown() {
        Scenario pool = pool();

        raise(pool);

        assertThat(pool.nodes.values()).extracting(ModelNode::active).containsOnly(SECOND);
        PoolStatus status = pool.talkedTo().status();
        assertThat(status.active()).isEqualTo(SECOND);
        assertThat(status.nodes()).extracting(PoolStatus.Node::active).containsOnly(SECOND);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
    }

    @Test
    void withANodeAwayNothingBegins() {
        Scenario pool = pool();
        pool.crash("b");

        assertThat(pool.talkedTo().core().activate(SECOND, pool.world.nowMs()))
                .hasValueSatisfying(why -> assertThat(why).contains("not all expected nodes take part"));
        pool.world.run(1_000);
        assertThat(pool.node("a").active()).isEqualTo(FIRST);
    }

    @Test
    void theNextLeaderFinishesWhatOneBegan() {
        Scenario pool = pool();
        pool.node("b").mute(true);
        raise(pool);
        assertThat(pool.node("b").active()).as("it has not heard yet").isEqualTo(FIRST);
        assertThat(pool.talkedTo().status().active()).isEqualTo(SECOND);

        ModelMaster next = pool.master();
        pool.node("b").mute(false);
        pool.lead(next, 8);
        pool.talkTo(next).world.run(Bounds.COMMAND_WAIT_MS);

        assertThat(pool.nodes.values()).extracting(ModelNode::active).containsOnly(SECOND);
    }

    @Test
    void anEmptyNodeIsBroughtToWhereTheOthersAre() {
        Scenario pool = pool();
        raise(pool);
        pool.crash("c");
        pool.node("c").wipe();
        assertThat(pool.node("c").active()).isEqualTo(FIRST);

        pool.restart("c");
        pool.world.run(1_000);

        assertThat(pool.node("c").active()).isEqualTo(SECOND);
    }

    @Test
    void aNodeWhoseBuildDoesNotKnowItIsNotAskedAgainAndAgain() {
        Scenario pool = pool();
        pool.node("b").knowing(1, 1);

        raise(pool);
        pool.world.run(60_000);

        assertThat(pool.node("a").active()).isEqualTo(SECOND);
        assertThat(pool.node("b").active()).isEqualTo(FIRST);
        assertThat(pool.node("b").activationsHeard())
                .as("of both numbers, and of the wire alone")
                .isEqualTo(2);
    }

    /** As a node that lies may have said of a register that was set back. */
    @Test
    void aLayoutThatNoBuildKnowsHoldsUpNoWireVersion() {
        Scenario pool = pool();
        pool.nodes.values().forEach(node -> node.knowing(2, 1));

        raise(pool);

        assertThat(pool.nodes.values()).extracting(ModelNode::active).containsOnly(new ActiveVersions(2, 1));
        assertThat(pool.talkedTo().reports())
                .filteredOn(line -> line.contains("cannot be raised to"))
                .hasSameSizeAs(pool.nodes.values());
    }
}
