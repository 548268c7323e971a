// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.eviction.MemoryPressure.Way;
import org.junit.jupiter.api.Test;

class MemoryPressureTest {
    @Test
    void whatTheSsdHasLeavesMemoryAtOnce() {
        assertThat(MemoryPressure.way(true, false, false, false, true)).isEqualTo(Way.RELEASE);
        assertThat(MemoryPressure.way(true, false, true, true, false)).isEqualTo(Way.RELEASE);
    }

    @Test
    void whatTheSsdTakesGoesThere() {
        assertThat(MemoryPressure.way(false, true, false, true, false)).isEqualTo(Way.DEMOTE);
        assertThat(MemoryPressure.way(false, true, false, true, true)).isEqualTo(Way.DEMOTE);
    }

    @Test
    void whatTheSsdDoesNotTakeGoesForGood() {
        assertThat(MemoryPressure.way(false, false, false, true, false)).isEqualTo(Way.EVICT);
        assertThat(MemoryPressure.way(false, false, true, false, true)).isEqualTo(Way.EVICT);
    }

    @Test
    void aSlowSsdIsWaitedForOnlyWhileThereIsRoomToWait() {
        assertThat(MemoryPressure.way(false, true, false, false, false)).isEqualTo(Way.WAIT);
        assertThat(MemoryPressure.way(false, true, false, false, true)).isEqualTo(Way.EVICT);
        assertThat(MemoryPressure.way(false, true, true, false, true)).isEqualTo(Way.WAIT);
    }
}
