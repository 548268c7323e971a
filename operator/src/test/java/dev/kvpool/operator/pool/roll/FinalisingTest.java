// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.PendingVersions;
import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a pool changes to the versions that its new builds know: last, once, and never with a process left behind. */
class FinalisingTest {
    private static final UpgradeSpec PAUSED = new UpgradeSpec(1, 0, true, null, false, null);
    private static final UpgradeSpec WITHOUT_CLIENTS = new UpgradeSpec(1, 0, false, null, true, null);
    private static final String FINALISE = "finalise 2 2";
    private static final int ENOUGH = 200;
    private static final Duration FINALISE_AFTER = Duration.ofMinutes(10);

    private static RollPool upgrading() {
        return new RollPool(2, 3).want(NEW).preflight("rolling-warm");
    }

    /** The upgrade is over, and all have known the higher versions for long enough. */
    private static RollPool due(RollPool pool) {
        return pool.rounds(ENOUGH).later(FINALISE_AFTER).rounds(3);
    }

    /** Everything runs the new image, and nothing is raised yet. */
    private static RollPool goneOver() {
        RollPool pool = upgrading();
        while (pool.status()
                .map(RollStatus::phase)
                .filter(RollPhase.FINALISING::equals)
                .isEmpty()) {
            pool.round();
        }
        return pool;
    }

    @Test
    void aPoolWhoseBuildsKnowNoMoreIsLeftAlone() {
        assertThat(new RollPool(2, 3).rounds(20).done).isEmpty();
    }

    @Test
    void itIsTheLastThingThatHappens() {
        RollPool pool = due(upgrading());

        assertThat(pool.done).endsWith("s-0 " + NEW, FINALISE).containsOnlyOnce(FINALISE);
        assertThat(pool.status()).isEmpty();
        assertThat(pool.pending()).isEmpty();
    }

    @Test
    void itHappensWhenEverybodyHasKnownItForLongEnough() {
        RollPool pool = upgrading().rounds(ENOUGH);
        PendingVersions pending = pool.pending().orElseThrow();
        assertThat(pool.status()).as("the upgrade itself is done").isEmpty();
        assertThat(pool.done).doesNotContain(FINALISE);
        assertThat(pool.plan().finding().message())
                .contains("It changes to wire version 2 and segment layout 2 at ")
                .contains("until then spec.version can be set back warm");

        Duration known = Duration.between(Instant.parse(pending.since()), pool.now());
        pool.later(FINALISE_AFTER.minus(known).minusSeconds(2)).round();
        assertThat(pool.pending()).as("its beginning does not move").hasValue(pending);
        assertThat(pool.done).doesNotContain(FINALISE);

        pool.rounds(2);
        assertThat(pool.done).endsWith(FINALISE).containsOnlyOnce(FINALISE);
    }

    @Test
    void aClientThatKnowsLessStartsTheTimeAnew() {
        RollPool pool = upgrading().rounds(ENOUGH);
        String first = pool.pending().orElseThrow().since();

        pool.oldClient(true).rounds(2);
        assertThat(pool.pending().orElseThrow().wire())
                .as("what this client knows")
                .isOne();

        pool.oldClient(false).later(FINALISE_AFTER).rounds(2);
        assertThat(pool.pending().orElseThrow().since()).isGreaterThan(first);
        assertThat(pool.done).doesNotContain(FINALISE);
    }

    @Test
    void timeInWhichNoOperatorLookedDoesNotCount() {
        RollPool pool = upgrading()
                .rounds(ENOUGH)
                .later(FINALISE_AFTER.multipliedBy(6))
                .newOperator()
                .rounds(5);
        assertThat(pool.done).doesNotContain(FINALISE);

        pool.later(FINALISE_AFTER).rounds(1);

        assertThat(pool.done).endsWith(FINALISE);
    }

    @Test
    void untilThenAVersionThatIsSetBackIsAWarmUpgradeLikeAnyOther() {
        RollPool pool = upgrading().rounds(ENOUGH);

        pool.want(OLD).rounds(3);
        assertThat(pool.pending()).as("another upgrade has begun").isEmpty();
        pool.later(FINALISE_AFTER.multipliedBy(2)).newOperator().rounds(ENOUGH);

        assertThat(pool.images()).containsExactly(OLD);
        assertThat(pool.done).doesNotContain(FINALISE);
        assertThat(pool.pending()).isEmpty();
        assertThat(pool.node("s-0").active.wire()).isOne();
    }

    @Test
    void itIsRepeatedUntilEveryNodeHasDoneIt() {
        RollPool pool = due(upgrading()).raising("s-1");
        pool.node("s-0").active = new PoolReport.Active(1, 1);
        assertThat(pool.plan().pending()).as("the leader has changed").isEmpty();
        assertThat(pool.plan().actions()).hasSize(1);

        pool.raisingAll().rounds(2);

        assertThat(pool.plan().actions()).isEmpty();
    }

    @Test
    void untilThenThePoolGoesBackWarmWhenItIsPaused() {
        RollPool pool = due(goneOver().options(PAUSED));
        assertThat(pool.plan().finding().message())
                .contains("It changes to wire version 2 and segment layout 2 when spec.upgrade.paused is false");
        assertThat(pool.done).doesNotContain(FINALISE);
        assertThat(pool.status()).as("nothing else is left to be done").isEmpty();

        pool.want(OLD).options(RollPool.DEFAULTS).rounds(ENOUGH);

        assertThat(pool.images()).containsExactly(OLD);
        assertThat(pool.done).doesNotContain(FINALISE);
        assertThat(pool.node("s-0").active.wire()).isOne();
    }

    @Test
    void afterwardsOnlyANewPreflightMayLetItGoBack() {
        RollPool pool = due(goneOver().raising("s-2"));
        int before = pool.done.size();

        pool.want(OLD).preflight("refused").rounds(20);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.BLOCKED);
        assertThat(pool.status().orElseThrow().from()).isEqualTo(NEW);
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.VERSION_REFUSED);
        assertThat(pool.done).hasSize(before);
    }

    @Test
    void aClientThatWouldBeLeftBehindKeepsItFromHappeningUntilItHasGone() {
        RollPool pool = due(upgrading().oldClient(true));
        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.status()).as("the upgrade itself is done").isEmpty();
        assertThat(pool.done).doesNotContain(FINALISE);
        assertThat(pool.plan().finding().message())
                .contains("would change to wire version 2, but clients of kvpool 0.0.9 know only 1: upgrade them")
                .contains("spec.upgrade.ignoreClients");

        due(pool.oldClient(false));

        assertThat(pool.done).endsWith(FINALISE);
        assertThat(pool.plan().finding().message()).doesNotContain("change to").doesNotContain("changes to");
    }

    @Test
    void theSpecMayLeaveClientsBehind() {
        RollPool pool = due(upgrading().oldClient(true).options(WITHOUT_CLIENTS));

        assertThat(pool.done).endsWith(FINALISE);
    }

    @Test
    void somethingThatIsNotWellKeepsItWaiting() {
        for (String broken : List.of("m-1", "s-1")) {
            RollPool pool = goneOver().rounds(3);
            PendingVersions pending = pool.pending().orElseThrow();
            pool.later(FINALISE_AFTER);
            RollMember member = broken.startsWith("m") ? pool.master(broken) : pool.node(broken);
            member.started = false;
            member.ready = false;
            pool.rounds(5);
            assertThat(pool.done).as(broken).doesNotContain(FINALISE);
            assertThat(pool.pending()).as(broken).hasValue(pending);

            member.started = true;
            pool.rounds(3);
            assertThat(pool.done).as(broken).endsWith(FINALISE);
        }
    }
}
