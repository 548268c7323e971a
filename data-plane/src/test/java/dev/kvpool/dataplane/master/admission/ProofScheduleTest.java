// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.secure.Credentials;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ProofScheduleTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Credentials FIRST = FakeAuthentication.credentials(Instant.EPOCH.plus(DAY));
    private static final Credentials SECOND = FakeAuthentication.credentials(Instant.EPOCH.plus(DAY.multipliedBy(2)));

    private Instant now = Instant.EPOCH;

    /** After how long a proof is due; a day when none is. */
    private Duration due(ProofSchedule schedule, Credentials own) {
        Instant from = now;
        while (!schedule.isDue(now.toEpochMilli(), now, own)) {
            now = now.plusMillis(10);
            if (now.isAfter(from.plus(Duration.ofHours(1)))) {
                return DAY;
            }
        }
        return Duration.between(from, now);
    }

    @Test
    void processesDoNotProveInTheSameMoment() {
        List<Long> due = LongStream.range(0, 50)
                .map(seed -> due(new ProofSchedule(FIRST, new SplittableRandom(seed)), SECOND)
                        .toMillis())
                .sorted()
                .boxed()
                .toList();
        assertThat(due.getLast()).isLessThanOrEqualTo(ProofSchedule.SPREAD_MAX.toMillis());
        assertThat(due.getLast() - due.getFirst()).isGreaterThan(ProofSchedule.SPREAD_MAX.toMillis() * 3 / 4);
    }

    @Test
    void shortOfItsEndACertificateIsProvenInTime() {
        ProofSchedule schedule = new ProofSchedule(FIRST, new SplittableRandom(1));
        now = now.plus(DAY).minusSeconds(4);
        assertThat(due(schedule, SECOND)).isLessThanOrEqualTo(Duration.ofSeconds(1));
        assertThat(schedule.answered(now.toEpochMilli(), now, false)).isTrue();
        assertThat(due(schedule, SECOND)).isLessThanOrEqualTo(Duration.ofSeconds(1));
    }

    /** The other end counts from when the proof before came, which may be long after it was sent. */
    @Test
    void theNextProofIsAPauseBehindTheAnswer() {
        ProofSchedule schedule = new ProofSchedule(FIRST, new SplittableRandom(1));
        now = now.plus(DAY).minusSeconds(4);
        assertThat(due(schedule, FakeAuthentication.credentials(Instant.EPOCH.plus(DAY))))
                .isLessThan(DAY);
        now = now.plusSeconds(2);
        assertThat(schedule.answered(now.toEpochMilli(), now, true)).isTrue();
        assertThat(due(schedule, SECOND)).isEqualTo(ProofSchedule.PAUSE_MIN);
    }

    @Test
    void aCertificateThatComesDuringAProofIsProvenBehindIt() {
        ProofSchedule schedule = new ProofSchedule(FIRST, new SplittableRandom(1));
        assertThat(due(schedule, SECOND)).isLessThan(DAY);
        Credentials third = FakeAuthentication.credentials(Instant.EPOCH.plus(DAY.multipliedBy(3)));
        assertThat(due(schedule, third)).isEqualTo(DAY);
        assertThat(schedule.answered(now.toEpochMilli(), now, true)).isTrue();
        assertThat(due(schedule, third)).isLessThan(DAY);
        assertThat(schedule.answered(now.toEpochMilli(), now, true)).isTrue();
        assertThat(due(schedule, third)).as("it is known").isEqualTo(DAY);
        assertThat(schedule.answered(now.toEpochMilli(), now, true))
                .as("to no proof")
                .isFalse();
    }
}
