// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UseOrderTest {
    private static final int OBJECTS = 40;
    private final LinkArrays links = new LinkArrays(OBJECTS + 1);
    private final UseOrder order = new UseOrder(links);

    @Test
    void thoseUsedMoreOftenStandBehind() {
        add(1, 0);
        add(2, 3);
        add(3, 0);
        add(4, 1);
        add(5, 3);
        assertThat(all()).containsExactly(1, 3, 4, 2, 5);
        assertThat(order.firsts()).containsExactly(1, 4, 0, 2, 0, 0, 0, 0);
        assertThat(IntStream.of(3, 4, 5).allMatch(order::isLastOfPart)).isTrue();
        assertThat(IntStream.of(1, 2).anyMatch(order::isLastOfPart)).isFalse();
        assertThat(order.nextInPart(0, 1)).isEqualTo(3);
        assertThat(order.nextInPart(0, 3)).isEqualTo(Links.NONE);
    }

    @Test
    void whatIsAppendedStandsBehindAllOthers() {
        add(1, 2);
        links.setUsed(2, 0, 0);
        order.append(2);
        add(3, 2);
        add(4, 1);
        assertThat(all()).containsExactly(4, 1, 2, 3);
        assertThat(order.isLastOfPart(2)).isFalse();
    }

    @Test
    void unitedTheyAreOnePart() {
        add(1, 2);
        add(2, 0);
        add(3, 5);
        order.unite();
        assertThat(order.firsts()).containsExactly(2, 0, 0, 0, 0, 0, 0, 0);
        assertThat(order.isLastOfPart(3)).isFalse();
        add(4, 0);
        add(5, 1);
        assertThat(all()).containsExactly(2, 1, 3, 4, 5);
        order.remove(2);
        assertThat(order.firsts()).containsExactly(1, 5, 0, 0, 0, 0, 0, 0);
    }

    /** Against a list for each part. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void itDoesWhatListsDo(long seed) {
        Random random = new Random(seed);
        List<List<Integer>> parts = new ArrayList<>();
        IntStream.rangeClosed(0, UseOrder.USES_MAX).forEach(part -> parts.add(new ArrayList<>()));
        for (int step = 0; step < 5_000; step++) {
            Integer object = 1 + random.nextInt(OBJECTS);
            boolean wasThere = parts.stream().anyMatch(part -> part.contains(object));
            if (wasThere) {
                order.remove(object);
                parts.forEach(part -> part.removeIf(object::equals));
            }
            int action = random.nextInt(60);
            if (action == 0) {
                order.unite();
                List<Integer> all = parts.stream().flatMap(List::stream).toList();
                parts.forEach(List::clear);
                parts.getFirst().addAll(all);
            } else if (action < 5) {
                links.setUsed(object, random.nextInt(UseOrder.USES_MAX + 1), 0);
                order.append(object);
                parts.reversed().stream()
                        .filter(part -> !part.isEmpty())
                        .findFirst()
                        .orElse(parts.getFirst())
                        .add(object);
            } else if (action < 40) {
                int uses = random.nextInt(UseOrder.USES_MAX + 1);
                add(object, uses);
                parts.get(uses).add(object);
            }
            assertThat(all()).isEqualTo(parts.stream().flatMap(List::stream).toList());
            assertThat(order.firsts())
                    .containsExactly(parts.stream()
                            .mapToInt(part -> part.isEmpty() ? Links.NONE : part.getFirst())
                            .toArray());
        }
    }

    private void add(int object, int uses) {
        links.setUsed(object, uses, 0);
        order.add(object);
    }

    private List<Integer> all() {
        List<Integer> all = new ArrayList<>();
        int last = Links.NONE;
        for (int object = order.first(); object != Links.NONE; object = links.after(object)) {
            assertThat(links.before(object)).isEqualTo(last);
            all.add(object);
            last = object;
        }
        assertThat(order.last()).isEqualTo(last);
        return all;
    }
}
