// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static dev.kvpool.operator.pool.roll.RollTest.ENOUGH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.RollPhase;
import dev.kvpool.api.v1alpha1.RollStatus;
import dev.kvpool.api.v1alpha1.UpgradeSpec;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How an upgrade that failed, or cannot begin, is tried again. */
class FailedUpgradeTest {
    private static final UpgradeSpec PAUSED = new UpgradeSpec(1, 0, true, null, false, null);

    @Test
    void aPauseHasTheSameImageTriedAgain() {
        RollPool pool = failed().good(NEW);
        assertThat(pool.plan().finding().message())
                .contains(
                        "To try this one again set spec.upgrade.paused to true and, when condition UpgradeBlocked says"
                                + " UpgradePaused, to false.");

        pool.options(PAUSED);
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.UPGRADE_PAUSED);
        assertThat(pool.plan().finding().message())
                .startsWith("The upgrade from kvpool:1 to kvpool:2 failed and begins anew when spec.upgrade.paused is"
                        + " false. It had failed because: m-1 did not get ready");
        pool.rounds(10);
        assertThat(pool.status()).isEmpty();
        assertThat(pool.images()).containsExactly(OLD);

        pool.options(RollPool.DEFAULTS);
        RollTest.play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void withoutOneItIsNot() {
        RollPool pool = failed().good(NEW).rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.images()).containsExactly(OLD);
    }

    @Test
    void nothingBeginsWhileRunningPodsCouldNotPullTheImage() {
        RollPool pool =
                new RollPool(2, 2).want(NEW).preflight("rolling-warm").unpullable("s-0 lacks a secret: the way out");

        pool.rounds(20);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.done).isEmpty();
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.VERSION_REFUSED);
        assertThat(pool.plan().finding().message()).endsWith("is not begun: s-0 lacks a secret: the way out.");
        pool.unpullable(null);
        RollTest.play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void norAfterAPreflightThatPulledItWithOtherSecrets() {
        RollPool pool =
                new RollPool(2, 2).want(NEW).preflight("rolling-warm").rounds(1).unpullable("s-0 lacks a secret");

        pool.rounds(20);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.BLOCKED);
        assertThat(pool.done).isEmpty();
    }

    private static RollPool failed() {
        RollPool pool = new RollPool(2, 2)
                .want(NEW)
                .preflight("rolling-warm")
                .bad(NEW)
                .rounds(20)
                .later(Duration.ofMinutes(10))
                .rounds(ENOUGH);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        return pool;
    }
}
