// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a leader that sees too little of its pool gives its leadership away. */
class BlindLeaderTest {
    private static final long LEASE_MS = 5_000;
    private static final long LOOK_MS = 100;

    private final BlindLeader leader = new BlindLeader(LEASE_MS);
    private final List<Long> handOversMs = new ArrayList<>();
    private long nowMs = 1_000_000;
    private boolean ofEngines;
    private boolean isLookedFor;
    private Reach.Seen tooLittle = Reach.Seen.FEW;

    /** For so long it is so; whenever it is to hand over it goes on as before. */
    private BlindLeaderTest is(boolean leads, boolean seesEnough, long forMs) {
        for (long untilMs = nowMs + forMs; nowMs < untilMs; nowMs += LOOK_MS) {
            if (isLookedFor && leads && !seesEnough) {
                leader.lookedFor(nowMs);
            }
            if (leader.look(leads, seesEnough ? Reach.Seen.ENOUGH : tooLittle, ofEngines, nowMs)) {
                handOversMs.add(nowMs);
            }
        }
        return this;
    }

    /** Another one looks for it whenever it leads and sees too little. */
    private BlindLeaderTest ofAPoolWithOtherMasters() {
        isLookedFor = true;
        return this;
    }

    private long handsOverAfterMs(long sinceMs) {
        assertThat(handOversMs).hasSize(1);
        return handOversMs.getFirst() - sinceMs;
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        // who,                                        sees, other masters, looked for, saw enough, blind for, hands
        // over
        "the only master of its pool,                  NONE, false, false, true,  7200000, false",
        "one that is blind for a moment,               FEW,  true,  true,  true,  5000,    false",
        "one that is blind for longer than a Lease,    FEW,  true,  true,  true,  5200,    true",
        "one that serves the few nodes that are up,    FEW,  true,  false, true,  7200000, false",
        "one whose nodes start again,                  NONE, true,  false, true,  30000,   false",
        "one that masters and nodes do not reach,      NONE, true,  false, true,  30200,   true",
        "a new one that nodes still look for,          FEW,  true,  true,  false, 59000,   false",
        "a new one that no node finds,                 FEW,  true,  true,  false, 60200,   true"
    })
    void itHandsOver(
            String who,
            Reach.Seen sees,
            boolean others,
            boolean lookedFor,
            boolean sawEnough,
            long blindForMs,
            boolean handsOver) {
        tooLittle = sees;
        isLookedFor = lookedFor;
        if (others) {
            leader.otherMasterSeen();
        }
        if (sawEnough) {
            is(true, true, 1_000);
        }
        is(true, false, blindForMs);
        assertThat(!handOversMs.isEmpty()).as(who).isEqualTo(handsOver);
    }

    /** The last of the nodes that were up starts again, long after the others went. */
    @Test
    void thatItSeesNoneCountsFromWhenItDoes() {
        leader.otherMasterSeen();
        is(true, true, 1_000).is(true, false, 3_600_000);
        tooLittle = Reach.Seen.NONE;
        is(true, false, Bounds.BLIND_ALONE_MS).is(true, true, 1_000);
        assertThat(handOversMs).isEmpty();
    }

    @Test
    void aStandbyHasNothingToHandOver() {
        ofAPoolWithOtherMasters().is(false, true, 1_000).is(false, false, 3_600_000);
        assertThat(handOversMs).isEmpty();
    }

    @Test
    void itCountsFromWhenItSawTooLittleWithoutABreak() {
        ofAPoolWithOtherMasters().is(true, true, 1_000);
        for (int i = 0; i < 10; i++) {
            is(true, false, LEASE_MS).is(true, true, LOOK_MS);
        }
        assertThat(handOversMs).isEmpty();
    }

    @Test
    void itMayHaveBeenLookedForJustBefore() {
        is(true, true, 1_000);
        leader.lookedFor(nowMs - Bounds.BLIND_LOOKED_FOR_MS);
        is(true, false, LEASE_MS + 2 * LOOK_MS);
        assertThat(handOversMs).hasSize(1);
    }

    @Test
    void thatItWasLookedForBeforeCountsForNothing() {
        ofAPoolWithOtherMasters().is(true, true, 1_000).is(true, false, LEASE_MS - 1_000);
        isLookedFor = false;
        is(true, true, Bounds.BLIND_LOOKED_FOR_MS + LOOK_MS);
        is(true, false, Bounds.BLIND_ALONE_MS);
        assertThat(handOversMs).isEmpty();
    }

    /** It would have them no more after {@link Bounds#TRANSIENT_AWAY_MS}. */
    @Test
    void enginesAreMembersStillWhenItHandsOver() {
        ofEngines = true;
        tooLittle = Reach.Seen.NONE;
        ofAPoolWithOtherMasters().is(true, true, 1_000);
        long sinceMs = nowMs;
        is(true, false, LEASE_MS);
        assertThat(handsOverAfterMs(sinceMs)).isLessThan(Bounds.TRANSIENT_AWAY_MS);
    }

    @Test
    void whereNobodySeesMoreItRestsForLongerEachTime() {
        ofAPoolWithOtherMasters().is(true, true, 1_000).is(true, false, 5 * 3_600_000);
        assertThat(handOversMs).hasSizeGreaterThan(8).hasSizeLessThan(20);
        long longestMs = 0;
        for (int i = 1; i < handOversMs.size(); i++) {
            long restMs = handOversMs.get(i) - handOversMs.get(i - 1);
            assertThat(restMs).isBetween(longestMs, Math.max(2 * longestMs, Bounds.BLIND_REST_MS_MIN));
            longestMs = restMs;
        }
        assertThat(longestMs).isEqualTo(Bounds.BLIND_REST_MS_MAX);
    }

    /** The Lease was free for as long as it lasts, and no master that sees more has taken it. */
    @Test
    void oneThatBeginsBlindRestsFirst() {
        ofAPoolWithOtherMasters().is(false, true, 1_000).is(false, false, 60_000);
        long sinceMs = nowMs;
        is(true, false, Bounds.BLIND_REST_MS_MIN + LOOK_MS);
        assertThat(handsOverAfterMs(sinceMs)).isEqualTo(Bounds.BLIND_REST_MS_MIN);
    }

    @Test
    void itDoesNotBeginToRestAgainWhenItLeadsAgain() {
        ofAPoolWithOtherMasters().is(true, true, 1_000).is(true, false, LEASE_MS + 2 * LOOK_MS);
        long firstMs = handOversMs.removeFirst();
        is(false, false, 8_000).is(true, false, Bounds.BLIND_REST_MS_MIN);
        assertThat(handsOverAfterMs(firstMs)).isEqualTo(Bounds.BLIND_REST_MS_MIN);
    }

    /** Two masters that lose sight in turn, as soon as they lead, do not pass the leadership to and fro without end. */
    @Test
    void whereLeadingMakesBlindItRestsAsWell() {
        ofAPoolWithOtherMasters();
        for (int i = 0; i < 1_000; i++) {
            is(false, true, 6_000).is(true, true, 1_000).is(true, false, LEASE_MS + 2 * LOOK_MS);
        }
        assertThat(handOversMs).hasSizeLessThan(20);
    }

    @Test
    void oneThatLedWellForLongRestsShortlyAgain() {
        ofAPoolWithOtherMasters().is(true, true, 1_000).is(true, false, 3_600_000);
        is(true, true, Bounds.BLIND_REST_MS_MAX + LOOK_MS);
        handOversMs.clear();
        long sinceMs = nowMs;
        is(true, false, LEASE_MS + Bounds.BLIND_REST_MS_MIN + 2 * LOOK_MS);
        assertThat(handOversMs).hasSize(2);
        assertThat(handOversMs.getFirst() - sinceMs).isEqualTo(LEASE_MS + LOOK_MS);
    }
}
