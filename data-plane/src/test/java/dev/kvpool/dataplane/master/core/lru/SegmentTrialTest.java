// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.slab.Mix;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Uses whose best segment is known, in pools that are smaller and larger than the sample. */
class SegmentTrialTest {
    private static final double PLAIN_LRU = 1;
    private final SegmentTrial trial = new SegmentTrial();
    private final Random random = new Random(1);
    private int newest = 1 << 28;

    @ParameterizedTest
    @ValueSource(ints = {500, 2_048, 2_049, 50_000})
    void aSmallSegmentWhereTheSameKeysComeAgainAmongManyNewOnes(int room) {
        trial.setRoom(room);
        someComeAgainAmongManyNewOnes(room);
        assertThat(trial.probation()).isLessThan(PLAIN_LRU);
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 2_048, 2_049, 50_000})
    void aPlainLruWhereAllThatWasUsedAgainIsDead(int room) {
        trial.setRoom(room);
        eachComesThriceAndNeverAgain(room);
        assertThat(trial.probation()).isEqualTo(PLAIN_LRU);
    }

    @Test
    void itFollowsWhatIsAskedForAndHowMuchThePoolHolds() {
        for (int room : new int[] {60_000, 1_000, 200_000, 3_000}) {
            trial.setRoom(room);
            someComeAgainAmongManyNewOnes(room);
            assertThat(trial.probation()).isLessThan(PLAIN_LRU);
            eachComesThriceAndNeverAgain(room);
            assertThat(trial.probation()).isEqualTo(PLAIN_LRU);
        }
    }

    @Test
    void aPoolOfAFewObjectsIsAPlainLruUntilThereIsEvidence() {
        trial.setRoom(6);
        for (int i = 0; i < 30; i++) {
            trial.used(Mix.of(i % 2));
            newest++;
            trial.used(Mix.of(newest));
        }
        assertThat(trial.probation()).isEqualTo(PLAIN_LRU);
    }

    private void someComeAgainAmongManyNewOnes(int room) {
        for (int i = 0; i < 60 * room; i++) {
            newest++;
            boolean again = random.nextInt(4) == 0;
            trial.used(Mix.of(again ? random.nextInt(room / 2) : newest));
        }
    }

    private void eachComesThriceAndNeverAgain(int room) {
        for (int i = 0; i < 60 * room; i++) {
            newest += i % 3 == 0 ? 1 : 0;
            trial.used(Mix.of(newest - random.nextInt(room)));
        }
    }
}
