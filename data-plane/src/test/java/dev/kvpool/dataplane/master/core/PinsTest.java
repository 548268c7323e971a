// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import org.junit.jupiter.api.Test;

/** What pins and groups keep, and what they do not. Every object takes {@link #EXTENT} bytes; nodes hold ten. */
class PinsTest {
    private static final long EXTENT = 1088;
    private static final long TEN_OBJECTS = 10 * EXTENT;
    private static final long MINUTE = 60_000;
    private static final Retention HARD = Retention.of(false, true, 0, 0);

    @Test
    void aHardPinIsNeverEvicted() {
        Scenario pool = pool();
        pool.keeping(HARD);
        pool.fill("pinned", 4);
        pool.keeping(Retention.NONE);
        pool.fill("plain", 6);
        pool.world.run(20);

        assertThat(pool.present("a", "pinned", 4)).isEqualTo(4);
        assertThat(pool.present("a", "plain", 6)).isEqualTo(1);
    }

    @Test
    void aPoolFullOfHardPinsIsFullAndSaysSo() {
        Scenario pool = pool().keeping(HARD);
        pool.fill("pinned", 10);
        pool.world.run(200);

        assertThat(pool.put("one more", 1000)).isEqualTo(Status.NO_SPACE);
        pool.world.run(200);
        assertThat(pool.put("one more", 1000)).isEqualTo(Status.NO_SPACE);
        assertThat(pool.present("a", "pinned", 10)).isEqualTo(10);
        assertThat(count(pool, Count.EVICTIONS_SHORT)).isPositive();
    }

    @Test
    void softlyPinnedObjectsGoOnlyWhenNothingElseIsLeft() {
        Scenario pool = pool().keeping(soft(0));
        pool.fill("soft", 6);
        pool.keeping(Retention.NONE);
        pool.fill("plain", 4);
        pool.world.run(20);

        assertThat(pool.present("a", "plain", 4))
                .as("the warmer ones without a pin went first")
                .isZero();
        assertThat(pool.present("a", "soft", 6)).isEqualTo(5);
    }

    @Test
    void withoutLeaveSoftPinsAreAsGoodAsHardOnes() {
        Scenario pool = new Scenario()
                .withRules(new EvictionRules(0.90, 0.50, 0, 30 * MINUTE, false))
                .withNodes(TEN_OBJECTS, "a")
                .leading(7)
                .keeping(soft(0));
        pool.fill("soft", 10);
        pool.world.run(200);

        assertThat(pool.present("a", "soft", 10)).isEqualTo(10);
    }

    @Test
    void aSoftPinEndsItsTimeAfterTheLastUse() {
        Scenario pool = pool().keeping(soft(MINUTE));
        pool.fill("soft", 6);
        pool.pass(40_000);
        pool.find("soft0");
        pool.pass(40_000);
        pool.keeping(soft(0));
        pool.fill("later", 4);
        pool.world.run(20);

        assertThat(pool.present("a", "soft", 6))
                .as("five had run out, one was used")
                .isEqualTo(1);
        assertThat(pool.exists("soft0")).isEqualTo(Status.OK);
        assertThat(pool.present("a", "later", 4)).isEqualTo(4);
    }

    @Test
    void pinsOutliveTheirLeader() {
        Scenario pool = pool().keeping(HARD);
        pool.fill("pinned", 4);
        pool.keeping(Retention.NONE);
        pool.fill("plain", 5);
        ModelMaster second = pool.master();
        pool.lead(second, 8).talkTo(second);
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);

        pool.put("one more", 1000);
        pool.world.run(20);

        assertThat(pool.present("a", "pinned", 4)).isEqualTo(4);
        assertThat(pool.present("a", "plain", 5)).isLessThan(5);
    }

    @Test
    void aPinnedObjectCanBeRemovedAndReplaced() {
        Scenario pool = pool().keeping(HARD);
        pool.fill("pinned", 2);

        assertThat(pool.remove("pinned0", false)).isEqualTo(Status.OK);
        assertThat(pool.upsert("pinned1", 500)).isEqualTo(Status.OK);
        assertThat(pool.find("pinned1").payloadLength()).isEqualTo(500);
    }

    @Test
    void anUpsertKeepsTheSoftPinOfWhatItReplacesWhereThatIsAskedFor() {
        Scenario pool = pool().keeping(soft(0));
        pool.fill("kept", 3);
        pool.fill("dropped", 3);
        pool.keeping(Retention.NONE);
        replace(pool, "dropped", 3);
        pool.keepingSoftPins();
        replace(pool, "kept", 3);
        pool.fill("plain", 4);
        pool.world.run(20);

        assertThat(pool.present("a", "kept", 3)).isEqualTo(3);
        assertThat(pool.present("a", "dropped", 3)).isZero();
    }

    private static void replace(Scenario pool, String prefix, int count) {
        for (int i = 0; i < count; i++) {
            assertThat(pool.upsert(prefix + i, 1000)).isEqualTo(Status.OK);
            pool.world.run(20); // the old one's room comes back
        }
    }

    @Test
    void aSoftPinThatIsOverIsNotKept() {
        Scenario pool = pool().keeping(soft(MINUTE));
        pool.put("ended", 1000);
        pool.pass(2 * MINUTE);
        pool.keeping(Retention.NONE).keepingSoftPins();

        Retention granted =
                pool.grant("ended", 1000, 30_000, true).grants().getFirst().retention();
        assertThat(granted.soft()).isFalse();
    }

    @Test
    void whatIsReplacedPassesOnItsSoftPinAloneAndWithItsLength() {
        Scenario pool = pool().keeping(Retention.of(true, true, MINUTE, 7));
        pool.put("k", 1000);
        pool.keeping(group(9)).keepingSoftPins();

        Retention granted =
                pool.grant("k", 1000, 30_000, true).grants().getFirst().retention();
        assertThat(granted.soft()).isTrue();
        assertThat(granted.softMs()).isEqualTo(MINUTE);
        assertThat(granted.hard()).isFalse();
    }

    @Test
    void aLeaseOnOneOfAGroupKeepsAll() {
        Scenario pool = pool().keeping(group(7));
        pool.fill("grouped", 4);
        pool.keeping(Retention.NONE);
        pool.fill("plain", 5);
        pool.find("grouped2");
        pool.put("one more", 1000);
        pool.world.run(20);

        assertThat(pool.node("a").directory())
                .filteredOn(line -> line.key().toString().startsWith("grouped"))
                .hasSize(4);
        assertThat(pool.present("a", "plain", 5)).isZero();
        assertThat(pool.remove("grouped0", false)).isEqualTo(Status.HAS_LEASE);
        assertThat(pool.remove("grouped0", true)).isEqualTo(Status.OK);
    }

    @Test
    void aGroupIsEvictedTogether() {
        Scenario pool = pool();
        pool.fill("plain", 1);
        pool.keeping(group(7));
        pool.fill("grouped", 6);
        pool.keeping(Retention.NONE);
        pool.fill("later", 3);
        pool.world.run(20);

        assertThat(pool.present("a", "grouped", 6)).isZero();
        assertThat(pool.present("a", "later", 3)).isEqualTo(3);
    }

    @Test
    void aGroupUsedLatelyIsWarmAsAWhole() {
        Scenario pool = pool().keeping(group(7));
        pool.fill("grouped", 4);
        pool.keeping(Retention.NONE);
        pool.fill("plain", 5);
        pool.find("grouped3");
        pool.world.run(Scenario.OBJECT_LEASE_MS);
        pool.put("one more", 1000);
        pool.world.run(20);

        assertThat(pool.present("a", "grouped", 4))
                .as("no lease any more, but used after the others")
                .isEqualTo(4);
        assertThat(pool.present("a", "plain", 5)).isZero();
    }

    @Test
    void hardPinnedMembersStayWhenTheirGroupGoes() {
        Scenario pool = pool().keeping(Retention.of(false, true, 0, 7));
        pool.fill("pinned", 1);
        pool.keeping(group(7));
        pool.fill("grouped", 4);
        pool.keeping(Retention.NONE);
        pool.fill("plain", 5);
        pool.world.run(20);

        assertThat(pool.present("a", "pinned", 1)).isEqualTo(1);
        assertThat(pool.present("a", "grouped", 4)).isZero();
    }

    private static Scenario pool() {
        return new Scenario().withNodes(TEN_OBJECTS, "a").leading(7);
    }

    private static Retention soft(long ms) {
        return Retention.of(true, false, ms, 0);
    }

    private static Retention group(long number) {
        return Retention.of(false, false, 0, number);
    }

    private static long count(Scenario pool, Count what) {
        return pool.talkedTo().status().counters().get(what);
    }
}
