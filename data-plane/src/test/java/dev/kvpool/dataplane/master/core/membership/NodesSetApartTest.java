// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.core.membership.NodesSetApart.Cause;
import dev.kvpool.wire.RefusalCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** For how long a node is left out, and what ends that sooner. */
class NodesSetApartTest {
    private static final NodePeer PEER = new NodePeer("a", 1, "0.1.0");
    private static final NodePeer REPLACED = new NodePeer("a", 2, "0.1.0");

    private final NodesSetApart nodes = new NodesSetApart();

    @ParameterizedTest
    @CsvSource({"VIOLATION, 1000, 60000", "INDEX_FULL, 10000, 300000", "DEFECT, 10000, 3600000"})
    void theWaitDoublesUpToABound(Cause cause, long firstMs, long longestMs) {
        long nowMs = 5;
        long waitMs = firstMs;
        for (int i = 0; i < 20; i++) {
            nodes.setApart(PEER, cause, "why", nowMs);
            assertThat(isIn(PEER, nowMs + waitMs - 1)).isFalse();
            assertThat(isIn(PEER, nowMs + waitMs)).isTrue();
            nowMs += waitMs;
            nodes.admitted("a", nowMs);
            waitMs = Math.min(2 * waitMs, longestMs);
        }
        assertThat(waitMs).isEqualTo(longestMs);
    }

    @Test
    void theRefusalNamesTheNodeTheReasonAndTheWait() {
        nodes.setApart(PEER, Cause.VIOLATION, "gap in the stream", 0);

        Objection objection = nodes.objection(PEER, true, 1).orElseThrow();
        assertThat(objection.code()).isEqualTo(RefusalCode.SET_APART);
        assertThat(objection.message())
                .isEqualTo("node a is set apart for 1 s, less when its process is replaced: gap in the stream");
        assertThat(nodes.reason("a"))
                .hasValue("set apart for 1 s, less when its process is replaced: gap in the stream");
        assertThat(nodes.ids()).containsExactly("a");
        assertThat(nodes.objection(new NodePeer("b", 1, "0.1.0"), true, 1)).isEmpty();
    }

    @Test
    void anotherProcessIsAChange() {
        nodes.setApart(PEER, Cause.VIOLATION, "why", 0);
        assertThat(isIn(REPLACED, 0)).isTrue();

        nodes.setApart(PEER, Cause.INDEX_FULL, "why", 0);
        assertThat(isIn(REPLACED, 9_999)).as("it has what it had").isFalse();

        for (int i = 0; i < 5; i++) {
            nodes.setApart(PEER, Cause.DEFECT, "why", 0);
        }
        assertThat(isIn(PEER, 10_000)).isFalse();
        assertThat(isIn(REPLACED, 9_999)).as("each try costs the view").isFalse();
        assertThat(isIn(REPLACED, 10_000)).isTrue();
    }

    @Test
    void roomIsAChangeForWhatDidNotFit() {
        for (int i = 0; i < 5; i++) {
            nodes.setApart(PEER, Cause.INDEX_FULL, "why", 0);
        }
        assertThat(nodes.objection(PEER, false, 10_000)).isPresent();
        assertThat(nodes.objection(PEER, true, 10_000)).isEmpty();
    }

    @Test
    void whatBehavedForTenMinutesIsForgiven() {
        nodes.setApart(PEER, Cause.VIOLATION, "why", 0);
        nodes.setApart(PEER, Cause.VIOLATION, "why", 0);
        nodes.admitted("a", 10_000);
        nodes.tick(600_000);
        nodes.tick(610_001);

        nodes.setApart(PEER, Cause.VIOLATION, "why", 700_000);
        assertThat(isIn(PEER, 701_000)).isTrue();
    }

    @Test
    void nodesUnderMoreNamesThanAMasterFollowsPushTheOldestOut() {
        for (int i = 0; i <= Bounds.NODES_MAX; i++) {
            nodes.setApart(new NodePeer("n" + i, 1, "0.1.0"), Cause.VIOLATION, "why", i);
        }
        assertThat(nodes.ids()).hasSize(Bounds.NODES_MAX).doesNotContain("n0");
    }

    private boolean isIn(NodePeer peer, long nowMs) {
        return nodes.objection(peer, false, nowMs).isEmpty();
    }
}
