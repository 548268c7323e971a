// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.Authority;
import org.junit.jupiter.api.Test;

/** A Lease is taken before it runs out: when that is allowed, and what is then known of the leaders before. */
class EarlyElectionTest extends ElectionScene {
    @Test
    void theLeaseOfAHolderThatIsGoneIsTakenAtOnceWithTheNextEpoch() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();

        nowMs += 10;
        second.elector.round(PlainWishes.gone(first.terms.getLast(), nowMs));

        assertThat(second.terms).containsExactly(new Authority(2, 2));
        assertThat(second.validUntilMs).isEqualTo(nowMs + 3_000);
        assertThat(first.round().leading).as("should it live after all").isFalse();
    }

    @Test
    void theLeaseIsNotTakenFromAnybodyElse() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();

        second.elector.round(PlainWishes.gone(new Authority(1, 99), nowMs));
        second.elector.round(PlainWishes.gone(new Authority(0, 1), nowMs));
        second.elector.round(PlainWishes.gone(Authority.NONE, nowMs));
        assertThat(second.leading).isFalse();

        first.elector.round(PlainWishes.raise(7));
        second.elector.round(PlainWishes.gone(new Authority(1, 1), nowMs));
        assertThat(second.leading)
                .as("it was one epoch of a holder that lives on in another")
                .isFalse();
    }

    @Test
    void ofTwoStandbysThatTakeTheLeaseOfADeadOneOneWins() {
        Authority dead = new Master("a", 1).round().terms.getLast();
        Master second = new Master("b", 2).round();
        Master third = new Master("c", 3).round();

        second.elector.round(PlainWishes.gone(dead, nowMs));
        third.elector.round(PlainWishes.gone(dead, nowMs));

        assertThat(second.epoch()).isEqualTo(2);
        assertThat(third.leading).isFalse();
    }

    @Test
    void aRenewalThatWasStillOnItsWayIsOvercome() {
        Authority dead = new Master("a", 1).round().terms.getLast();
        Master second = new Master("b", 2).round();
        second.access.beforeWrite(() -> store.edit(it -> it));

        second.elector.round(PlainWishes.gone(dead, nowMs));

        assertThat(second.epoch()).isEqualTo(2);
    }

    @Test
    void theLeaseOfASilentHolderIsTakenWhenItHasNotChangedForLongEnough() {
        Authority silent = new Master("a", 1).round().terms.getLast();
        Master second = new Master("b", 2).round();
        long seenMs = nowMs;

        nowMs = seenMs + 2_000;
        second.elector.round(PlainWishes.silent(silent, seenMs + Election.SILENT_MS - 1));
        assertThat(second.leading)
                .as("it may have renewed just before it fell silent")
                .isFalse();

        second.elector.round(PlainWishes.silent(silent, seenMs + Election.SILENT_MS));
        assertThat(second.terms).containsExactly(new Authority(2, 2));
        assertThat(second.succession.cause()).isEqualTo(Succession.Cause.SILENT);
        assertThat(second.predecessorUntilMs).isEqualTo(seenMs + 5_000);
    }

    @Test
    void aSilentHolderThatRenewsKeepsItsLease() {
        Master first = new Master("a", 1).round();
        Authority silent = first.terms.getLast();
        Master second = new Master("b", 2).round();

        nowMs += 1_000;
        first.round();
        nowMs += 1_000;
        second.elector.round(PlainWishes.silent(silent, nowMs));
        assertThat(second.leading).as("this look shows a renewal").isFalse();

        nowMs += Election.SILENT_MS;
        second.access.beforeWrite(first::round);
        second.elector.round(PlainWishes.silent(silent, nowMs));
        assertThat(second.leading).as("it renewed while we were about to write").isFalse();

        nowMs += Election.SILENT_MS;
        second.elector.round(PlainWishes.silent(new Authority(1, 99), nowMs));
        assertThat(second.leading).as("another was silent").isFalse();
    }

    @Test
    void leadersBeforeUsMayGoOnUntilTheirLeaseEnds() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        nowMs += 800;
        first.round();
        second.round();
        long lastSeenMs = nowMs;

        nowMs += 300;
        second.elector.round(PlainWishes.gone(first.terms.getLast(), nowMs));

        assertThat(second.predecessorUntilMs).isEqualTo(lastSeenMs + 5_000);
    }

    @Test
    void aLeaderThatGaveItsLeaseBackHasStopped() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();

        nowMs += 700;
        first.elector.round(PlainWishes.RELEASE);
        second.round();

        assertThat(second.predecessorUntilMs).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void aReleaseSaysNothingAboutTheLeaderThatWasRobbedBefore() {
        Master robbed = new Master("a", 1).round();
        Master robber = new Master("b", 2).round();
        Master third = new Master("c", 3).round();
        long robbedMs = nowMs;
        robber.elector.round(PlainWishes.gone(robbed.terms.getLast(), nowMs));
        third.round();

        robber.elector.round(PlainWishes.RELEASE);
        third.round();

        assertThat(third.leading).isTrue();
        assertThat(third.predecessorUntilMs).isEqualTo(robbedMs + 5_000);
    }

    @Test
    void whoeverHeldADeletedLeaseMayNotKnowYet() {
        new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        nowMs += 900;
        store.delete();

        second.round();

        assertThat(second.leading).isTrue();
        assertThat(second.predecessorUntilMs).isEqualTo(nowMs + 5_000);
    }

    @Test
    void aLeaderThatComesBackCountsItsOwnEarlierTerm() {
        Master first = new Master("a", 1).round();
        for (int renewal = 0; renewal < 4; renewal++) {
            nowMs += 1_000;
            first.round();
        }
        long promisedUntilMs = first.validUntilMs;

        store.edit(it -> new LeaseRecord(it.holder(), 5, it.acquireTime(), it.renewTime(), 7));
        first.round();

        assertThat(first.predecessorUntilMs).isEqualTo(promisedUntilMs);
    }

    @Test
    void aDeletedLeaseDoesNotSendTheEpochBackEvenWhenNoNodeHasToldOfIt() {
        Master first = new Master("a", 1).round();
        first.elector.round(PlainWishes.raise(30));
        Master second = new Master("b", 2).round();

        store.delete();
        second.round();

        assertThat(second.epoch()).isEqualTo(32 + Election.UNSEEN_LEADERS);
    }
}
