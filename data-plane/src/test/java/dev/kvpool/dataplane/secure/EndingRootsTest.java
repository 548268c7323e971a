// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class EndingRootsTest {
    private static final Instant END = Instant.parse("2027-01-31T00:00:00Z");

    private Instant now = END.minus(Duration.ofDays(31));
    private long uptimeMs = 9;
    private final EndingRoots roots = new EndingRoots(() -> now, () -> uptimeMs);

    private void pass(Duration time) {
        now = now.plus(time);
        uptimeMs += time.toMillis();
    }

    @Test
    void aRootThatEndsIsNamedOnceADayFromThirtyDaysBefore() {
        int told = 0;
        for (int minute = 0; minute < 40 * 24 * 60; minute += 10) {
            boolean isSoon = !now.isBefore(END.minus(Duration.ofDays(30)));
            if (roots.news(END).isPresent()) {
                assertThat(isSoon).isTrue();
                told++;
            }
            pass(Duration.ofMinutes(10));
        }
        assertThat(told).isEqualTo(39);
        assertThat(now).isAfter(END);
    }

    @Test
    void itSaysWhenAndWhatToDo() {
        now = END.minus(Duration.ofDays(7));
        assertThat(roots.news(END))
                .hasValueSatisfying(said ->
                        assertThat(said).contains("ends at 2027-01-31T00:00:00Z, in 7 days", "docs/guide/security.md"));
        pass(Duration.ofDays(8));
        assertThat(roots.news(END))
                .hasValueSatisfying(said -> assertThat(said).contains("ended at 2027-01-31T00:00:00Z"));
    }

    @Test
    void anotherRootIsNamedAtOnceAndAClockThatIsSetBackSilencesNothing() {
        now = END.minus(Duration.ofDays(7));
        assertThat(roots.news(END)).isPresent();
        assertThat(roots.news(END.minus(Duration.ofDays(1)))).isPresent();
        now = END.minus(Duration.ofDays(20));
        uptimeMs += Duration.ofDays(1).toMillis();
        assertThat(roots.news(END.minus(Duration.ofDays(1)))).isPresent();
    }
}
