// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static dev.kvpool.operator.pool.roll.RollTest.ENOUGH;
import static dev.kvpool.operator.pool.roll.RollTest.play;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.operator.pool.child.part.PreflightQuestion;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pools whose masters do not run get another image all the same. */
class RescueTest {
    @Test
    void aBrokenMasterIsNotAskedAndGoesFirst() {
        RollPool pool = upgrading().bad("broken");
        pool.master("m-1").runNow("broken");
        pool.preflight("").rounds(3);

        assertThat(pool.plan().preflight()).contains(new PreflightQuestion(NEW, List.of("m-0"), List.of()));
        assertThat(pool.plan().finding().message()).contains("without asking m-1, which does not run");

        pool.preflight("rolling-warm");
        play(pool, 1);

        assertThat(pool.done).startsWith("m-1 " + NEW, "hand over m-0");
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aPoolThatWasNeverLedTakesAnotherImageAtOnce() {
        RollPool pool = new RollPool(2, 2).neverLed().rounds(5);

        pool.want("kvpool:0").bad("kvpool:0").rounds(5).want(NEW).rounds(10);

        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.mastersAway()).isZero();
        assertThat(pool.status()).isEmpty();
        assertThat(pool.stable()).isEqualTo(NEW);
        assertThat(pool.done).doesNotContain("delete s-0", "delete s-1");
    }

    @Test
    void mastersThatDoNotRunTakeTheImageUnaskedAndStorageNodesOnlyAfterThePreflight() {
        RollPool pool = new RollPool(2, 2).bad(OLD).rounds(5).want(NEW).rounds(20);
        assertThat(pool.done).isEmpty();
        assertThat(pool.plan().finding().message()).contains("as no master runs: after 10m all masters take");

        pool.later(Duration.ofMinutes(10)).rounds(20);
        assertThat(pool.done).containsExactly("m-0 " + NEW, "m-1 " + NEW);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.PREFLIGHT);

        pool.preflight("rolling-warm").rounds(ENOUGH);
        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void mastersWhoseNextImageDoesNotRunEitherTakeAThirdOne() {
        RollPool pool = upgrading().bad(OLD).bad(NEW).rounds(5);
        pool.later(Duration.ofMinutes(10)).rounds(5).want(OLD).rounds(5).want("kvpool:3");

        pool.later(Duration.ofMinutes(11))
                .rounds(5)
                .later(Duration.ofMinutes(11))
                .rounds(ENOUGH);

        assertThat(pool.images()).containsExactly("kvpool:3");
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void aLeaderThatTookItsImageUnaskedIsAskedWhenItSeesTheStorageNodes() {
        RollPool pool = upgrading().rounds(1);
        pool.master("m-0").runNow(NEW);
        pool.master("m-0").knowsNot.add("s-1");

        pool.rounds(20);
        assertThat(pool.plan().preflightImage()).isEmpty();
        assertThat(pool.plan().finding().message()).contains("waits until the leader sees storage node s-1");

        pool.master("m-0").knowsNot.clear();
        play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void mastersDoNotGoBackToAnImageThatNoneOfThemRanWith() {
        RollPool pool = rescued();
        pool.node("s-1").losesAtReturn = 7L;

        pool.rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.done).contains("s-1 " + NEW, "s-1 " + OLD).doesNotContain("m-0 " + OLD, "m-1 " + OLD);
        assertThat(pool.plan().finding().message())
                .startsWith("Storage nodes are back at kvpool:1, and masters stay at kvpool:2, as none of them ran with"
                        + " kvpool:1; kvpool:2 is not tried again by itself: s-1 came back without 7 of its objects");
        assertThat(pool.mastersAway()).isZero();
        assertThat(pool.node("s-1").running).isEqualTo(OLD);
    }

    @Test
    void aMasterMadeAnewAfterThatTakesTheImageThatRuns() {
        RollPool pool = rescued();
        pool.node("s-1").losesAtReturn = 7L;
        pool.rounds(ENOUGH);

        pool.master("m-1").runNow(OLD);
        pool.rounds(10);

        assertThat(pool.master("m-1").running).isEqualTo(NEW);
        assertThat(pool.mastersAway()).isZero();
    }

    @Test
    void anotherImageThatFailsAfterThatTakesMastersBackToTheOneThatRan() {
        RollPool pool = rescued();
        pool.node("s-1").losesAtReturn = 7L;
        pool.rounds(ENOUGH).want("kvpool:3").rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.done).contains("m-0 kvpool:3", "m-1 kvpool:3").doesNotContain("m-0 " + OLD, "m-1 " + OLD);
        assertThat(pool.master("m-0").running).isEqualTo(NEW);

        pool.node("s-1").losesAtReturn = 0L;
        pool.want("kvpool:4").rounds(ENOUGH);
        assertThat(pool.images()).containsExactly("kvpool:4");
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void mastersThatRunAgainBeforeTheyAreRescuedGoBackLikeAllOthers() {
        RollPool pool = upgrading()
                .badForMasters(OLD)
                .rounds(3)
                .later(Duration.ofMinutes(11))
                .rounds(1);
        assertThat(pool.status().map(RollStatus::mastersFrom)).hasValue(NEW);
        assertThat(pool.done).as("before it is written down").isEmpty();

        pool.good(OLD);
        pool.master("m-0").runNow(OLD);
        pool.master("m-1").runNow(OLD);
        pool.node("s-1").losesAtReturn = 7L;
        pool.rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.images()).containsExactly(OLD);
    }

    @Test
    void whatIsRefusedAfterARescueSaysWhoRunsWhat() {
        RollPool pool = rescued().preflight("refused").rounds(10);

        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.VERSION_REFUSED);
        assertThat(pool.plan().finding().message())
                .startsWith(
                        "The pool stays as it is, with m-0, m-1 at kvpool:2 and everything else at kvpool:1: kvpool:2 cannot"
                                + " follow it: because.");
    }

    /** Masters have taken the new image unasked, and storage nodes run the earlier one. */
    private static RollPool rescued() {
        RollPool pool = upgrading().preflight("").badForMasters(OLD).rounds(3);
        pool.later(Duration.ofMinutes(11)).rounds(10);
        assertThat(pool.done).containsExactly("m-0 " + NEW, "m-1 " + NEW);
        return pool.preflight("rolling-warm");
    }

    private static RollPool upgrading() {
        return new RollPool(2, 2).want(NEW).preflight("rolling-warm");
    }
}
