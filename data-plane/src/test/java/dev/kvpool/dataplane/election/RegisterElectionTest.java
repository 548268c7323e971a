// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The register goes with the Lease: carried by everybody, changed by the leader alone. */
class RegisterElectionTest extends ElectionScene {
    private static final Register ONE = Register.NONE.enrolled(Set.of("a", "b")).as(1);
    private static final Register TWO =
            ONE.away(Set.of("b"), new ObjectId(1, 5)).as(2);

    private Register inTheLease() {
        return store.lease().orElseThrow().register();
    }

    @Test
    void aLeaderStoresItWithARenewalAndIsToldSo() {
        Master leader = new Master("a", 1).round();

        leader.store(new Authority(1, 1), ONE);

        assertThat(inTheLease()).isEqualTo(ONE);
        assertThat(leader.stored).isEqualTo(ONE);
        assertThat(leader.validUntilMs).isEqualTo(nowMs + 3_000);
    }

    @Test
    void renewalReleaseAndAcquisitionCarryItOver() {
        Master first = new Master("a", 1).round().store(new Authority(1, 1), ONE);
        first.round();
        assertThat(inTheLease()).isEqualTo(ONE);

        first.elector.round(PlainWishes.RELEASE);
        assertThat(inTheLease()).isEqualTo(ONE);

        Master second = new Master("b", 2).round();
        assertThat(second.register).isEqualTo(ONE);
        assertThat(inTheLease()).isEqualTo(ONE);
    }

    @Test
    void whoDoesNotLeadChangesNothing() {
        new Master("a", 1).round().store(new Authority(1, 1), ONE);

        Master standby = new Master("b", 2).store(new Authority(1, 2), TWO);

        assertThat(inTheLease()).isEqualTo(ONE);
        assertThat(standby.stored).isEqualTo(Register.NONE);
    }

    @Test
    void aLeaderOfALaterTermDoesNotStoreWhatAnEarlierOneWanted() {
        Master leader = new Master("a", 1).round().store(new Authority(1, 1), ONE);
        leader.elector.round(PlainWishes.raise(5));

        leader.store(new Authority(1, 1), TWO);

        assertThat(leader.epoch()).isEqualTo(6);
        assertThat(inTheLease()).isEqualTo(ONE);
        assertThat(leader.stored).isEqualTo(ONE);
    }

    @Test
    void anAnswerThatIsLostIsAskedForAgain() {
        Master leader = new Master("a", 1).round();
        leader.access.loseAnswers(true);
        leader.store(new Authority(1, 1), ONE);
        assertThat(leader.stored).isEqualTo(Register.NONE);

        leader.access.loseAnswers(false);
        leader.store(new Authority(1, 1), ONE);

        assertThat(leader.stored).isEqualTo(ONE);
    }

    @Test
    void whoHadReadItWritesItAgainWhenTheLeaseWasDeletedOrSetBack() {
        Master first = new Master("a", 1).round().store(new Authority(1, 1), ONE);
        Master second = new Master("b", 2).round();
        first.store(new Authority(1, 1), TWO);
        second.round();

        store.delete();
        second.round();
        assertThat(second.register).isEqualTo(TWO);
        assertThat(second.epoch()).isEqualTo(2 + Election.UNSEEN_LEADERS);

        store.edit(it -> new LeaseRecord("", 1, it.acquireTime(), it.renewTime(), 0, ONE));
        second.round();
        assertThat(inTheLease()).isEqualTo(TWO);
        assertThat(second.epoch()).isEqualTo(3 + 2 * Election.UNSEEN_LEADERS);
    }

    /** A leadership whose beginning was not answered is in no node's memory, but in that of the master which wrote it. */
    @Test
    void theOneOfALeaderAfterADeletedLeaseCountsAlsoForWhoWroteALeaseThatNoNodeHasHeardOf() {
        new Master("a", 1).round().store(new Authority(1, 1), TWO).elector.round(PlainWishes.RELEASE);
        Master unheard = new Master("b", 2);
        unheard.access.loseAnswers(true);
        unheard.round();
        unheard.access.loseAnswers(false);
        unheard.access.cut(true);
        store.delete();

        knownEpoch = 1;
        Master knowsNothing = new Master("c", 3).round();
        knowsNothing.store(knowsNothing.terms.getLast(), ONE);
        knowsNothing.elector.round(PlainWishes.RELEASE);
        unheard.access.cut(false);
        unheard.round();

        assertThat(unheard.leading).isTrue();
        assertThat(unheard.register).isEqualTo(ONE);
        assertThat(inTheLease()).isEqualTo(ONE);
    }

    @Test
    void theOneOfALaterLeaderCountsThoughItBeganAgainAtOne() {
        Master first = new Master("a", 1).round().store(new Authority(1, 1), TWO);
        store.delete();
        knownEpoch = 1;
        Master knowsNothing = new Master("b", 2).round();
        knowsNothing.store(knowsNothing.terms.getLast(), ONE);
        first.round();

        knowsNothing.elector.round(PlainWishes.RELEASE);
        first.round();

        assertThat(first.epoch()).isEqualTo(knowsNothing.epoch() + 1);
        assertThat(inTheLease()).isEqualTo(ONE);
    }
}
