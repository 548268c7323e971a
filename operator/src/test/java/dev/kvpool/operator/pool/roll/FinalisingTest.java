// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.RollPhase;
import dev.kvpool.api.v1alpha1.RollStatus;
import dev.kvpool.api.v1alpha1.UpgradeSpec;
import dev.kvpool.operator.status.Reason;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a pool goes over to the versions that its new builds know: last, once, and never with somebody left behind. */
class FinalisingTest {
    private static final UpgradeSpec PAUSED = new UpgradeSpec(1, 0, true, null, false);
    private static final UpgradeSpec WITHOUT_CLIENTS = new UpgradeSpec(1, 0, false, null, true);
    private static final String FINALISE = "finalise 2 2";
    private static final int ENOUGH = 200;

    private static RollPool upgrading() {
        return new RollPool(2, 3).want(NEW).preflight("rolling-warm");
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
        RollPool pool = upgrading().rounds(ENOUGH);

        assertThat(pool.done).endsWith("s-0 " + NEW, FINALISE).containsOnlyOnce(FINALISE);
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void itIsRepeatedUntilEveryNodeHasDoneIt() {
        RollPool pool = goneOver().raising("s-1").rounds(20);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FINALISING);
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.UPGRADING);

        pool.raisingAll().rounds(2);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.plan().actions()).isEmpty();
    }

    @Test
    void untilThenThePoolGoesBackWarmWhenItIsPaused() {
        RollPool pool = goneOver().options(PAUSED).rounds(20);
        assertThat(pool.done).doesNotContain(FINALISE);
        assertThat(pool.status()).as("nothing else is left to be done").isEmpty();

        pool.want(OLD).options(RollPool.DEFAULTS).rounds(ENOUGH);

        assertThat(pool.images()).containsExactly(OLD);
        assertThat(pool.done).doesNotContain(FINALISE);
        assertThat(pool.node("s-0").active.wire()).isOne();
    }

    @Test
    void afterwardsOnlyANewPreflightMayLetItGoBack() {
        RollPool pool = goneOver().raising("s-2").rounds(3);
        int before = pool.done.size();

        pool.want(OLD).preflight("refused").rounds(20);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.BLOCKED);
        assertThat(pool.status().orElseThrow().from()).isEqualTo(NEW);
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.VERSION_REFUSED);
        assertThat(pool.done).hasSize(before);
    }

    @Test
    void aClientThatWouldBeLeftBehindKeepsItFromHappeningUntilItHasGone() {
        RollPool pool = upgrading().oldClient(true).rounds(ENOUGH);
        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.status()).as("the upgrade itself is done").isEmpty();
        assertThat(pool.done).doesNotContain(FINALISE);
        assertThat(pool.plan().finding().message())
                .contains("would go over to wire version 2, but clients of kvpool 0.0.9 know only 1: upgrade them")
                .contains("spec.upgrade.ignoreClients");

        pool.oldClient(false).rounds(2);

        assertThat(pool.done).endsWith(FINALISE);
        assertThat(pool.plan().finding().message()).doesNotContain("would go over");
    }

    @Test
    void theSpecMayLeaveClientsBehind() {
        RollPool pool = upgrading().oldClient(true).options(WITHOUT_CLIENTS).rounds(ENOUGH);

        assertThat(pool.done).endsWith(FINALISE);
    }

    @Test
    void somethingThatIsNotWellKeepsItWaiting() {
        for (String broken : List.of("m-1", "s-1")) {
            RollPool pool = goneOver();
            RollMember member = broken.startsWith("m") ? pool.master(broken) : pool.node(broken);
            member.started = false;
            member.ready = false;
            pool.rounds(5);
            assertThat(pool.done).as(broken).doesNotContain(FINALISE);

            member.started = true;
            pool.rounds(3);
            assertThat(pool.done).as(broken).endsWith(FINALISE);
        }
    }
}
