// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.report.PoolStatus.Node;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An engine that calls itself as a storage node of the pool will keeps no place, and says nothing for that node. */
class SquattedNamesTest {
    private static final long MIB = 1 << 20;
    private static final Tenant B = Tenant.of("b");

    private final Scenario pool = new Scenario().withNodes(MIB, "n", "m");

    private ModelNode engine(String id) {
        return pool.transientNode(id, MIB).ofTenant(B);
    }

    private Node status(String id) {
        return pool.talkedTo().status().nodes().stream()
                .filter(node -> node.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void theStorageNodeOfThatNameComesInWhenItIsExpected() {
        ModelNode squatter = engine("late");
        squatter.keep(new ObjectId(1, 1), B.qualify(Key.of("x")), 10, Retention.NONE);
        pool.leading(2);
        pool.world.run(2_000);
        assertThat(status("late").isTransient()).isTrue();

        pool.expect(Map.of("n", "", "m", "", "late", ""));
        pool.world.run(100);
        assertThat(pool.talkedTo().reports())
                .anySatisfy(
                        it -> assertThat(it).contains("node late away", "is a storage node of this pool from now on"));
        ModelNode late = pool.unexpectedNode("late", MIB);
        for (int i = 0; i < 10; i++) {
            squatter.dial(pool.talkedTo());
            late.dial(pool.talkedTo());
            pool.pass(1_000);
        }

        assertThat(status("late").isTransient()).isFalse();
        assertThat(status("late").objects()).isZero();
        assertThat(pool.world.register().members().get("late").isTransient()).isFalse();
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
    }

    /** It need not say what it is to hold the name. */
    @Test
    void soItDoesWhenTheOtherHasNotSaidWhatItIs() {
        pool.leading(1);
        MasterCore core = pool.talkedTo().core();
        long session = 1L << 40;
        NodePeer peer = new NodePeer("late", 1, "0.1.0", true, Optional.of(B));
        assertThat(core.nodeConnected(session, peer, pool.world.nowMs())).isEmpty();
        pool.expect(Map.of("n", "", "m", "", "late", ""));
        core.receive(session, new Heartbeat(), pool.world.nowMs());
        pool.unexpectedNode("late", MIB).dial(pool.talkedTo());
        pool.world.run(1_000);

        assertThat(status("late").isTransient()).isFalse();
        assertThat(pool.world.register().members()).containsKey("late");
    }

    @Test
    void anEngineIsNoStorageNodeThatIsAwayAndNotExpectedAnyMore() {
        pool.leading(1);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.world.run(1_000);
        pool.crash("m");
        pool.expectOnly("n");
        ModelNode squatter = engine("m");
        squatter.dial(pool.talkedTo());
        pool.world.run(1_000);

        assertThat(pool.talkedTo().core().expects("m")).isTrue();
        assertThat(pool.talkedTo().reports())
                .anySatisfy(it -> assertThat(it).contains("node m is set apart", "is a storage node of this pool"));
    }

    /** Ids of engines are no secret: each is shown to readers of what lies there. */
    @Test
    void anEngineOfAnotherTenantDoesNotTakeThePlaceOfOneThatIsSilent() {
        engine("e");
        pool.leading(1);
        pool.world.run(1_000);
        pool.crash("e");
        pool.world.run(100);
        MasterCore core = pool.talkedTo().core();
        NodePeer other = new NodePeer("e", 9, "0.1.0", true, Optional.of(Tenant.of("a")));
        assertThat(core.nodeConnected(1L << 40, other, pool.world.nowMs()))
                .hasValueSatisfying(it -> assertThat(it.message()).contains("another tenant's engine"));

        pool.restart("e");
        pool.world.run(1_000);
        assertThat(status("e").isTransient()).isTrue();
        assertThat(core.nodeConnected(1L << 41, other, pool.world.nowMs())).isPresent();
    }

    /** The register says whose an engine is that this leader has not met. */
    @Test
    void anEngineThatIsToComeConcernsItsOwnTenantAlone() {
        Tenant a = Tenant.of("a");
        engine("e");
        pool.leading(1);
        pool.world.run(1_000);
        assertThat(pool.world.register().members().get("e").tenant()).isEqualTo(B);
        pool.crash("e");
        ModelMaster next = pool.master();
        pool.lead(next, 2).talkTo(next);
        pool.world.run(1_000);

        assertThat(pool.as(B).find("x").status()).isEqualTo(Status.UNAVAILABLE);
        assertThat(pool.as(a).find("x").status()).isEqualTo(Status.NOT_FOUND);
        NodePeer other = new NodePeer("e", 9, "0.1.0", true, Optional.of(a));
        assertThat(next.core().nodeConnected(1L << 40, other, pool.world.nowMs()))
                .hasValueSatisfying(it -> assertThat(it.message()).contains("another tenant's engine"));
    }
}
