// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Standings;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How long a node is passed by after a failed transfer. */
class StandingsTest {
    private final Clients clients = new Clients();
    private final Counters counters = new Counters();
    private final Standings standings = new Standings(clients, counters);
    private final NodeView node = new NodeView("a");

    /** The time for which the node is distrusted after a failure at this moment. */
    private long distrustedFor(long failedMs) {
        standings.transferFailed(node, failedMs);
        long untilMs = failedMs;
        while (standings.isDistrusted(node, untilMs)) {
            assertThat(standings.willingness(node, untilMs)).isZero();
            untilMs += 100;
        }
        assertThat(standings.willingness(node, untilMs)).isEqualTo(1);
        return untilMs - failedMs;
    }

    @Test
    void eachFailureSoonAfterTheLastPauseDoublesItUpToABound() {
        long nowMs = 1_000_000;
        for (long expectedMs : new long[] {1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000}) {
            assertThat(distrustedFor(nowMs)).isEqualTo(expectedMs);
            nowMs += expectedMs;
        }
        assertThat(counters.get(Count.NODES_DISTRUSTED)).isEqualTo(7);
    }

    @Test
    void aNodeThatDidWellForLongIsPassedByForAShortTimeAgain() {
        distrustedFor(0);
        long againMs = distrustedFor(Bounds.DISTRUST_MS_MIN + Bounds.DISTRUST_MS_MAX - 1);
        assertThat(againMs).isEqualTo(2 * Bounds.DISTRUST_MS_MIN);

        long laterMs = Bounds.DISTRUST_MS_MIN + Bounds.DISTRUST_MS_MAX - 1 + againMs + Bounds.DISTRUST_MS_MAX;
        assertThat(distrustedFor(laterMs)).isEqualTo(Bounds.DISTRUST_MS_MIN);
    }

    @Test
    void whatFailsDuringAPauseWasBegunBeforeItAndChangesNothing() {
        standings.transferFailed(node, 0);
        standings.transferFailed(node, Bounds.DISTRUST_MS_MIN - 1);

        assertThat(standings.isDistrusted(node, Bounds.DISTRUST_MS_MIN)).isFalse();
        assertThat(counters.get(Count.NODES_DISTRUSTED)).isEqualTo(1);
    }

    /** Of two tenants' clients one says of a node, again and again, that it cannot be written to. */
    @Test
    void whatWritersOfOneTenantSayCountsForThatTenant() {
        Tenant a = Tenant.of("a");
        Tenant b = Tenant.of("b");
        clients.connect(1, "", Optional.of(a), 0);
        clients.connect(2, "", Optional.of(b), 0);
        standings.writeFailed(node, b, 0);
        standings.tick(List.of(node), 1);
        assertThat(node.willingness(b)).isZero();
        assertThat(node.willingness(a)).isEqualTo(1);
        assertThat(standings.isDistrusted(node, 1)).isFalse();

        standings.writeFailed(node, a, 2);
        standings.tick(List.of(node), 3);
        assertThat(node.willingness(a)).as("two say so").isZero();
        assertThat(node.willingness(Tenant.DEFAULT)).isZero();

        standings.tick(List.of(node), Bounds.DISTRUST_MS_MIN + 2);
        assertThat(node.willingness(a)).isEqualTo(1);
        assertThat(node.willingness(b)).isEqualTo(1);
    }

    @Test
    void withoutTenantsItCountsForAll() {
        standings.writeFailed(node, Tenant.DEFAULT, 0);
        assertThat(standings.isDistrusted(node, 1)).isTrue();
    }

    @Test
    void anotherTermKnowsNothingOfIt() {
        standings.transferFailed(node, 0);
        standings.forget();

        assertThat(standings.isDistrusted(node, 1)).isFalse();
        assertThat(distrustedFor(1)).isEqualTo(Bounds.DISTRUST_MS_MIN);
    }

    @Test
    void aNodeThatCannotBeCopiedFromIsPassedByUntilTheCopySucceeds() {
        Scenario pool =
                new Scenario().withNodes(1 << 20, "a", "b").withReplicas(2).leading(7);
        pool.crash("b");
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.node("a").unreachable(true);
        pool.restart("b");
        while (count(pool, Count.COPIES_FAILED) == 0) {
            pool.world.run(10);
        }
        pool.world.run(10);

        for (int i = 0; i < 20; i++) {
            assertThat(pool.grantOne("x" + i, "a")).isFalse();
        }
        assertThat(count(pool, Count.NODES_DISTRUSTED)).isEqualTo(1);
        pool.node("a").unreachable(false);
        pool.world.run(Bounds.DISTRUST_MS_MIN + 2 * Bounds.REPAIR_REST_MS_MIN);
        assertThat(pool.node("b").directory()).hasSize(1);
        assertThat(pool.talkedTo().status().underReplicatedObjects()).isZero();
        boolean chosen = false;
        for (int i = 0; i < 20; i++) {
            chosen |= pool.grantOne("y" + i, "a");
        }
        assertThat(chosen).isTrue();
        assertThat(count(pool, Count.NODES_DISTRUSTED)).isEqualTo(1);
    }

    private static long count(Scenario pool, Count what) {
        return pool.talkedTo().status().counters().get(what);
    }
}
