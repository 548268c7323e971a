// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReuseRatesTest {
    private final ReuseRates rates = new ReuseRates();

    @Test
    void withoutEvidenceAllAreAlike() {
        rates.reckon(1);
        for (int uses = 0; uses <= UseOrder.USES_MAX; uses++) {
            assertThat(rates.rate(uses, ReuseRates.AGE_MAX)).isEqualTo(rates.rate(0, 0));
        }
    }

    @Test
    void aRateIsWhatWasCounted() {
        for (int i = 0; i < 10_000; i++) {
            rates.watched(0, 0, 100);
            rates.watched(3, 0, 100);
            if (i % 10 == 0) {
                rates.used(0, i / 10 % 100);
                rates.used(3, 20);
                rates.used(3, 21);
            }
        }
        rates.reckon(1);
        assertThat(rates.rate(0, 50)).isCloseTo(0.001, within(0.0002));
        assertThat(rates.rate(3, 10)).isGreaterThan(5 * rates.rate(0, 10));
        assertThat(rates.rate(7, 10)).isEqualTo(rates.rate(3, 10));
    }

    @Test
    void whatIsOldIsForgotten() {
        for (int i = 0; i < 1_000; i++) {
            rates.watched(4, 0, 50);
            rates.used(4, 40);
        }
        rates.reckon(1);
        double before = rates.rate(4, 10);
        for (int i = 0; i < 2_000; i++) {
            rates.watched(4, 0, 50);
            rates.reckon(0.99);
        }
        assertThat(rates.rate(4, 10)).isLessThan(before / 2);
    }

    /** Whatever was counted, a block that was used as often and as lately as another one counts for as much. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void theyFallWithAgeAndRiseWithUses(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 2_000; i++) {
            int uses = random.nextInt(UseOrder.USES_MAX + 1);
            int from = random.nextInt(600);
            rates.watched(uses, from, from + random.nextInt(100));
            if (random.nextInt(3) == 0) {
                rates.used(uses, random.nextInt(1 + (int) seed * 100));
            }
        }
        rates.reckon(0.9);
        for (int uses = 0; uses <= UseOrder.USES_MAX; uses++) {
            for (int age = 0; age < 600; age++) {
                assertThat(rates.rate(uses, age)).isPositive().isGreaterThanOrEqualTo(rates.rate(uses, age + 1));
                assertThat(rates.rate(uses, age)).isGreaterThanOrEqualTo(rates.rate(Math.max(0, uses - 1), age));
            }
        }
    }
}
