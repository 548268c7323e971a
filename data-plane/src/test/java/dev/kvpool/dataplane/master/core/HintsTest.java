// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.wire.message.ClientReply.HintReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Hinted;
import dev.kvpool.dataplane.wire.message.ClientRequest.HintRequest;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Hint;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What hints of clients keep and bring, and what they do not. Every object takes {@link #EXTENT} bytes; nodes hold ten. */
class HintsTest {
    private static final long EXTENT = 1088;
    private static final long TEN_OBJECTS = 10 * EXTENT;
    private static final long BLOCK = 4096;
    private static final long MINUTE = 60_000;

    /** What kv_group_id says of "a", and so what is in the records of its objects. */
    private static final Retention GROUP_A = Retention.of(false, false, 0, 0xaf63dc4c8601ec8cL);

    @Test
    void whatIsRetainedStaysWhileNewerObjectsGo() {
        Scenario pool = pool();
        pool.fill("kept", 3);
        retain(pool, "kept", 3);
        pool.fill("plain", 7);
        pool.world.run(20);

        assertThat(pool.present("a", "kept", 3)).isEqualTo(3);
        assertThat(pool.present("a", "plain", 7)).isEqualTo(2);
    }

    @Test
    void afterItsTimeItIsAsAnyOther() {
        Scenario pool = pool();
        pool.fill("kept", 3);
        retain(pool, "kept", 3);
        pool.pass(MINUTE);
        pool.fill("plain", 7);
        pool.world.run(20);

        assertThat(pool.present("a", "kept", 3)).isZero();
    }

    @Test
    void whatIsReleasedIsAsAnyOther() {
        Scenario pool = pool();
        pool.fill("kept", 3);
        retain(pool, "kept", 3);
        for (int i = 0; i < 3; i++) {
            assertThat(pool.hint(Hint.RELEASE, 0, false, "kept" + i)).isEqualTo(new Hinted(Status.OK, 1));
        }
        pool.fill("plain", 7);
        pool.world.run(20);

        assertThat(pool.present("a", "kept", 3)).isZero();
    }

    @Test
    void askedForAgainItIsRetainedForLonger() {
        Scenario pool = pool();
        pool.fill("kept", 3);
        retain(pool, "kept", 3);
        pool.pass(MINUTE / 2);
        retain(pool, "kept", 3);
        pool.pass(MINUTE * 3 / 4);
        pool.fill("plain", 7);
        pool.world.run(20);

        assertThat(pool.present("a", "kept", 3)).isEqualTo(3);
    }

    @Test
    void noMoreThanHalfOfTheMemoryIsRetained() {
        Scenario pool = pool();
        pool.fill("k", 7);
        retain(pool, "k", 5);
        assertThat(pool.hint(Hint.RETAIN, MINUTE, false, "k5").status()).isEqualTo(Status.NO_SPACE);
        assertThat(pool.hint(Hint.RETAIN, MINUTE, false, "k0").status())
                .as("it counts already")
                .isEqualTo(Status.OK);

        assertThat(pool.remove("k0", false)).isEqualTo(Status.OK);
        assertThat(pool.hint(Hint.RELEASE, 0, false, "k1").status()).isEqualTo(Status.OK);
        pool.world.run(20);
        assertThat(pool.hint(Hint.RETAIN, MINUTE, false, "k5").status()).isEqualTo(Status.OK);
        assertThat(pool.hint(Hint.RETAIN, MINUTE, false, "k1").status()).isEqualTo(Status.OK);
        assertThat(pool.hint(Hint.RETAIN, MINUTE, false, "k6").status()).isEqualTo(Status.NO_SPACE);
    }

    @Test
    void beforePutsFailItGoes() {
        Scenario pool = pool();
        pool.fill("kept", 4);
        retain(pool, "kept", 4);
        pool.keeping(Retention.of(false, true, 0, 0));
        pool.fill("pinned", 6);
        pool.world.run(200);

        assertThat(pool.put("one more", 1000)).isEqualTo(Status.OK);
        assertThat(pool.present("a", "pinned", 6)).isEqualTo(6);
        assertThat(pool.present("a", "kept", 4)).isLessThan(4);
        assertThat(pool.talkedTo().status().counters().get(Count.RETAINED_EVICTED))
                .isPositive();
    }

    @Test
    void whatWillSoonBeNoLongerLeasedIsWaitedFor() {
        Scenario pool = pool();
        pool.fill("kept", 4);
        retain(pool, "kept", 4);
        pool.fill("read", 5);
        pool.world.run(1);
        for (int i = 0; i < 5; i++) {
            pool.find("read" + i);
        }
        pool.put("one more", 1000);
        pool.world.run(200);

        assertThat(pool.present("a", "kept", 4)).isEqualTo(4);
    }

    @Test
    void itCanBeRemoved() {
        Scenario pool = pool();
        pool.fill("kept", 1);
        retain(pool, "kept", 1);
        assertThat(pool.remove("kept0", false)).isEqualTo(Status.OK);
    }

    @Test
    void theNextLeaderHasHeardNone() {
        Scenario pool = pool();
        pool.fill("kept", 3);
        retain(pool, "kept", 3);
        ModelMaster second = pool.master();
        pool.lead(second, 8).talkTo(second);
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        pool.fill("plain", 7);
        pool.world.run(20);

        assertThat(pool.present("a", "kept", 3)).isZero();
    }

    @Test
    void aGroupIsRetainedAsAWholeOrNotAtAll() {
        Scenario pool = pool().keeping(GROUP_A);
        pool.fill("grouped", 3);
        assertThat(pool.hint(Hint.RETAIN, MINUTE, true, "a")).isEqualTo(new Hinted(Status.OK, 3));
        pool.keeping(Retention.NONE);
        pool.fill("plain", 7);
        pool.world.run(20);
        assertThat(pool.present("a", "grouped", 3)).isEqualTo(3);

        assertThat(pool.hint(Hint.RELEASE, 0, true, "a")).isEqualTo(new Hinted(Status.OK, 3));
        pool.keeping(GROUP_A);
        pool.fill("later", 3);
        assertThat(pool.hint(Hint.RETAIN, MINUTE, true, "a").status()).isEqualTo(Status.NO_SPACE);
        assertThat(pool.hint(Hint.RETAIN, MINUTE, true, "another")).isEqualTo(new Hinted(Status.NOT_FOUND, 0));
    }

    @Test
    void aGroupIsRemovedAsOne() {
        Scenario pool = pool().keeping(GROUP_A);
        pool.fill("grouped", 3);
        pool.keeping(Retention.NONE);
        pool.fill("plain", 1);
        assertThat(pool.removeGroup("another", false)).isEqualTo(Status.NOT_FOUND);
        pool.find("grouped1");
        assertThat(pool.removeGroup("a", false)).isEqualTo(Status.HAS_LEASE);
        assertThat(pool.removeGroup("a", true)).isEqualTo(Status.OK);

        assertThat(pool.present("a", "grouped", 3)).isZero();
        assertThat(pool.present("a", "plain", 1)).isEqualTo(1);
        assertThat(pool.removeGroup("a", true)).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void whatIsPrefetchedComesBeforeItIsRead() {
        Scenario pool =
                new Scenario().withNodes(TEN_OBJECTS, "a").withSsd(100 * BLOCK).leading(7);
        pool.fill("k", 10);
        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        assertThat(pool.node("a").ssd()).isNotEmpty();

        assertThat(pool.hint(Hint.PREFETCH, 0, false, "k0")).isEqualTo(new Hinted(Status.OK, 1));
        assertThat(pool.hint(Hint.PREFETCH, 0, false, "k9")).isEqualTo(new Hinted(Status.OK, 0));
        assertThat(pool.hint(Hint.PREFETCH, 0, false, "none").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(100);
        assertThat(pool.hint(Hint.PREFETCH, 0, false, "k0")).isEqualTo(new Hinted(Status.OK, 0));
        assertThat(pool.find("k0").replicas())
                .extracting(replica -> replica.extent().segment())
                .startsWith(ExtentRef.MEMORY);
    }

    @Test
    void whatIsRetainedIsNotMovedToTheSsd() {
        Scenario pool =
                new Scenario().withNodes(TEN_OBJECTS, "a").withSsd(100 * BLOCK).leading(7);
        pool.fill("kept", 3);
        retain(pool, "kept", 3);
        pool.fill("plain", 7);
        pool.world.run(Scenario.OBJECT_LEASE_MS);

        assertThat(pool.node("a").ssd()).isNotEmpty();
        assertThat(pool.present("a", "kept", 3)).isEqualTo(3);
    }

    @Test
    void whatCannotBeIsRefused() {
        Scenario pool = pool();
        pool.fill("k", 1);
        for (long ms : new long[] {0, Bounds.RETAIN_MS_MAX + 1}) {
            assertThat(pool.hint(Hint.RETAIN, ms, false, "k0").status()).isEqualTo(Status.INVALID_ARGUMENT);
        }
        assertThat(pool.hint(Hint.RELEASE, 1, false, "k0").status()).isEqualTo(Status.INVALID_ARGUMENT);
        assertThat(pool.hint(Hint.RETAIN, 1, false, "").status()).isEqualTo(Status.INVALID_KEY);
        assertThat(pool.hint(Hint.RETAIN, 1, true, "").status()).isEqualTo(Status.INVALID_KEY);
        HintRequest twoGroups =
                new HintRequest(pool.nextRequest(), Hint.RETAIN, 1, true, List.of(Key.of("a"), Key.of("b")));
        pool.send(twoGroups);
        assertThat(pool.reply(twoGroups.requestId(), HintReply.class).status()).isEqualTo(Status.INVALID_ARGUMENT);
    }

    private static Scenario pool() {
        return new Scenario().withNodes(TEN_OBJECTS, "a").leading(7);
    }

    private static void retain(Scenario pool, String prefix, int objects) {
        for (int i = 0; i < objects; i++) {
            assertThat(pool.hint(Hint.RETAIN, MINUTE, false, prefix + i)).isEqualTo(new Hinted(Status.OK, 1));
        }
    }
}
