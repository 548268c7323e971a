// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.register.RegisterText;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.nativelib.Status;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a transient node holds counts as long as some leader would have told it of removals, and no longer. */
class EnrolmentTest {
    private static final long MIB = 1 << 20;
    private static final String ENGINE = "engine";

    /** Three expected nodes, and a transient one that holds "k" alone; the reader's lease on it has ended. */
    private static Scenario withKeyOnEngine() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        join(pool);
        putOnEngine(pool, "k");
        return pool;
    }

    private static void join(Scenario pool) {
        pool.transientNode(ENGINE, 64 * MIB).dial(pool.talkedTo());
        pool.world.run(50);
    }

    /** The transient node is so much larger than the others that it is chosen for all but a few puts. */
    private static void putOnEngine(Scenario pool, String key) {
        for (int i = 0; i < 100; i++) {
            assertThat(pool.put(key, 100)).isEqualTo(Status.OK);
            if (pool.talkedTo().core().holders(Key.of(key)).equals(List.of(ENGINE))) {
                return;
            }
            assertThat(pool.remove(key, true)).isEqualTo(Status.OK);
        }
        throw new AssertionError("no put went to " + ENGINE);
    }

    /** A master that only the expected nodes have dialled leads. */
    private static ModelMaster leaderThatHasNotHeardTheEngine(Scenario pool, long epoch) {
        pool.talkedTo().crash();
        ModelMaster fresh = pool.lonelyMaster();
        List.of("a", "b", "c").forEach(id -> pool.node(id).dial(fresh));
        pool.world.run(0);
        pool.lead(fresh, epoch).talkTo(fresh);
        pool.world.run(Bounds.FENCE_WAIT_WARM_MS + 20);
        return fresh;
    }

    private static boolean isEnrolled(Scenario pool) {
        return pool.world.register().isMember(ENGINE);
    }

    @Test
    void aTransientNodeIsWrittenDownBeforeItTakesAnything() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.world.cutLease(true);
        join(pool);

        for (int i = 0; i < 50; i++) {
            assertThat(pool.grantOne("before-" + i, ENGINE)).isFalse();
        }
        pool.world.cutLease(false);
        pool.world.run(50);

        assertThat(isEnrolled(pool)).isTrue();
        putOnEngine(pool, "k");
        assertThat(pool.talkedTo().status().tombstones()).as("it is none").isZero();
    }

    @Test
    void whatALeaderThatHasNotHeardItRemovesDoesNotComeBack() {
        Scenario pool = withKeyOnEngine();
        ModelMaster leader = leaderThatHasNotHeardTheEngine(pool, 8);

        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        pool.node(ENGINE).dial(leader);
        pool.world.run(1_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        assertThat(pool.node(ENGINE).directory()).isEmpty();
        assertThat(leader.status().tombstones())
                .as("lifted when all have heard")
                .isZero();
    }

    @Test
    void itsObjectsAreUnavailableWhileItMayStillCome() {
        Scenario pool = withKeyOnEngine();
        ModelMaster leader = leaderThatHasNotHeardTheEngine(pool, 8);
        assertThat(pool.find("k").status()).isEqualTo(Status.UNAVAILABLE);
        assertThat(pool.exists("k")).isEqualTo(Status.NOT_FOUND);

        pool.node(ENGINE).dial(leader);
        pool.world.run(100);

        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
    }

    @Test
    void whenItDoesNotComeItIsStruckOff() {
        Scenario pool = withKeyOnEngine();
        ModelMaster leader = leaderThatHasNotHeardTheEngine(pool, 8);
        pool.put("other", 100);
        assertThat(pool.remove("other", true)).isEqualTo(Status.OK);
        assertThat(leader.status().tombstones()).isEqualTo(1);

        pool.world.run(Bounds.TRANSIENT_AWAY_MS + 1_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(isEnrolled(pool)).isFalse();
        assertThat(leader.status().tombstones()).isZero();
    }

    @Test
    void afterItWasStruckOffItDropsWhatItHolds() {
        Scenario pool = withKeyOnEngine();
        pool.node(ENGINE).hangUp(pool.talkedTo());
        pool.world.run(Bounds.TRANSIENT_AWAY_MS + 1_000);
        assertThat(pool.remove("k", true)).isEqualTo(Status.NOT_FOUND);

        pool.node(ENGINE).dial(pool.talkedTo());
        pool.world.run(1_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node(ENGINE).directory())
                .as("readers may still rely on it")
                .hasSize(1);
        pool.world.run(Scenario.OBJECT_LEASE_MS);

        assertThat(pool.node(ENGINE).directory()).isEmpty();
        putOnEngine(pool, "k");
    }

    /** Seed 9303: a node that came back knew the epoch before, the register counted as lost, and for a minute whoever came was believed. */
    @Test
    void aNewPoolWhoseLeaderRaisesItsEpochHasLostNothing() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.node("a").hangUp(pool.talkedTo());
        pool.node("a").dial(pool.talkedTo());
        pool.world.run(50);

        pool.talkedTo().lead(new Authority(8, Scenario.authority(7).nonce()), Scenario.LEASE_DURATION_MS);
        pool.world.run(50);

        assertThat(pool.world.register().members()).containsOnlyKeys("a", "b", "c");
        assertThat(pool.world.register().open()).isFalse();
    }

    @Test
    void aStandbyThatNeverLostItBringsNothingBackEither() {
        Scenario pool = withKeyOnEngine();
        ModelMaster standby = pool.master();
        pool.node(ENGINE).hangUp(pool.talkedTo());
        pool.world.run(Bounds.TRANSIENT_AWAY_MS + 1_000);
        pool.put("k", 200);
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);

        pool.talkedTo().crash();
        pool.lead(standby, 8).talkTo(standby);
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS + 1_000);

        pool.talkTo(standby);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node(ENGINE).directory()).isEmpty();
    }

    @Test
    void norDoesAStandbyThatSawEveryNodeWithoutMemory() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c");
        ModelMaster standby = pool.master();
        pool.leading(7);
        join(pool);
        putOnEngine(pool, "k");
        pool.node(ENGINE).dial(standby);
        pool.world.run(10);
        pool.node(ENGINE).hangUp(pool.talkedTo());
        pool.world.run(Bounds.TRANSIENT_AWAY_MS + 1_000);

        pool.talkedTo().crash();
        pool.lead(standby, 8).talkTo(standby);
        assertThat(pool.find("k").status()).as("until it is freed").isEqualTo(Status.UNAVAILABLE);
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS + 1_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node(ENGINE).directory()).isEmpty();
    }

    @Test
    void aLeaderThatFindsItWrittenDownKeepsWhatItHolds() {
        Scenario pool = withKeyOnEngine();
        ModelMaster standby = pool.master();
        pool.talkedTo().crash();

        pool.lead(standby, 8).talkTo(standby);

        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
    }

    @Test
    void whenAllWhoHadItWrittenDownLostTheirMemoryItKeepsWhatItHolds() {
        Scenario pool = withKeyOnEngine();
        pool.talkedTo().crash();
        for (String id : List.of("a", "b", "c")) {
            pool.node(id).crash();
            pool.node(id).wipe();
            pool.node(id).start();
        }
        ModelMaster next = pool.master();

        pool.lead(next, 8).talkTo(next);

        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
        pool.world.run(50);
        assertThat(isEnrolled(pool)).isTrue();
    }

    @Test
    void afterAPurgeItIsWrittenDownAnew() {
        Scenario pool = withKeyOnEngine();

        assertThat(pool.removeAll(true).status()).isEqualTo(Status.OK);
        pool.world.run(Bounds.TOMBSTONE_PAUSE_MS + 100);
        assertThat(isEnrolled(pool)).isTrue();
        putOnEngine(pool, "k");
        ModelMaster standby = pool.master();
        pool.talkedTo().crash();
        pool.lead(standby, 8).talkTo(standby);

        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
    }

    /** One of many storage nodes with long names, in which engines have so many characters left. */
    private static Register withRoomForEngines(int chars) {
        Register register = Register.NONE.enrolled(Set.of("a")).as(1);
        int left = RegisterText.CHARS_FOR_ENGINES
                - chars
                - RegisterText.write(register).length();
        for (int i = 1000; left > 0; i++) {
            int length = Math.min(250, left - 1);
            register = register.enrolled(Set.of("x".repeat(Math.max(1, length - 4)) + i));
            left = RegisterText.CHARS_FOR_ENGINES
                    - chars
                    - RegisterText.write(register).length();
        }
        return register;
    }

    @Test
    void oneWithALongIdKeepsNoOtherOut() {
        Scenario pool = new Scenario().withNodes(MIB, "a");
        pool.world.setRegister(withRoomForEngines(100));
        pool.leading(7);
        String tooLong = "engine-of-a-long-name".repeat(6);
        for (String id : List.of(tooLong, ENGINE, "another")) {
            pool.transientNode(id, MIB).dial(pool.talkedTo());
        }
        pool.world.run(1_000);

        assertThat(pool.world.register().members())
                .containsKeys(ENGINE, "another")
                .doesNotContainKey(tooLong);
        assertThat(pool.talkedTo().reports())
                .filteredOn(line -> line.contains("the register is full"))
                .as("said, and not at every tick")
                .hasSizeBetween(1, 3);
    }
}
