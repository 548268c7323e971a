// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.election.Succession.Cause;
import org.junit.jupiter.api.Test;

/** What a leader says about how it came to lead. */
class SuccessionTest extends ElectionScene {
    @Test
    void theFirstLeaderSucceedsNobody() {
        Master first = new Master("a", 1).round();

        assertThat(first.succession).isEqualTo(new Succession(Cause.FIRST, "", nowMs, nowMs));
    }

    @Test
    void aLeaderThatDiedIsCountedFromWhenItWasLearnt() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        long learntMs = nowMs + 300;
        nowMs += 340;

        second.elector.round(PlainWishes.gone(first.terms.getLast(), learntMs));

        assertThat(second.succession).isEqualTo(new Succession(Cause.DIED, "a", learntMs, nowMs));
        assertThat(second.succession.waitedMs()).isEqualTo(40);
    }

    @Test
    void aLeaseThatWasGivenBackNamesWhoHadIt() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        first.elector.round(PlainWishes.RELEASE);
        nowMs += 20;

        second.round();

        assertThat(second.succession).isEqualTo(new Succession(Cause.RELEASED, "a", nowMs, nowMs));
    }

    @Test
    void aLeaseThatRanOutIsCountedFromTheLastSignOfLife() {
        new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        long lastSeenMs = nowMs;
        nowMs += 5_000;

        second.round();

        assertThat(second.succession).isEqualTo(new Succession(Cause.EXPIRED, "a", lastSeenMs, nowMs));
    }

    @Test
    void aDeletedLeaseNamesWhoHadIt() {
        new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        store.delete();

        second.round();

        assertThat(second.succession).isEqualTo(new Succession(Cause.DELETED, "a", nowMs, nowMs));
    }

    @Test
    void whoeverRaisesItsEpochSucceedsItself() {
        Master first = new Master("a", 1).round();

        first.elector.round(PlainWishes.raise(7));

        assertThat(first.succession).isEqualTo(new Succession(Cause.RAISED, "a", nowMs, nowMs));
    }

    @Test
    void aWriteThatDidNotGoThroughChangesNothing() {
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        Master third = new Master("c", 3).round();
        first.elector.round(PlainWishes.RELEASE);
        second.access.beforeWrite(third::round);

        second.round();

        assertThat(third.succession.cause()).isEqualTo(Cause.RELEASED);
        assertThat(second.leading).isFalse();
        assertThat(second.succession).isNull();
    }
}
