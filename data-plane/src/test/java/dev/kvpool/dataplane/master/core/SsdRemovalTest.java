// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is removed or replaced does not come back from an SSD whose node loses its power, when that was acknowledged before. */
class SsdRemovalTest {
    /** Key of at most 64 bytes and 1000 bytes of payload: 64 + 1024. */
    private static final long EXTENT = 1088;

    private static final long TEN_OBJECTS = 10 * EXTENT;
    private static final long SSD_BYTES = 100 * 4096L;

    @Test
    void aRemovalThatIsWrittenDownWaitsForTheSsd() {
        Scenario pool = onSsds("a");
        String key = onSsd(pool, "a").getFirst();
        leaveGrantBehind(pool, key);
        pool.node("a").stallSsd(true);

        long removal = pool.beginRemoval(key, true);
        pool.world.run(1_000);
        assertThat(pool.node("a").tombstones()).as("it is written down").isNotEmpty();
        assertThat(pool.isAnswered(removal)).isFalse();

        pool.node("a").stallSsd(false);
        pool.world.run(0);
        assertThat(removed(pool, removal)).isEqualTo(Status.OK);
        losePower(pool, "a");
        assertThat(pool.find(key).status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void oneThatAPowerCutInterruptsIsWitnessedBeforeItIsAcknowledged() {
        // The other node has room for tombstones alone, so no grant is left behind there.
        Scenario pool = filled(new Scenario().withNodes(TEN_OBJECTS, "a").withNodes(512, "b"), 10);
        String key = onSsd(pool, "a").getFirst();
        leaveGrantBehind(pool, key);
        pool.node("a").stallSsd(true);
        long removal = pool.beginRemoval(key, true);
        pool.world.run(1_000);
        assertThat(pool.isAnswered(removal)).isFalse();

        pool.crash("a");
        pool.node("a").wipe();
        pool.world.run(1_000);
        assertThat(removed(pool, removal)).isEqualTo(Status.OK);

        assertThat(onSsd(pool, "a")).as("a new memory shows it").contains(key);
        pool.node("a").stallSsd(false);
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.restart("a");
        pool.world.run(1_000);
        assertThat(pool.find(key).status()).isEqualTo(Status.NOT_FOUND);
        pool.pass(2 * Scenario.OBJECT_LEASE_MS);
        assertThat(onSsd(pool, "a")).doesNotContain(key);
    }

    @Test
    void soIsOneOfAnObjectThatLiesInOnePlaceOnly() {
        Scenario pool = onSsds("a", "b");
        String key = onSsd(pool, "a").getFirst();
        pool.node("a").stallSsd(true);
        long removal = pool.beginRemoval(key, true);
        pool.crash("a");
        pool.node("a").wipe();
        pool.restart("a");
        pool.world.run(5_000);
        assertThat(pool.isAnswered(removal))
                .as("it has a new memory, and the record is still there")
                .isFalse();

        pool.node("a").stallSsd(false);
        pool.world.run(1_000);
        assertThat(removed(pool, removal)).isEqualTo(Status.OK);
        assertThat(onSsd(pool, "a")).doesNotContain(key);
    }

    @Test
    void onItsOwnItIsUnavailable() {
        Scenario pool = onSsds("a");
        String key = onSsd(pool, "a").getFirst();
        leaveGrantBehind(pool, key);
        pool.node("a").stallSsd(true);
        long removal = pool.beginRemoval(key, true);
        pool.crash("a");
        pool.pass(Bounds.COMMAND_WAIT_MS + 1_000);
        assertThat(removed(pool, removal)).isEqualTo(Status.UNAVAILABLE);
    }

    @Test
    void anUpsertWaitsForTheSsdThatHasWhatItReplaces() {
        Scenario pool = onSsds("a");
        String key = onSsd(pool, "a").getFirst();
        pool.node("a").stallSsd(true);

        long upsert = beginUpsert(pool, key);
        pool.world.run(1_000);
        assertThat(pool.find(key).replicas().getFirst().extent().segment())
                .as("readers see the new object")
                .isEqualTo(ExtentRef.MEMORY);
        assertThat(pool.isAnswered(upsert)).isFalse();

        pool.node("a").stallSsd(false);
        pool.world.run(0);
        assertThat(pool.published(upsert)).isEqualTo(Status.OK);
        losePower(pool, "a");
        assertThat(pool.find(key).status()).as("lost, and not what it replaced").isEqualTo(Status.NOT_FOUND);
    }

    /** Its readers ask again: they have no part in the memory of an SSD. */
    @Test
    void anUpsertWaitsForNoLeases() {
        Scenario pool = onSsds("a");
        String key = onSsd(pool, "a").getFirst();
        assertThat(pool.find(key).status()).isEqualTo(Status.OK);
        long upsert = beginUpsert(pool, key);
        pool.world.run(100);
        assertThat(pool.published(upsert)).isEqualTo(Status.OK);

        ModelMaster next = pool.master();
        pool.standBy();
        pool.lead(next, 8).talkTo(next);
        long again = beginUpsert(pool, onSsd(pool, "a").getFirst());
        pool.world.run(100);
        assertThat(pool.published(again)).as("all that was found is leased").isEqualTo(Status.OK);
    }

    @Test
    void anUpsertWaitsForWhatIsOnItsWayToTheSsd() {
        Scenario pool = new Scenario()
                .withNodes(2 * TEN_OBJECTS, "a")
                .withSsd(SSD_BYTES)
                .leading(7);
        pool.node("a").stallSsd(true);
        pool.fill("k", 19);
        pool.world.run(100);
        String key = pool.node("a").onTheirWayToSsd().getFirst().toString();

        long upsert = beginUpsert(pool, key);
        pool.world.run(1_000);
        assertThat(pool.isAnswered(upsert)).isFalse();

        pool.node("a").stallSsd(false);
        pool.world.run(100);
        assertThat(pool.published(upsert)).isEqualTo(Status.OK);
        assertThat(onSsd(pool, "a")).doesNotContain(key);
    }

    /** Seed 87 of tenants: the older one is out of sight while the newer one, which may be gone, lies on a node away. */
    @Test
    void anUpsertWaitsForTheSsdThatHasWhatOneOnANodeAwayHasOutdone() {
        Scenario pool = onSsds("a", "b");
        String key = outdoneByOneOnANodeAway(pool);
        pool.node("a").stallSsd(true);

        long upsert = beginUpsert(pool, key);
        pool.world.run(1_000);
        assertThat(pool.isAnswered(upsert)).isFalse();

        pool.node("a").stallSsd(false);
        pool.world.run(1_000);
        assertThat(pool.published(upsert)).isEqualTo(Status.OK);
        assertThat(onSsd(pool, "a")).doesNotContain(key);
    }

    @Test
    void soDoesARemoval() {
        Scenario pool = onSsds("a", "b");
        String key = outdoneByOneOnANodeAway(pool);
        pool.node("a").stallSsd(true);

        long removal = pool.beginRemoval(key, true);
        pool.world.run(1_000);
        assertThat(pool.isAnswered(removal)).isFalse();

        pool.node("a").stallSsd(false);
        pool.world.run(1_000);
        assertThat(removed(pool, removal)).isEqualTo(Status.OK);
        assertThat(onSsd(pool, "a")).doesNotContain(key);
    }

    @Test
    void anUpsertOfWhatIsInMemoryOnlyWaitsForNoSsd() {
        Scenario pool = onSsds("a");
        pool.node("a").stallSsd(true);
        assertThat(pool.upsert("k9", 1000)).as("at once").isEqualTo(Status.OK);
    }

    @Test
    void whatIsRemovedThoughItsSsdFailsStaysSoWhenTheSsdIsBackBesideANewMemory() {
        Scenario pool = onSsds("a", "b");
        String key = onSsd(pool, "a").getFirst();
        pool.node("a").stallSsd(true);
        long removal = pool.beginRemoval(key, true);
        pool.node("a").breakSsd("the disk is gone");
        pool.world.run(1_000);
        assertThat(removed(pool, removal)).isEqualTo(Status.OK);

        staysRemovedBesideANewMemory(pool, key);
    }

    @Test
    void soDoesWhatIsRemovedWhenTheSsdHasFailed() {
        Scenario pool = onSsds("a", "b");
        String key = onSsd(pool, "a").getFirst();
        pool.node("a").breakSsd("the disk is gone");
        pool.world.run(1_000);
        assertThat(pool.find(key).status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.put(key, 100)).isEqualTo(Status.OK);
        assertThat(pool.remove(key, true)).isEqualTo(Status.OK);

        staysRemovedBesideANewMemory(pool, key);
    }

    @Test
    void aLeaderThatFindsTheSsdFailedNotesIt() {
        Scenario pool = onSsds("a", "b");
        String key = onSsd(pool, "a").getFirst();
        pool.standBy();
        pool.node("a").breakSsd("the disk is gone");
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(1_000);
        assertThat(pool.put(key, 100)).isEqualTo(Status.OK);
        assertThat(pool.remove(key, true)).isEqualTo(Status.OK);

        staysRemovedBesideANewMemory(pool, key);
    }

    @Test
    void nothingIsAcknowledgedBeforeTheRegisterHasTheSsdThatFailed() {
        Scenario pool = onSsds("a", "b");
        String key = onSsd(pool, "a").getFirst();
        pool.world.cutLease(true);
        pool.node("a").breakSsd("the disk is gone");
        GrantReply granted = pool.grant("other", 100);
        long put = pool.publish(granted.grants().getFirst().objectId(), "other", pool.write(granted, "other", 100));
        long removal = pool.beginRemoval(onSsd(pool, "b").getFirst(), true);
        pool.world.run(1_000);
        assertThat(pool.isAnswered(put)).isFalse();
        assertThat(pool.isAnswered(removal)).isFalse();

        pool.world.cutLease(false);
        pool.world.run(100);
        assertThat(pool.published(put)).isEqualTo(Status.OK);
        assertThat(removed(pool, removal)).isEqualTo(Status.OK);
        assertThat(pool.find(key).status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void anSsdThatHadFailedTakesObjectsAgainWhenAllOfItIsGone() {
        Scenario pool = onSsds("a");
        pool.node("a").breakSsd("the disk is gone");
        pool.world.run(1_000);
        losePower(pool, "a");
        assertThat(onSsd(pool, "a")).as("readers may rely on it").isNotEmpty();
        pool.pass(2 * Scenario.OBJECT_LEASE_MS);
        assertThat(onSsd(pool, "a")).isEmpty();

        pool.fill("more", 10);
        pool.pass(2 * Scenario.OBJECT_LEASE_MS);
        List<String> there = onSsd(pool, "a");
        assertThat(there).isNotEmpty();
        losePower(pool, "a");
        for (String key : there) {
            assertThat(pool.exists(key)).as(key).isEqualTo(Status.OK);
        }
    }

    /** The memory is lost too, another leads that knows nothing but the register, and the disk is well again. */
    private static void staysRemovedBesideANewMemory(Scenario pool, String key) {
        pool.crash("a");
        pool.node("a").wipe();
        ModelMaster next = pool.master();
        pool.lead(next, 80).talkTo(next);
        pool.pass(Bounds.COLD_WAIT_MS);
        pool.restart("a");
        assertThat(onSsd(pool, "a")).as("what the disk shows").contains(key);
        assertThat(pool.find(key).status()).isNotEqualTo(Status.OK);

        pool.pass(60_000);
        assertThat(pool.find(key).status()).isEqualTo(Status.NOT_FOUND);
        assertThat(onSsd(pool, "a")).doesNotContain(key);
    }

    /** Objects of which half had to leave the memory of their nodes. */
    private static Scenario onSsds(String... nodes) {
        return filled(new Scenario().withNodes(TEN_OBJECTS, nodes), 10 * nodes.length);
    }

    private static Scenario filled(Scenario pool, int objects) {
        pool.withSsd(SSD_BYTES).leading(7);
        pool.fill("k", objects);
        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        return pool;
    }

    /** Its node was granted the key and has not shown an object of that grant. */
    private static void leaveGrantBehind(Scenario pool, String key) {
        GrantReply granted = pool.grant(key, 1000, 30_000, true);
        assertThat(granted.grants().getFirst().status()).isEqualTo(Status.OK);
        pool.publish(granted.grants().getFirst().objectId(), key, List.of(), PutOutcome.FAILED);
    }

    private static long beginUpsert(Scenario pool, String key) {
        GrantReply granted = pool.grant(key, 1000, 30_000, true);
        return pool.publish(granted.grants().getFirst().objectId(), key, pool.write(granted, key, 1000));
    }

    /** A key on the SSD of one node, of which a newer object was committed on another that died before it was published. */
    private static String outdoneByOneOnANodeAway(Scenario pool) {
        ModelMaster next = pool.master();
        String key = onSsd(pool, "a").getFirst();
        pool.standBy();
        pool.node("b").write(Scenario.authority(7), new ObjectId(7, 999), Key.of(key), 100, 1);
        pool.world.run(0);
        pool.crash("b");
        pool.lead(next, 8).talkTo(next);
        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        assertThat(pool.find(key).status()).isEqualTo(Status.UNAVAILABLE);
        return key;
    }

    private static void losePower(Scenario pool, String node) {
        pool.crash(node);
        pool.node(node).wipe();
        pool.restart(node);
        pool.world.run(1_000);
    }

    private static Status removed(Scenario pool, long request) {
        RemoveReply reply = pool.reply(request, RemoveReply.class);
        return reply.status() == Status.OK ? reply.results().getFirst() : reply.status();
    }

    private static List<String> onSsd(Scenario pool, String node) {
        return pool.node(node).ssd().stream()
                .map(DirectoryRecord::key)
                .map(Key::toString)
                .toList();
    }
}
