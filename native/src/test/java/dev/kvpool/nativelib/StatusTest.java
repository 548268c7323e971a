// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.nativelib.Status.Scope;
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

    @Test
    void theHundredsDigitIsTheScope() {
        assertThat(Status.OK.scope()).isEqualTo(Scope.NOTHING);
        assertThat(Status.NOT_FOUND.scope()).isEqualTo(Scope.OBJECT);
        assertThat(Status.TIMEOUT.scope()).isEqualTo(Scope.CALL);
        assertThat(Status.NO_SPACE.scope()).isEqualTo(Scope.ROOM);
        assertThat(Status.PROTOCOL.scope()).isEqualTo(Scope.CONNECTION);
        assertThat(Status.STALE_EPOCH.scope()).isEqualTo(Scope.LEADERSHIP);
        assertThat(Status.IO.scope()).isEqualTo(Scope.SEGMENT);
        assertThat(Status.INTERNAL.scope()).isEqualTo(Scope.DEFECT);
    }
}
