// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.slab.Mix;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class EvictedUsesTest {
    private final EvictedUses evicted = new EvictedUses();

    @Test
    void whatIsTakenIsForgotten() {
        evicted.add(Mix.of(1), 5);
        evicted.add(0, 3);
        assertThat(evicted.take(Mix.of(1))).isEqualTo(5);
        assertThat(evicted.take(Mix.of(1))).isEqualTo(EvictedUses.UNKNOWN);
        assertThat(evicted.take(0)).isEqualTo(3);
        assertThat(evicted.take(0)).isEqualTo(EvictedUses.UNKNOWN);
    }

    @Test
    void theLatestAreRemembered() {
        evicted.setRoom(10_000);
        for (int key = 0; key < 100_000; key++) {
            evicted.add(Mix.of(key), key % 8);
        }
        assertThat(remembered(95_000, 100_000)).isGreaterThan(4_800);
        assertThat(remembered(0, 60_000)).isLessThan(600);
    }

    @Test
    void noneIsForgottenForMoreRoom() {
        for (int key = 0; key < 4; key++) {
            evicted.add(Mix.of(key), key);
        }
        evicted.setRoom(100_000);
        assertThat(remembered(0, 4)).isEqualTo(4);
    }

    @Test
    void moreRoomIsTakenAtOnce() {
        var thread = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = thread.getCurrentThreadAllocatedBytes();
        evicted.setRoom(30_000_000);
        assertThat(thread.getCurrentThreadAllocatedBytes() - before).isLessThan(70 << 20);
    }

    private int remembered(int from, int to) {
        int count = 0;
        for (int key = from; key < to; key++) {
            count += evicted.take(Mix.of(key)) == key % 8 ? 1 : 0;
        }
        return count;
    }
}
