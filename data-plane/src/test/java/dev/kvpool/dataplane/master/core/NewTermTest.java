// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a leader finds that was left by the term before, its own or another's. */
class NewTermTest {
    private static final long MIB = 1 << 20;

    /** It may be that another leads by now; if not, the node is wrong, and nothing that it says outlives it. */
    @Test
    void aNodeThatShowsAnObjectOfAHigherEpochIsNotListenedTo() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(5);
        List<Long> raises = new ArrayList<>();
        pool.talkedTo().onRaise(raises::add);
        pool.node("a").write(Scenario.authority(5), new ObjectId(9, 1), Key.of("k"), 100, 1);
        pool.world.run(0);

        assertThat(pool.talkedTo().status().nodes())
                .filteredOn(node -> node.id().equals("a"))
                .singleElement()
                .satisfies(node -> assertThat(node.reason()).contains("object 9.1 of an epoch above"));
        assertThat(pool.put("other", 100)).isEqualTo(Status.OK);
        assertThat(raises).isEmpty();
    }

    @Test
    void whatALeaderGaveUpAndDidNotFreeIsDecidedAnewByTheNext() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(5);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.find("k");
        assertThat(pool.upsert("k", 200)).isEqualTo(Status.OK);
        pool.node("a").mute(true);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);

        pool.node("a").mute(false);
        pool.lead(pool.talkedTo(), 6);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
        pool.pass(Scenario.LEASE_DURATION_MS + 2 * Scenario.OBJECT_LEASE_MS);

        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
        assertThat(pool.node("a").directory()).hasSize(1);
    }
}
