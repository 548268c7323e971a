// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PlacementTest {
    private record Room(String id, long freeBytes, long freeSlots) implements Placement.Candidate {}

    private final Random random = new Random(1);

    @Test
    void nodesWithoutRoomAreNotChosen() {
        List<Room> rooms = List.of(new Room("full", 99, 10), new Room("noslots", 1000, 0), new Room("good", 100, 1));

        for (int i = 0; i < 100; i++) {
            assertThat(Placement.choose(rooms, 100, 3, "", random))
                    .extracting(Room::id)
                    .containsExactly("good");
        }
    }

    @Test
    void nobodyHasRoom() {
        assertThat(Placement.choose(List.of(new Room("a", 5, 5)), 6, 1, "", random))
                .isEmpty();
        assertThat(Placement.choose(List.<Room>of(), 0, 1, "", random)).isEmpty();
    }

    @Test
    void thePreferredNodeComesFirstIfItHasRoom() {
        List<Room> rooms = List.of(new Room("a", 1000, 9), new Room("b", 100, 9), new Room("c", 1000, 9));

        assertThat(Placement.choose(rooms, 50, 2, "b", random).getFirst().id()).isEqualTo("b");
        assertThat(Placement.choose(rooms, 500, 1, "b", random).getFirst().id()).isNotEqualTo("b");
    }

    @Test
    void copiesAreOnDifferentNodes() {
        List<Room> rooms = List.of(new Room("a", 10, 9), new Room("b", 10, 9), new Room("c", 10, 9));

        for (int i = 0; i < 100; i++) {
            assertThat(Placement.choose(rooms, 1, 3, "c", random)).hasSize(3).doesNotHaveDuplicates();
        }
    }

    @Test
    void emptierNodesGetMoreButNotAll() {
        List<Room> rooms = List.of(new Room("empty", 1000, 9), new Room("half", 500, 9), new Room("low", 100, 9));
        Map<String, Integer> times = new HashMap<>();
        for (int i = 0; i < 9_000; i++) {
            times.merge(Placement.choose(rooms, 1, 1, "", random).getFirst().id(), 1, Integer::sum);
        }

        // Of nine pairs the emptiest node is in five, the next wins three, the fullest is drawn twice in one.
        assertThat(times.get("empty")).isBetween(4_700, 5_300);
        assertThat(times.get("half")).isBetween(2_700, 3_300);
        assertThat(times.get("low")).isBetween(800, 1_200);
    }
}
