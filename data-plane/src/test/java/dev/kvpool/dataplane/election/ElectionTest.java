// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.wire.message.Authority;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Each trap of leadership by Lease, with injected clocks and a Lease in memory. */
class ElectionTest extends ElectionScene {
    @Test
    void theFirstTakesAnAbsentLeaseAtOnceAndTheSecondStandsBy() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();

        assertThat(first.terms).containsExactly(new Authority(1, 1));
        assertThat(first.validUntilMs).isEqualTo(nowMs + 3_000);
        assertThat(second.leading).isFalse();
        assertThat(second.reason).isEqualTo("another master leads");
    }

    @Test
    void aReleasedLeaseIsTakenAtOnceWithTheNextEpoch() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();

        first.elector.round(PlainWishes.RELEASE);
        second.round();

        assertThat(first.leading).isFalse();
        assertThat(second.epoch()).isEqualTo(2);
        assertThat(store.lease().orElseThrow().holderName()).isEqualTo("b");
    }

    @Test
    void aLeaseThatIsNotRenewedIsTakenAfterItsDurationAndNotBefore() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        first.access.cut(true);

        nowMs += 4_999;
        second.round();
        assertThat(second.leading).isFalse();

        nowMs += 1;
        second.round();
        assertThat(second.epoch()).isEqualTo(2);
    }

    @Test
    void theOldLeaderStopsBeforeANewOneMayBegin() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        first.access.cut(true);

        boolean bothServe = false;
        while (!second.leading) {
            nowMs += 500;
            first.round();
            second.round();
            bothServe |= first.serves() && second.serves();
        }

        assertThat(bothServe).isFalse();
        assertThat(first.leading).isFalse();
        assertThat(first.reason).isEqualTo("the test cut the line");
    }

    @Test
    void eachRenewalIsAChangeThatTheOthersSee() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();

        for (int second20 = 0; second20 < 20; second20++) {
            nowMs += 1_000;
            first.round();
            second.round();
        }

        assertThat(second.leading).isFalse();
        assertThat(first.terms).hasSize(1);
        assertThat(first.validUntilMs).isEqualTo(nowMs + 3_000);
    }

    @Test
    void aMasterRestartedUnderTheSameNameIsSomebodyElse() {
        new Master("a", 1).round();
        Master reborn = new Master("a", 2).round();
        assertThat(reborn.leading).isFalse();

        nowMs += 5_000;
        reborn.round();

        assertThat(reborn.terms).containsExactly(new Authority(2, 2));
    }

    @Test
    void aDeletedLeaseDoesNotSendTheEpochBackwards() {
        knownEpoch = 41;
        Master first = new Master("a", 1).round();
        assertThat(first.epoch()).isEqualTo(42 + Election.UNSEEN_LEADERS);
        knownEpoch = first.epoch();

        store.delete();
        Master second = new Master("b", 2).round();
        first.round();

        assertThat(second.epoch()).isEqualTo(first.epoch() + 1 + Election.UNSEEN_LEADERS);
        assertThat(first.leading).isFalse();
    }

    @Test
    void aLeaderWhoseLeaseIsDeletedTakesItAgainWithAHigherEpoch() {
        Master first = new Master("a", 1).round();

        store.delete();
        nowMs += 1_000;
        first.round();

        assertThat(first.terms).containsExactly(new Authority(1, 1), new Authority(2 + Election.UNSEEN_LEADERS, 1));
    }

    @Test
    void anEpochThatSomebodySetBackIsRaisedAboveOurs() {
        Master first = new Master("a", 1).round();
        first.elector.round(PlainWishes.raise(9));

        store.edit(it -> new LeaseRecord(it.holder(), 5, it.acquireTime(), it.renewTime(), 3));
        first.round();

        assertThat(first.terms)
                .containsExactly(
                        new Authority(1, 1), new Authority(10, 1), new Authority(11 + Election.UNSEEN_LEADERS, 1));
        assertThat(store.lease().orElseThrow().transitions()).isEqualTo(11 + Election.UNSEEN_LEADERS);
    }

    @Test
    void wallClocksThatAreWrongDecideNothing() {
        Master future = new Master("a", 1, Duration.ofDays(400)).round();
        Master past = new Master("b", 2, Duration.ofDays(-400)).round();

        nowMs += 1_000;
        future.round();
        past.round();
        assertThat(future.leading).isTrue();
        assertThat(past.leading).isFalse();

        future.access.cut(true);
        nowMs += 5_000;
        past.round();
        assertThat(past.leading).isTrue();

        Master behind = new Master("c", 3, Duration.ofDays(800)).round();
        assertThat(behind.leading).isFalse();
    }

    @Test
    void aStolenLeaseEndsTheLeadershipAtOnce() {
        Master first = new Master("a", 1).round();

        store.edit(it -> new LeaseRecord("thief_1", 5, it.acquireTime(), it.renewTime(), it.transitions()));
        nowMs += 1_000;
        first.round();

        assertThat(first.leading).isFalse();
        assertThat(first.reason).isEqualTo("the Lease is no longer ours");
    }

    @Test
    void ofTwoThatWriteAtTheSameTimeOneWins() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        Master third = new Master("c", 3).round();
        first.access.cut(true);
        nowMs += 5_000;

        second.round();
        third.round();

        assertThat(second.leading).isTrue();
        assertThat(third.leading).isFalse();
    }

    @Test
    void aWriteWhoseAnswerWasLostIsNoLeadershipYet() {
        Master first = new Master("a", 1);
        first.access.loseAnswers(true);
        first.round();
        assertThat(first.leading).isFalse();

        first.access.loseAnswers(false);
        first.round();

        assertThat(first.terms).containsExactly(new Authority(2, 1));
    }

    @Test
    void aRaisedEpochIsAboveWhatWasAskedAndKeepsTheHolder() {
        Master first = new Master("a", 1).round();

        boolean granted = first.elector.round(PlainWishes.raise(17));

        assertThat(granted).isTrue();
        assertThat(first.terms).containsExactly(new Authority(1, 1), new Authority(18, 1));
        assertThat(first.elector.round(PlainWishes.raise(17))).isTrue();
        assertThat(first.terms).hasSize(2);
    }

    @Test
    void aRaiseThatCannotBeWrittenStaysWished() {
        Master first = new Master("a", 1).round();
        first.access.cut(true);

        assertThat(first.elector.round(PlainWishes.raise(17))).isFalse();

        first.access.cut(false);
        assertThat(first.elector.round(PlainWishes.raise(17))).isTrue();
        assertThat(first.epoch()).isEqualTo(18);
    }

    @Test
    void aLeaseThatClaimsToLastForEverIsBelievedForAMinute() {
        Master first = new Master("a", 1).round();
        store.edit(it -> new LeaseRecord("gone_1", Integer.MAX_VALUE, it.acquireTime(), it.renewTime(), 1));
        first.round();

        nowMs += 59_999;
        assertThat(first.round().leading).isFalse();
        nowMs += 1;
        assertThat(first.round().leading).isTrue();
    }

    @Test
    void releasingWhatIsNotOursChangesNothing() {
        new Master("a", 1).round();
        Master second = new Master("b", 2).round();

        second.elector.round(PlainWishes.RELEASE);

        assertThat(store.lease().orElseThrow().holderName()).isEqualTo("a");
    }

    @Test
    void timesThatDoNotFitAreRefused() {
        assertThatThrownBy(() -> new ElectionTimes(3_000, 5_000, 1_000))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0 < retry period < renew deadline < lease duration");
    }
}
