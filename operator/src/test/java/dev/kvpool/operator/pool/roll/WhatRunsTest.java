// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A step is done when the other image runs, and not when its pod only shall run it. */
class WhatRunsTest {
    @ParameterizedTest
    @ValueSource(strings = {"s-2", "m-1"})
    void anOldContainerThatIsStartedAnewIsNotTakenForTheNewOne(String name) {
        RollPool pool = upgrading();
        RollMember member = name.startsWith("m-") ? pool.master(name) : pool.node(name);
        member.roundsToNotice = 100;
        while (!pool.done.contains(name + " " + NEW)) {
            pool.round();
        }
        member.crashes();

        pool.rounds(10);

        assertThat(pool.steps()).extracting(step -> step.of()).containsExactly(name);
        assertThat(pool.done).endsWith(name + " " + NEW);
        member.roundsToNotice = 0;
        pool.rounds(RollTest.ENOUGH);
        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.status()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sha256:1", ""})
    void imagesThatCannotBeToldApartTakeALittleLonger(String id) {
        RollPool pool = upgrading();
        for (int i = 0; i < 3; i++) {
            pool.node("s-" + i).everyImageHas = id;
        }
        pool.master("m-0").everyImageHas = id;
        pool.master("m-1").everyImageHas = id;

        RollTest.play(pool, 1);

        assertThat(pool.images()).containsExactly(NEW);
    }

    /** As with a webhook that resolves tags, where both are the same build. */
    @Test
    void whereAdmissionWritesTheSameImageNothingRestartsAndTheStepIsDone() {
        RollPool pool = upgrading();
        for (String name : List.of("m-0", "m-1", "s-0", "s-1", "s-2")) {
            pool.node(name).admitted = "kvpool@sha256:1";
        }

        RollTest.play(pool, 0);

        assertThat(pool.done).contains("m-1 " + NEW, "s-2 " + NEW, "s-0 " + NEW);
        assertThat(pool.images()).as("what runs").containsExactly(RollPool.OLD);
    }

    @Test
    void aPodThatIsMadeAnewInItsStepAndStartsWithTheImageIsDone() {
        RollPool pool = upgrading();
        while (!pool.done.contains("s-2 " + NEW)) {
            pool.round();
        }
        pool.withoutNode("s-2").rounds(3);
        pool.node("s-2").isReachedAgain();

        pool.later(Duration.ofSeconds(30)).rounds(RollTest.ENOUGH);

        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.status()).isEmpty();
    }

    private static RollPool upgrading() {
        return new RollPool(2, 3).want(NEW).preflight("rolling-warm");
    }
}
