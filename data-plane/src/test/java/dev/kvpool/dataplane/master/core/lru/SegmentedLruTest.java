// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SegmentedLruTest {
    private static final int OBJECTS = 40;
    private final Links links = new LinkArrays(OBJECTS + 1);
    private final SegmentedLru lru = new SegmentedLru(links);

    /** Objects 1 to 5 come, 2 and 4 are used, 6 comes, 1 is used and 7 comes: the order, and which of it is protected. */
    @ParameterizedTest
    @CsvSource({
        "0, 3 5 2 4 6 1 7, ''",
        "1, 3 5 2 6 4 7 1, 1",
        "2, 3 5 6 2 7 4 1, 4 1",
        "3, 3 5 6 7 2 4 1, 2 4 1",
        "9, 3 5 6 7 2 4 1, 2 4 1"
    })
    void newObjectsStandInFrontOfWhatWasUsed(int protectedMax, String order, String ofThemProtected) {
        lru.setProtectedMax(protectedMax);
        IntStream.rangeClosed(1, 5).forEach(this::come);
        touch(2);
        touch(4);
        come(6);
        touch(1);
        come(7);
        assertThat(order()).isEqualTo(numbers(order));
        assertThat(order().stream().filter(it -> links.isProtected(it)))
                .containsExactlyElementsOf(numbers(ofThemProtected));
    }

    @Test
    void aSmallerSegmentIsReachedByTwoObjectsForEachThatIsUsed() {
        lru.setProtectedMax(6);
        IntStream.rangeClosed(1, 10).forEach(this::come);
        IntStream.rangeClosed(1, 6).forEach(this::touch);
        lru.setProtectedMax(0);
        for (int used = 7; used <= 10; used++) {
            touch(used);
            assertThat(lru.protectedCount()).isEqualTo(12 - used);
        }
        come(11);
        come(12);
        assertThat(lru.protectedCount()).isZero();
        assertThat(order()).isEqualTo(IntStream.rangeClosed(1, 12).boxed().toList());
    }

    /** Against ordered sets of numbers. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void itDoesWhatTwoOrderedSetsDo(long seed) {
        Random random = new Random(seed);
        LinkedHashSet<Integer> probationary = new LinkedHashSet<>();
        LinkedHashSet<Integer> used = new LinkedHashSet<>();
        int max = 0;
        for (int step = 0; step < 5_000; step++) {
            int object = 1 + random.nextInt(OBJECTS);
            boolean there = probationary.contains(object) || used.contains(object);
            switch (random.nextInt(40)) {
                case 0 -> {
                    max = random.nextInt(3) * random.nextInt(OBJECTS / 2);
                    lru.setProtectedMax(max);
                }
                case 1, 2, 3, 4 -> {
                    if (there) {
                        lru.remove(object);
                        probationary.remove(object);
                        used.remove(object);
                    }
                }
                default -> {
                    if (!there && max > 0) {
                        come(object);
                        probationary.add(object);
                        continue;
                    }
                    if (there && lru.isTouched(object)) {
                        assertThat(order().getLast()).isEqualTo(object);
                        continue;
                    }
                    if (there) {
                        touch(object);
                    } else {
                        come(object);
                    }
                    probationary.remove(object);
                    used.remove(object);
                    if (max > 0 || !used.isEmpty()) {
                        used.add(object);
                        for (int i = 0; i < 2 && used.size() > max; i++) {
                            probationary.add(used.removeFirst());
                        }
                    } else {
                        probationary.add(object);
                    }
                }
            }
            List<Integer> expected = new ArrayList<>(probationary);
            expected.addAll(used);
            assertThat(order()).isEqualTo(expected);
            assertThat(lru.protectedCount()).isEqualTo(used.size());
        }
    }

    private void come(int object) {
        if (!lru.enter(object)) {
            lru.append(object);
        }
    }

    private void touch(int object) {
        if (!lru.isTouched(object)) {
            lru.remove(object);
            lru.append(object);
        }
    }

    private List<Integer> order() {
        List<Integer> order = new ArrayList<>();
        int last = Links.NONE;
        for (int object = lru.first(); object != Links.NONE; object = links.after(object)) {
            assertThat(links.before(object)).isEqualTo(last);
            order.add(object);
            last = object;
        }
        assertThat(lru.last()).isEqualTo(last);
        return order;
    }

    private static List<Integer> numbers(String text) {
        return text.isEmpty()
                ? List.of()
                : List.of(text.split(" ", -1)).stream().map(Integer::valueOf).toList();
    }
}
