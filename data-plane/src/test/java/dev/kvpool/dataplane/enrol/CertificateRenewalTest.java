// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a process asks for its next certificate. */
class CertificateRenewalTest {
    @ParameterizedTest
    @CsvSource({"60, 6", "86400, 60", "5, 1", "-3, 1"})
    void aShortLifeIsTriedForMoreOften(long lifeSeconds, long pauseSeconds) {
        assertThat(CertificateRenewal.longestPause(Duration.ofSeconds(lifeSeconds)))
                .isEqualTo(Duration.ofSeconds(pauseSeconds));
    }
}
