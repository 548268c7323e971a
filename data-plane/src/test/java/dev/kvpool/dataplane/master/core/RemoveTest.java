// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.nativelib.Status;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RemoveTest {
    private static final long MIB = 1 << 20;

    @Test
    void aRemovedObjectIsGoneFromItsNodes() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.put("k", 100);

        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("a").directory()).isEmpty();
        assertThat(pool.node("b").directory()).isEmpty();
        assertThat(pool.remove("k", false)).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void aLeasedObjectIsRemovedByForceOnly() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.exists("k");

        assertThat(pool.remove("k", false)).isEqualTo(Status.HAS_LEASE);
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        assertThat(pool.node("a").directory()).isEmpty();
    }

    @Test
    void theLeaseEndsByItself() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.find("k");

        pool.world.run(Scenario.OBJECT_LEASE_MS);

        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
    }

    @Test
    void theLeaseOfWhatWasReplacedWhileItsNodeWasAwayHolds() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.put("k", 100);
        pool.find("k");
        pool.crash(holder(pool));
        assertThat(pool.put("k", 200)).isEqualTo(Status.OK);

        // Who was told of the first one may be reading it there still.
        assertThat(pool.remove("k", false)).isEqualTo(Status.HAS_LEASE);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);

        pool.world.run(Scenario.OBJECT_LEASE_MS);
        assertThat(pool.remove("k", false)).isEqualTo(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    private static String holder(Scenario pool) {
        return Stream.of("a", "b", "c")
                .filter(node -> !pool.node(node).directory().isEmpty())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void whatIsBeingPutIsBusy() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.grant("k", 100);

        assertThat(pool.remove("k", true)).isEqualTo(Status.BUSY);
    }

    @Test
    void withOneOfTwoNodesAwayRemovalsHold() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.put("k", 100);
        pool.node("b").crash();
        pool.world.run(0);

        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);

        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.restart("b");
        pool.lead(next, 8).talkTo(next);
        pool.world.run(100);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void theAnswerWaitsForEveryNode() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.put("k", 100);
        pool.node("b").mute(true);

        long request = pool.beginRemoval("k", true);
        assertThat(pool.isAnswered(request)).isFalse();
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);

        pool.node("b").mute(false);
        pool.world.run(0);
        assertThat(pool.reply(request, RemoveReply.class).results()).containsExactly(Status.OK);
    }

    @Test
    void aSecondRemovalIsNotToldThatNothingIsThereWhileTheFirstMayFail() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.put("k", 100);
        pool.node("b").mute(true);
        pool.beginRemoval("k", true);

        assertThat(pool.remove("k", false)).isEqualTo(Status.BUSY);

        pool.node("b").mute(false);
        pool.world.run(0);
        assertThat(pool.remove("k", false)).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void aNodeThatDiesDuringARemovalBesideOthersHoldsItUpNoLonger() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.put("k", 100);
        pool.node("b").mute(true);
        long request = pool.beginRemoval("k", false);

        pool.node("b").crash();
        pool.world.run(100);
        assertThat(pool.reply(request, RemoveReply.class).results()).containsExactly(Status.OK);

        // The next leader finds what was left on it.
        pool.node("b").mute(false);
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.restart("b");
        pool.lead(next, 8).talkTo(next);
        pool.world.run(100);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void whatIsPutWhileARemovalGoesOnStays() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.put("k", 100);
        pool.node("b").mute(true);
        long request = pool.beginRemoval("k", false);
        pool.node("b").crash();
        pool.world.run(0);
        assertThat(pool.put("k", 200)).isEqualTo(Status.OK);
        pool.world.run(100);

        assertThat(pool.reply(request, RemoveReply.class).results()).containsExactly(Status.OK);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
        pool.node("b").mute(false);
        pool.restart("b");
        pool.world.run(100);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
    }

    @Test
    void aNodeThatDiesDuringARemovalBringsNothingBack() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.node("a").mute(true);
        long request = pool.beginRemoval("k", true);

        pool.node("a").crash();
        pool.world.run(100);
        assertThat(pool.reply(request, RemoveReply.class).results()).containsExactly(Status.UNAVAILABLE);

        pool.node("a").mute(false);
        pool.node("a").start();
        pool.node("a").dial(pool.talkedTo());
        pool.world.run(0);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("a").directory()).isEmpty();
    }

    @Test
    void aRemovalThatANodeNeverAnswersEndsByItsBound() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.node("a").mute(true);
        pool.node("a").heartbeatEvery(500);

        long request = pool.beginRemoval("k", true);
        pool.world.run(Bounds.REMOVE_WAIT_MS + 10);

        assertThat(pool.reply(request, RemoveReply.class).results()).containsExactly(Status.TIMEOUT);
    }

    @Test
    void aPatternSaysWhichKeysAreRemoved() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        for (String key : List.of("model-a/1", "model-a/2", "model-b/1")) {
            pool.put(key, 100);
        }
        pool.exists("model-a/2");

        assertThat(pool.removeMatching("^model-a/", false).removed()).isEqualTo(1);
        assertThat(pool.find("model-a/1").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.removeMatching("^model-a/", true).removed()).isEqualTo(1);
        assertThat(pool.find("model-a/2").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.find("model-b/1").status()).isEqualTo(Status.OK);
        assertThat(pool.removeMatching("(", true).status()).isEqualTo(Status.INVALID_ARGUMENT);
    }

    @Test
    void aPatternThatTakesLongHoldsUpNobody() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        String long1 = "a".repeat(4000);
        for (int i = 0; i < 20; i++) {
            pool.put(long1 + i, 10);
        }
        long request = pool.nextRequest();
        pool.send(new RemoveAllRequest(request, true, "(a?){60}(b|c)"));

        pool.world.run(10);
        assertThat(pool.isAnswered(request))
                .as("all were looked at in one tick")
                .isFalse();

        pool.world.run(1_000);
        assertThat(pool.reply(request, RemoveAllReply.class).removed()).isZero();
    }

    @Test
    void aRemovalOfManyAwaitsWhatOthersRemoveMeanwhile() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        pool.put("k", 100);
        pool.node("b").mute(true);
        pool.beginRemoval("k", false);
        long other = pool.nextRequest();
        pool.send(new RemoveAllRequest(other, true, "^x"));
        long request = pool.nextRequest();
        pool.send(new RemoveAllRequest(request, true, "^k"));
        pool.world.run(100);

        assertThat(pool.isAnswered(other)).as("k is not meant").isTrue();
        assertThat(pool.isAnswered(request)).as("k may be there again").isFalse();

        pool.node("b").mute(false);
        pool.world.run(0);
        RemoveAllReply reply = pool.reply(request, RemoveAllReply.class);
        assertThat(reply.status()).isEqualTo(Status.OK);
        assertThat(reply.removed()).as("the other one counts it").isZero();
    }

    @Test
    void aRemovalOfManySaysWhyOneStays() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        pool.put("l", 100);
        pool.grant("k", 50, 10_000, true);

        RemoveAllReply unforced = pool.removeMatching("^k", false);
        assertThat(unforced.status()).as("in use").isEqualTo(Status.OK);
        RemoveAllReply forced = pool.removeMatching(".", true);
        assertThat(forced.status()).isEqualTo(Status.BUSY);
        assertThat(forced.removed()).isEqualTo(1);
    }

    @Test
    void removeAllLeavesWhatIsLeased() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        for (int i = 0; i < 50; i++) {
            pool.put("k" + i, 100);
        }
        pool.exists("k7");

        RemoveAllReply reply = pool.removeAll(false);

        assertThat(reply.status()).isEqualTo(Status.OK);
        assertThat(reply.removed()).isEqualTo(49);
        assertThat(pool.node("a").directory()).hasSize(1);
        assertThat(pool.removeAll(true).removed()).isEqualTo(1);
        assertThat(pool.removeAll(true).removed()).isZero();
    }
}
