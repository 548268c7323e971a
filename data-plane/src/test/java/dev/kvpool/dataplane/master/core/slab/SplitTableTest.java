// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.slab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SplitTableTest {
    private static final long SEED = Long.getLong("kvpool.seed", System.nanoTime());
    private static final int RECORD_BYTES = 8;

    private final Slabs slabs = new Slabs();

    /** Records of a hash and a link. */
    private final class Numbers extends SplitTable {
        Numbers() {
            this(1);
        }

        Numbers(int perBucket) {
            super(slabs, 4, perBucket);
        }

        @Override
        protected int hashOf(int record) {
            return slabs.getInt(record, 0);
        }

        boolean holds(int record) {
            int found = first(hashOf(record));
            while (found != Slabs.NONE && found != record) {
                found = next(found);
            }
            return found == record;
        }

        Set<Integer> all() {
            Set<Integer> all = new HashSet<>();
            Walk walk = walk();
            for (int record = walk.next(); record != Slabs.NONE; record = walk.next()) {
                assertThat(all.add(record)).isTrue();
            }
            return all;
        }
    }

    @Test
    void holdsWhatWasAddedAndNotRemovedHoweverItGrowsAndShrinks() {
        Random random = new Random(SEED);
        Numbers table = new Numbers();
        List<Integer> inside = new ArrayList<>();
        for (int step = 0; step < 120_000; step++) {
            boolean grows = step % 60_000 < 30_000;
            if (inside.isEmpty() || random.nextInt(10) < (grows ? 8 : 2)) {
                inside.add(add(table, random.nextInt()));
            } else {
                int last = inside.size() - 1;
                int record = inside.set(random.nextInt(inside.size()), inside.get(last));
                inside.removeLast();
                table.remove(record);
                assertThat(table.holds(record)).as("seed %d", SEED).isFalse();
                slabs.release(record, RECORD_BYTES);
            }
            if (step % 10_000 == 9_999) {
                assertThat(table.all()).as("seed %d", SEED).isEqualTo(Set.copyOf(inside));
                assertThat(inside).allMatch(table::holds);
                assertThat(table.size()).isEqualTo(inside.size());
            }
        }
    }

    @Test
    void recordsOfOneHashAreAllFound() {
        Numbers table = new Numbers();
        List<Integer> records = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            records.add(add(table, 7));
        }

        assertThat(records).allMatch(table::holds);
    }

    @Test
    void memoryFollowsTheNumberOfRecords() {
        Numbers table = new Numbers();
        long small = table.bytes();
        List<Integer> records = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            records.add(add(table, Mix.of(i)));
        }
        long large = table.bytes();
        for (int record : records) {
            table.remove(record);
        }

        assertThat(large).isBetween(400_000L, 500_000L);
        assertThat(table.bytes()).isLessThan(large / 8);
        assertThat(small).isLessThan(100);
    }

    @Test
    void moreRecordsInABucketTakeLessMemory() {
        Numbers table = new Numbers(2);
        List<Integer> records = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            records.add(add(table, Mix.of(i)));
        }

        assertThat(table.bytes()).isBetween(200_000L, 250_000L);
        assertThat(records).allMatch(table::holds);
    }

    @Test
    void aTourComesByEveryRecordThatIsThereAllTheTime() {
        Random random = new Random(SEED);
        Numbers table = new Numbers();
        Set<Integer> staying = new HashSet<>();
        List<Integer> passing = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            staying.add(add(table, random.nextInt()));
            passing.add(add(table, random.nextInt()));
        }
        Set<Integer> met = new HashSet<>();

        SplitTable.Tour tour = table.tour();
        while (!tour.isDone()) {
            tour.goOn(10, met::add);
            for (int i = 0; i < 20; i++) {
                if (random.nextInt(3) > 0 && !passing.isEmpty()) {
                    table.remove(passing.removeLast());
                } else {
                    passing.add(add(table, random.nextInt()));
                }
            }
        }

        assertThat(met).as("seed %d", SEED).containsAll(staying);
    }

    @Test
    void aTableShrinksAfterTheTourThatKeptItFromIt() {
        Numbers table = new Numbers();
        List<Integer> records = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            records.add(add(table, Mix.of(i)));
        }
        SplitTable.Tour tour = table.tour();
        records.subList(0, 90_000).forEach(table::remove);
        assertThat(table.bytes()).isGreaterThan(400_000L);

        tour.end();
        records.subList(90_000, 100_000).forEach(table::remove);

        assertThat(table.bytes()).isLessThan(300_000L);
        assertThat(tour.goOn(10, record -> {})).isZero();
    }

    @Test
    void aWalkOverATableThatChangesIsRefused() {
        Numbers table = new Numbers();
        add(table, 1);
        SplitTable.Walk walk = table.walk();
        add(table, 2);

        assertThatThrownBy(walk::next).isInstanceOf(IllegalStateException.class).hasMessageContaining("walked");
    }

    @Test
    void whatIsNotThereCannotBeRemoved() {
        Numbers table = new Numbers();
        int record = add(table, 3);
        table.remove(record);

        assertThatThrownBy(() -> table.remove(record)).hasMessageContaining("missing");
    }

    private int add(Numbers table, int hash) {
        int record = slabs.allocate(RECORD_BYTES);
        slabs.setInt(record, 0, hash);
        table.add(record);
        return record;
    }
}
