// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PlacementTest {
    private record Room(String id, String zone, long freeBytes, long freeSlots, double willingness)
            implements Placement.Candidate {
        Room(String id, long freeBytes, long freeSlots) {
            this(id, "", freeBytes, freeSlots, 1);
        }

        static Room in(String zone, String id) {
            return new Room(id, zone, 1000, 9, 1);
        }

        static Room willing(double willingness, String id) {
            return new Room(id, "", 1000, 9, willingness);
        }

        @Override
        public boolean hasRoom(long extentBytes) {
            return freeBytes >= extentBytes && freeSlots > 0;
        }
    }

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
    void copiesAreInDifferentZonesAsLongAsThereAreAny() {
        List<Room> rooms =
                List.of(Room.in("east", "a"), Room.in("east", "b"), Room.in("east", "c"), Room.in("west", "d"));

        for (int i = 0; i < 100; i++) {
            List<Room> two = Placement.choose(rooms, 1, 2, "", random);
            assertThat(two).extracting(Room::zone).containsExactlyInAnyOrder("east", "west");
            assertThat(Placement.choose(rooms, 1, 3, "", random))
                    .hasSize(3)
                    .extracting(Room::id)
                    .contains("d");
        }
    }

    @Test
    void aNodeThatIsNotTrustedIsTakenWhenNoOtherIsLeft() {
        List<Room> rooms = List.of(Room.willing(0, "bad"), Room.willing(1, "good"), Room.willing(1, "fine"));

        for (int i = 0; i < 100; i++) {
            assertThat(Placement.choose(rooms, 1, 2, "bad", random))
                    .extracting(Room::id)
                    .containsExactlyInAnyOrder("good", "fine");
        }
        assertThat(Placement.choose(rooms, 1, 3, "", random)).hasSize(3);
        assertThat(Placement.choose(List.of(Room.willing(0, "bad")), 1, 1, "", random))
                .hasSize(1);
    }

    @Test
    void aNodeThatIsFilledSlowlyGetsItsPart() {
        List<Room> rooms = List.of(Room.willing(0.1, "new"), Room.willing(1, "old"));
        int times = 0;
        for (int i = 0; i < 10_000; i++) {
            times += Placement.choose(rooms, 1, 1, "", random).getFirst().id().equals("new") ? 1 : 0;
        }

        // Considered for a tenth; then it has the first of two equal draws in three cases of four, or in one.
        assertThat(times).isBetween(200, 800);
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
