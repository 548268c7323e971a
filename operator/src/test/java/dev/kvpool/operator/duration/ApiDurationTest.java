// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.duration;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApiDurationTest {
    @ParameterizedTest
    @CsvSource({
        "24h, PT24H, 1440m",
        "1m30s, PT1M30S, 90s",
        "1h0m0s, PT1H, 60m",
        "500ms, PT0.5S, 500ms",
        "1s500ms, PT1.5S, 1500ms",
        "60s, PT1M, 1m",
        "10m, PT10M, 10m",
        "90m, PT1H30M, 90m",
        "99999h99999m99999s99999ms, PT101693H27M18.999S, 366096438999ms"
    })
    void isReadAndPassedOn(String text, Duration read, String flag) {
        assertThat(ApiDuration.of(text)).isEqualTo(read);
        assertThat(ApiDuration.flag(text)).isEqualTo(flag);
    }
}
