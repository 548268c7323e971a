// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A process with another memory comes under the name of a storage node, and the first one is back after that. */
class OtherMemoryTest {
    private static final long MIB = 1 << 20;

    @Test
    void whatWasRemovedIsNotReadWhenTheMemoryIsBackThatHadMissedIt() {
        Scenario pool = pool();
        pool.crash("b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        ModelNode first = pool.node("b");
        another(pool, "b");
        assertThat(pool.world.register().behind()).as("what it has is known").isEmpty();

        isBack(pool, first);
        staysRemoved(pool, first, "k");
    }

    /** A person may know where the former one is, and that something is there alone. */
    @Test
    void thatAMemoryTakesThePlaceOfAnotherIsSaidOnce() {
        Scenario pool = pool();
        String said = "node b is here with a new memory";
        pool.crash("b");
        pool.restart("b");
        pool.world.run(1_000);
        assertThat(pool.talkedTo().reports()).as("the same one is back").noneMatch(it -> it.contains(said));

        pool.crash("b");
        another(pool, "b");
        pool.pass(2_000);
        assertThat(pool.talkedTo().reports())
                .filteredOn(it -> it.contains(said))
                .hasSize(1);
    }

    @Test
    void norWhatWasRemovedWhileTheOtherMemoryWasInView() {
        Scenario pool = pool();
        ModelNode first = pool.node("b");
        pool.crash("b");
        another(pool, "b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);

        isBack(pool, first);
        staysRemoved(pool, first, "k");
    }

    @Test
    void norWhenALeaderComesThatHasSeenNeither() {
        Scenario pool = pool();
        ModelNode first = pool.node("b");
        pool.crash("b");
        lead(pool, 9);
        another(pool, "b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        pool.crash("b");
        lead(pool, 10);

        isBack(pool, first);
        staysRemoved(pool, first, "k");
    }

    /** Nothing of what it missed can come back, so it need not be known. */
    @Test
    void aNodeThatComesWithNothingHasCaughtUpThoughNoWitnessIsLeft() {
        Scenario pool = pool();
        pool.crash("b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        pool.crash("a");
        pool.talkedTo().crash();
        pool.node("a").wipe();
        pool.node("b").wipe();
        pool.node("a").start();
        pool.node("b").start();
        lead(pool, 9);
        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);
        assertThat(pool.world.register().behind()).isEmpty();
        assertThat(pool.world.register().witnesses()).isEmpty();

        pool.crash("a");
        assertThat(pool.remove("new", true)).isEqualTo(Status.OK);
        pool.restart("a");
        pool.pass(1_000);
        assertThat(pool.world.register().behind())
                .as("the same leader knows what it has missed")
                .isEmpty();
        assertThat(pool.find("new").status()).isEqualTo(Status.NOT_FOUND);
    }

    /** Its former memory does not have what the new one is told, and would be believed to have it. */
    @Test
    void aWitnessThatLostItsMemoryIsNoneUntilTheRegisterHasTheNewOne() {
        Scenario pool = pool();
        assertThat(pool.put("later", 100)).isEqualTo(Status.OK);
        ModelNode witness = pool.node("a");
        ModelNode behind = pool.node("b");
        pool.crash("b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        pool.crash("a");
        ModelNode other = pool.unexpectedNode("a", MIB);
        other.dial(pool.talkedTo());
        pool.world.run(20);
        long removal = pool.beginRemoval("later", true);
        for (int i = 0; i < 300 && !pool.isAnswered(removal); i++) {
            pool.world.run(1);
        }
        assertThat(pool.isAnswered(removal)).isTrue();
        other.crash();
        pool.talkedTo().crash();

        pool.nodes.put("a", witness);
        pool.world.listen(witness.address(), witness);
        witness.start();
        behind.start();
        lead(pool, 9);
        assertThat(pool.find("later").status()).isNotEqualTo(Status.OK);
        pool.pass(4 * Scenario.OBJECT_LEASE_MS);
        assertThat(pool.find("later").status()).isNotEqualTo(Status.OK);
    }

    /** What the register may not have yet is nothing to go by: the next leader would believe the first memory. */
    @Test
    void theOtherMemoryTakesPartWhenTheRegisterHasIt() {
        Scenario pool = pool();
        ModelNode first = pool.node("b");
        pool.crash("b");
        pool.world.cutLease(true);
        ModelNode other = another(pool, "b");
        long removal = pool.beginRemoval("k", true);
        pool.world.run(100);
        assertThat(pool.isAnswered(removal)).isFalse();
        assertThat(pool.reason("b")).isEqualTo("takes part when the leadership Lease has the number of its memory");
        other.crash();

        lead(pool, 9);
        pool.world.cutLease(false);
        isBack(pool, first);
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
        assertThat(first.directory()).extracting(DirectoryRecord::key).containsExactly(Key.of("k"));
    }

    /** It holds something, so it is no memory that was just made: maybe it was the node's before this one. */
    @Test
    void aMemoryThatHoldsSomethingIsEmptiedBeforeItIsTheNodes() {
        Scenario pool = pool();
        ModelNode first = pool.node("b");
        pool.crash("b");
        ModelNode other = another(pool, "b");
        assertThat(pool.upsert("k", 200)).isEqualTo(Status.OK);

        isBack(pool, first);
        pool.pass(2 * Scenario.OBJECT_LEASE_MS);
        assertThat(first.directory()).allMatch(record -> record.payloadLength() == 200);
        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);
        assertThat(first.directory())
                .as("it is the node's again")
                .anyMatch(it -> it.key().equals(Key.of("new")));

        first.crash();
        pool.nodes.put("b", other);
        pool.restart("b");
        pool.pass(2 * Scenario.OBJECT_LEASE_MS);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
    }

    /** No master was told the number of an SSD that a new memory did without. */
    @Test
    void anSsdIsNotBelievedBesideASecondNewMemoryWhenTheFirstDidWithoutIt() {
        Scenario pool =
                new Scenario().withNodes(10_880, "a", "b").withSsd(100 * 4096L).leading(7);
        pool.fill("k", 20);
        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        lead(pool, 8);
        ModelNode node = pool.node("a");
        String key = node.ssd().getFirst().key().toString();
        pool.crash("a");
        node.wipe();
        node.hideSsd(true);
        pool.restart("a");
        pool.world.run(1_000);
        assertThat(pool.remove(key, true)).isEqualTo(Status.NOT_FOUND);

        pool.crash("a");
        node.wipe();
        node.hideSsd(false);
        pool.restart("a");
        assertThat(node.ssd()).as("what the disk shows").anyMatch(it -> it.key().equals(Key.of(key)));
        pool.pass(60_000);
        assertThat(pool.find(key).status()).isEqualTo(Status.NOT_FOUND);
        assertThat(node.ssd()).noneMatch(it -> it.key().equals(Key.of(key)));
    }

    /** It was told of removals beside either memory. */
    @Test
    void whatIsOnTheSsdStaysWhenAMemoryOfBeforeIsEmptiedBesideIt() {
        Scenario pool =
                new Scenario().withNodes(10_880, "a", "b").withSsd(100 * 4096L).leading(7);
        pool.fill("k", 20);
        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        ModelNode node = pool.node("a");
        List<String> onSsd =
                node.ssd().stream().map(it -> it.key().toString()).sorted().toList();
        String removed = onSsd.getFirst();
        List<String> kept = onSsd.subList(1, onSsd.size());
        List<DirectoryRecord> inMemory = node.directory();
        assertThat(inMemory).isNotEmpty();
        assertThat(kept).isNotEmpty();

        pool.crash("a");
        node.hideMemory(true);
        pool.restart("a");
        pool.world.run(1_000);
        assertThat(kept).allMatch(key -> pool.find(key).status() == Status.OK);
        assertThat(pool.remove(removed, true)).isEqualTo(Status.OK);

        pool.crash("a");
        node.hideMemory(false);
        pool.restart("a");
        pool.pass(60_000);
        assertThat(node.directory())
                .as("what the register's memory did not have")
                .extracting(DirectoryRecord::extent)
                .doesNotContainAnyElementsOf(
                        inMemory.stream().map(DirectoryRecord::extent).toList());
        assertThat(kept).allMatch(key -> pool.find(key).status() == Status.OK);
        assertThat(pool.find(removed).status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);
    }

    /** The Lease never had the other one, and nothing was acknowledged on it. */
    @Test
    void aMemoryIsBelievedWhenTheOtherOneWasNeverWrittenDown() {
        Scenario pool = pool();
        ModelNode first = pool.node("b");
        pool.crash("b");
        pool.world.cutLease(true);
        another(pool, "b");

        isBack(pool, first);
        pool.pass(3 * Scenario.OBJECT_LEASE_MS);
        assertThat(first.directory()).extracting(DirectoryRecord::key).containsExactly(Key.of("k"));

        pool.world.cutLease(false);
        pool.world.run(1_000);
        assertThat(first.directory()).extracting(DirectoryRecord::key).containsExactly(Key.of("k"));
        assertThat(pool.talkedTo().core().holders(Key.of("k"))).contains("b");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        staysRemoved(pool, first, "k");
    }

    /** "k" is on both nodes, since a leader of before. */
    private static Scenario pool() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        lead(pool, 8);
        return pool;
    }

    /** A process of the same name begins with nothing. */
    private static ModelNode another(Scenario pool, String id) {
        ModelNode other = pool.unexpectedNode(id, MIB);
        other.dial(pool.talkedTo());
        pool.world.run(1_000);
        return other;
    }

    private static void isBack(Scenario pool, ModelNode first) {
        pool.node(first.id).crash();
        pool.nodes.put(first.id, first);
        pool.world.listen(first.address(), first);
        pool.restart(first.id);
        pool.world.run(1_000);
    }

    private static void staysRemoved(Scenario pool, ModelNode node, String key) {
        assertThat(pool.find(key).status()).isNotEqualTo(Status.OK);
        lead(pool, 20);
        assertThat(pool.find(key).status()).isNotEqualTo(Status.OK);
        pool.pass(4 * Scenario.OBJECT_LEASE_MS);
        assertThat(pool.find(key).status()).isEqualTo(Status.NOT_FOUND);
        assertThat(node.directory()).isEmpty();
        assertThat(pool.put("new", 100)).isEqualTo(Status.OK);
        assertThat(node.directory()).as("it takes part").isNotEmpty();
    }

    private static void lead(Scenario pool, long epoch) {
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.lead(next, epoch).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS + 100);
        pool.talkTo(next);
    }
}
