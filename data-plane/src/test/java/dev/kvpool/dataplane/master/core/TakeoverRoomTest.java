// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantLine;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A full pool after a change of leaders: all that was found is leased, and puts go on all the same, or are told when they
 * will.
 */
class TakeoverRoomTest {
    private static final long EXTENT = 1088;
    private static final EvictionRules RULES = new EvictionRules(0.90, 0.80, 0.10, 1_800_000, true);
    private static final long RECOVERY_MS = Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS;

    /** Longer than the eviction rests. */
    private static final long MOMENT_MS = 60;

    private long epoch = 7;

    private Scenario full(int extents) {
        Scenario pool =
                new Scenario().withRules(RULES).withNodes(extents * EXTENT, "a").leading(epoch);
        pool.world.run(RECOVERY_MS);
        // Without a tick between them nothing is evicted, so that the reserve is all that is left.
        fill(pool, "old", extents);
        return pool;
    }

    private static int fill(Scenario pool, String prefix, int atMost) {
        int put = 0;
        while (put < atMost && pool.put(prefix + "-" + put, 1000) == Status.OK) {
            put++;
        }
        return put;
    }

    private void changeLeaders(Scenario pool) {
        pool.standBy();
        ModelMaster next = pool.master();
        epoch++;
        pool.lead(next, epoch).talkTo(next);
    }

    private static GrantLine askFor(Scenario pool, String key, long bytes) {
        return pool.grant(key, bytes).grants().getFirst();
    }

    @Test
    void aLeaderUsesAQuarterOfTheReserveAndLeavesTheRestToTheNext() {
        Scenario pool = full(400);
        changeLeaders(pool);

        assertThat(fill(pool, "new", 400)).as("of 40 free").isEqualTo(10);
        changeLeaders(pool);
        assertThat(fill(pool, "newer", 400)).as("of 30 free").isEqualTo(7);
    }

    @Test
    void anObjectLargerThanAQuarterIsTakenAsTheFirst() {
        Scenario pool = full(400);
        changeLeaders(pool);

        assertThat(pool.put("large", 20 * EXTENT)).isEqualTo(Status.OK);
        assertThat(pool.put("small", 1000)).isEqualTo(Status.NO_SPACE);
    }

    @Test
    void aPutWorksAtOnceHoweverOftenLeadersChangeInAPoolUnderLoad() {
        Scenario pool = full(800);
        for (int change = 0; change < 12; change++) {
            changeLeaders(pool);
            assertThat(pool.put("first-" + change, 1000))
                    .as("after %d changes", change + 1)
                    .isEqualTo(Status.OK);
            fill(pool, "load-" + change, 800);
            pool.world.run(MOMENT_MS);
            fill(pool, "more-" + change, 800);
        }
        assertThat(pool.node("a").directory())
                .as("nothing of the old is evicted")
                .hasSizeGreaterThanOrEqualTo(720);
    }

    @Test
    void whatWasPutSinceGivesWayToWhatIsPutNext() {
        Scenario pool = full(400);
        changeLeaders(pool);
        int put = 0;
        for (int i = 0; i < 100; i++) {
            put += fill(pool, "new-" + i, 400);
            pool.world.run(MOMENT_MS);
        }

        assertThat(put).as("many times what is free").isGreaterThan(200);
        assertThat(pool.exists("old-0")).isEqualTo(Status.OK);
        assertThat(pool.exists("old-359")).isEqualTo(Status.OK);
    }

    @Test
    void whatWasPutSinceStaysAsLongAsThereIsRoomBesideIt() {
        Scenario pool = full(400);
        changeLeaders(pool);
        assertThat(fill(pool, "new", 5)).isEqualTo(5);
        pool.world.run(1_000);

        assertThat(pool.exists("new-0")).as("the node is above its watermark").isEqualTo(Status.OK);
    }

    @Test
    void whoFindsNoRoomIsToldWhenThereWillBeSome() {
        Scenario pool = full(400);
        changeLeaders(pool);
        int put = fill(pool, "new", 400);
        for (int i = 0; i < put; i++) {
            pool.exists("new-" + i);
        }
        askFor(pool, "waits", 1000);
        pool.world.run(MOMENT_MS);

        GrantLine refused = askFor(pool, "waits", 1000);
        assertThat(refused.status()).isEqualTo(Status.NO_SPACE);
        assertThat(refused.roomMs()).isBetween(Scenario.OBJECT_LEASE_MS - 200, Scenario.OBJECT_LEASE_MS);

        pool.world.run(refused.roomMs() + MOMENT_MS);
        assertThat(pool.put("waits", 1000)).isEqualTo(Status.OK);
    }

    @Test
    void whenTheLeasesOfWhatWasFoundEndTheOldestGoes() {
        Scenario pool = full(400);
        changeLeaders(pool);
        fill(pool, "new", 5);
        pool.world.run(RECOVERY_MS + MOMENT_MS);

        // The reserve reaches down to the upper mark: the marks leave room below it for as much as was put at once.
        assertThat(pool.node("a").directory()).hasSize(320 - 5);
        assertThat(pool.exists("old-0")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.exists("new-0")).isEqualTo(Status.OK);
    }

    @Test
    void inAPoolFullOfHardPinsNobodyIsToldToWait() {
        Scenario pool =
                new Scenario().withRules(RULES).withNodes(40 * EXTENT, "a").leading(epoch);
        pool.world.run(RECOVERY_MS);
        pool.keeping(Retention.of(false, true, 0, 0));
        fill(pool, "pinned", 40);
        askFor(pool, "waits", 1000);
        pool.world.run(MOMENT_MS);

        GrantLine refused = askFor(pool, "waits", 1000);
        assertThat(refused.status()).isEqualTo(Status.NO_SPACE);
        assertThat(refused.roomMs()).isZero();
    }

    @Test
    void aPoolWhoseNodesAreAllAwayIsUnavailableNotFull() {
        Scenario pool = new Scenario().withNodes(40 * EXTENT, "a").leading(epoch);
        pool.crash("a");

        assertThat(askFor(pool, "k", 1000).status()).isEqualTo(Status.UNAVAILABLE);
    }

    @Test
    void aNodeThatHadNoPlaceForAnObjectIsNotAskedAgainUntilItMayHaveOne() {
        Scenario pool = new Scenario().withNodes(40 * EXTENT, "a").leading(epoch);
        fill(pool, "k", 20);
        GrantReply grant = pool.grant("large", 3 * EXTENT);
        pool.publish(grant.grants().getFirst().objectId(), "large", List.of(), PutOutcome.NO_SPACE);

        GrantLine refused = askFor(pool, "large", 3 * EXTENT);
        assertThat(refused.status()).isEqualTo(Status.NO_SPACE);
        assertThat(refused.roomMs()).as("something is about to be evicted").isPositive();
        assertThat(askFor(pool, "small", 1000).status()).isEqualTo(Status.OK);

        pool.world.run(Bounds.NO_PLACE_MS + MOMENT_MS);
        assertThat(askFor(pool, "large", 3 * EXTENT).status()).isEqualTo(Status.OK);
    }

    @Test
    void aFreedExtentOfThatSizeEndsTheRefusal() {
        Scenario pool = new Scenario().withNodes(40 * EXTENT, "a").leading(epoch);
        fill(pool, "k", 5);
        GrantReply grant = pool.grant("other", 1000);
        pool.publish(grant.grants().getFirst().objectId(), "other", List.of(), PutOutcome.NO_SPACE);
        assertThat(askFor(pool, "next", 1000).status()).isEqualTo(Status.NO_SPACE);

        pool.remove("k-0", true);
        assertThat(askFor(pool, "next", 1000).status()).isEqualTo(Status.OK);
    }
}
