// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StatusTest {
    @ParameterizedTest
    @EnumSource
    void theNumberLeadsBackToTheStatus(Status status) {
        assertThat(Status.find(status.code())).contains(status);
        assertThat(status.text()).isNotBlank();
    }

    @Test
    void aNumberOfANewerReleaseIsUnknown() {
        assertThat(Status.find(-199)).isEmpty();
        assertThat(Status.find(1)).isEmpty();
    }
}
