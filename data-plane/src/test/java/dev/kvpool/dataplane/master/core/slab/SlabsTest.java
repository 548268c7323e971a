// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.slab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SlabsTest {
    private static final long SEED = Long.getLong("kvpool.seed", System.nanoTime());

    private final Slabs slabs = new Slabs();

    /** A block in use: filled with its own bytes, so that one that overlaps it shows. */
    private static final class Held {
        private final int block;
        private final byte[] bytes;

        Held(int block, byte[] bytes) {
            this.block = block;
            this.bytes = bytes;
        }
    }

    @Test
    void blocksInUseNeverOverlap() {
        Random random = new Random(SEED);
        List<Held> held = new ArrayList<>();
        for (int step = 0; step < 40_000; step++) {
            boolean grows = step % 20_000 < 10_000;
            if (held.isEmpty() || random.nextInt(10) < (grows ? 7 : 3)) {
                byte[] bytes = new byte[random.nextInt(4) == 0 ? 1 + random.nextInt(5000) : 100 + random.nextInt(64)];
                random.nextBytes(bytes);
                int block = slabs.allocate(bytes.length);
                slabs.setBytes(block, 0, bytes);
                held.add(new Held(block, bytes));
            } else {
                give(held.remove(random.nextInt(held.size())));
            }
        }
        held.forEach(this::give);

        assertThat(slabs.bytes()).as("seed %d", SEED).isZero();
    }

    private void give(Held held) {
        assertThat(slabs.hasBytes(held.block, 0, held.bytes))
                .as("seed %d", SEED)
                .isTrue();
        slabs.release(held.block, held.bytes.length);
    }

    @Test
    void pagesOfOneSizeServeAnotherWhenTheyAreEmpty() {
        List<Integer> blocks = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            blocks.add(slabs.allocate(144));
        }
        long full = slabs.bytes();
        blocks.forEach(block -> slabs.release(block, 144));
        for (int i = 0; i < 10_000; i++) {
            slabs.allocate(140);
        }

        assertThat(slabs.bytes()).isLessThanOrEqualTo(full);
    }

    @Test
    void hardlyMoreMemoryThanTheBlocksThemselves() {
        for (int i = 0; i < 100_000; i++) {
            slabs.allocate(144);
        }

        assertThat(slabs.bytes()).isLessThan(144L * 100_000 * 101 / 100);
    }

    @Test
    void aBoundIsKeptAndToldBeforeItIsReached() {
        Slabs small = new Slabs(4 * Slabs.PAGE_BYTES);
        assertThat(small.bytesMax()).isEqualTo(4 * Slabs.PAGE_BYTES);
        List<Integer> blocks = new ArrayList<>();
        while (small.hasRoom(144)) {
            blocks.add(small.allocate(144));
        }

        assertThat(blocks).hasSize(4 * (Slabs.PAGE_BYTES / 144));
        assertThat(small.liveBytes()).isEqualTo(blocks.size() * 144L);
        assertThat(small.bytes()).isEqualTo(small.bytesMax());
        assertThat(small.hasFreePage()).isFalse();
        assertThatThrownBy(() -> small.allocate(144)).isInstanceOf(IllegalStateException.class);
        assertThat(small.liveBytes()).as("nothing was taken").isEqualTo(blocks.size() * 144L);

        small.release(blocks.removeLast(), 144);
        assertThat(small.hasRoomInPage(144)).isTrue();
        assertThat(small.hasRoom(140)).as("pages belong to one size").isFalse();
        blocks.forEach(block -> small.release(block, 144));
        assertThat(small.hasRoom(140)).isTrue();
        assertThat(small.liveBytes()).isZero();
    }

    @Test
    void fieldsAreKeptWhereverTheyLie() {
        int block = slabs.allocate(40);
        slabs.setLong(block, 4, Long.MIN_VALUE + 5);
        slabs.setInt(block, 12, -7);
        slabs.setShort(block, 16, 0xfffe);
        slabs.setInt(Slabs.part(block, 20), 0, 99);

        assertThat(slabs.getLong(block, 4)).isEqualTo(Long.MIN_VALUE + 5);
        assertThat(slabs.getInt(block, 12)).isEqualTo(-7);
        assertThat(slabs.getShort(block, 16)).isEqualTo(0xfffe);
        assertThat(slabs.getInt(block, 20)).isEqualTo(99);
    }

    @Test
    void aBlockOfASizeThatIsNotThereIsRefused() {
        assertThatThrownBy(() -> slabs.allocate(0)).hasMessageContaining("0 bytes");
        assertThatThrownBy(() -> slabs.allocate(Slabs.BLOCK_BYTES_MAX + 1)).hasMessageContaining("8193 bytes");
    }
}
