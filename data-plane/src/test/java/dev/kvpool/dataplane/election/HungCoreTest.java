// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.wire.message.Authority;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A master whose core hangs lets go of the Lease, and one whose core was only late does not. */
class HungCoreTest extends ElectionScene {
    private static final ElectionTimes TIMES = ElectionTimes.DEFAULT;

    @Test
    void aLeaderWhoseCoreHangsRenewsNoMoreAndIsFollowed() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        hung.add("a");

        for (int i = 0; i < 3; i++) {
            nowMs += TIMES.retryPeriodMs();
            first.round();
            second.round();
            assertThat(second.leading).isFalse();
        }
        assertThat(first.leading).as("its renew deadline is over").isFalse();
        assertThat(first.reason).contains("the core of this master hangs");

        for (int i = 0; i < 2; i++) {
            nowMs += TIMES.retryPeriodMs();
            first.round();
            second.round();
        }
        assertThat(second.epoch()).isEqualTo(2);
        assertThat(first.leading).isFalse();
    }

    @Test
    void onlyAHangOfTheWholeDeadlineCostsTheLease() {
        Master leader = new Master("a", 1).round();
        for (int i = 0; i < 20; i++) {
            hung.add("a");
            nowMs += TIMES.renewDeadlineMs() - 1;
            leader.round();
            assertThat(leader.serves()).isTrue();
            hung.clear();
            leader.round();
        }
        assertThat(leader.terms).containsExactly(new Authority(1, 1));
    }

    @Test
    void aCandidateWhoseCoreHangsTakesNothing() {
        hung.add("a");
        Master hangs = new Master("a", 1).round();
        assertThat(hangs.leading).isFalse();
        assertThat(hangs.reason).contains("the core of this master hangs");
        assertThat(store.lease()).isEmpty();

        hung.clear();
        assertThat(hangs.round().epoch()).isEqualTo(1);
    }

    @Test
    void itDoesNotTakeTheLeaseOfALeaderThatIsGoneNorItsOwnWithAHigherEpoch() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        hung.add("b");
        hung.add("a");
        second.elector.round(PlainWishes.gone(first.terms.getLast(), nowMs));
        assertThat(second.leading).isFalse();

        first.elector.round(PlainWishes.raise(7));
        assertThat(first.terms).hasSize(1);
        assertThat(first.leading).isTrue();
    }

    @Test
    void itGivesTheLeaseBackWhenItIsToldToEnd() {
        Master first = new Master("a", 1).round();
        hung.add("a");

        first.elector.round(PlainWishes.RELEASE);

        assertThat(store.lease().orElseThrow().isHeld()).isFalse();
    }

    /** A core that was late is renewed for as soon as it turns again, not only at the next look. */
    @Test
    void theThreadWaitsForTheCoreAndNotForItsPeriod() {
        AtomicBoolean turns = new AtomicBoolean();
        AtomicLong looks = new AtomicLong();
        Master master = new Master("a", 1);
        Elector elector = new Elector(
                new Candidate("a", 1),
                TIMES,
                master.access,
                () -> nowMs,
                InstantSource.system(),
                () -> {
                    looks.incrementAndGet();
                    return new Sight(0, true, turns.get());
                },
                master);
        try (ElectorThread thread =
                new ElectorThread(elector, Duration.ofHours(1).toMillis(), (t, e) -> {})) {
            thread.start();
            await().until(() -> looks.get() > 3);
            assertThat(store.lease()).isEmpty();

            turns.set(true);

            await().until(() -> store.lease().isPresent());
        }
    }

    /** Without it a master would stand by for ever and say that it is well. */
    @Test
    void whatEndsTheThreadIsToldOfEvenIfItIsAnError() {
        AtomicBoolean told = new AtomicBoolean();
        Master master = new Master("a", 1);
        Elector elector = new Elector(
                new Candidate("a", 1),
                TIMES,
                master.access,
                () -> nowMs,
                InstantSource.system(),
                () -> {
                    throw new StackOverflowError("planted");
                },
                master);
        try (ElectorThread thread =
                new ElectorThread(elector, 1_000, (t, e) -> told.set(e instanceof StackOverflowError))) {
            thread.start();
            await().untilTrue(told);
        }
    }
}
