// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static dev.kvpool.operator.pool.roll.RollTest.ENOUGH;
import static dev.kvpool.operator.pool.roll.RollTest.play;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.operator.pool.member.Members;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Leadership goes to masters that know what the leader knows. */
class WarmMastersTest {
    @ParameterizedTest(name = "leader knows not {0}, standby knows not {1}: it lacks {2}")
    @CsvSource({
        "'', '', ''",
        "'', s-1, s-1",
        "'', s-0 s-1, s-0",
        "s-1, s-1, ''",
        "s-1, s-0, s-0",
        "s-0 s-1, s-0 s-1, ''",
        "s-0, '', ''",
    })
    void aStandbyLacksWhatTheLeaderKnows(String leader, String standby, String lack) {
        RollPool pool = new RollPool(2, 2);
        pool.master("m-0").knowsNot.addAll(List.of(leader.split(" ")));
        pool.master("m-1").knowsNot.addAll(List.of(standby.split(" ")));
        Members masters = pool.view().members();

        assertThat(masters.lack("m-0")).isEmpty();
        assertThat(masters.lack("m-1"))
                .isEqualTo(masters.lack().map(text -> text.replace("master m-1 ", "")))
                .map(text -> text.replaceAll(".*storage node (s-.),.*", "$1"))
                .isEqualTo(Optional.of(lack).filter(text -> !text.isEmpty()));
    }

    @Test
    void oneThatHasComeToLeadSinceItsStepBeganHandsOverBefore() {
        RollPool pool = new RollPool(2, 2).want(RollPool.NEW).preflight("rolling-warm");
        while (pool.steps().isEmpty()) {
            pool.round();
        }
        assertThat(pool.done).isEmpty();

        pool.otherLeader().rounds(10);

        assertThat(pool.done).startsWith("m-0 kvpool:2");
    }

    @Test
    void aMasterThatDoesNotCatchUpGetsNoLeadershipAndThePoolGoesBack() {
        RollPool pool = upgrading(2);
        pool.master("m-1").knowsNot.add("s-0");

        pool.rounds(ENOUGH);
        assertThat(pool.done).containsExactly("m-1 " + NEW);

        for (int step = 0; step < 2; step++) { // over, and back
            pool.later(Duration.ofMinutes(10)).rounds(ENOUGH);
        }
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.status().orElseThrow().reason()).contains("m-1 did not get ready within 10m (has not read");
        assertThat(pool.images()).containsExactly(OLD);
        assertThat(pool.leader()).isEqualTo("m-0");
    }

    @Test
    void leadershipWaitsForEveryMasterThatMayTakeIt() {
        RollPool pool = upgrading(3);
        while (!pool.done.contains("m-1 " + NEW)) {
            pool.round();
        }
        pool.master("m-2").knowsNot.add("s-0");

        pool.rounds(20);
        assertThat(pool.done).doesNotContain("hand over m-0");
        assertThat(pool.plan().finding().message())
                .contains("It waits: master m-2 has not read the directory of storage node s-0");

        pool.master("m-2").knowsNot.clear();
        play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    private static RollPool upgrading(int masters) {
        return new RollPool(masters, 2).want(NEW).preflight("rolling-warm");
    }
}
