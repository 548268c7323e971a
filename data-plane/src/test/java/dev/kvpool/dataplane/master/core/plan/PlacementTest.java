// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlacementTest {
    private static final int MANY = 1000;
    private static final String LATER = "later";

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
        public boolean awaitsZone() {
            return zone.equals(LATER);
        }

        boolean hasRoom(long extentBytes) {
            return freeBytes >= extentBytes && freeSlots > 0;
        }
    }

    private final Random random = new Random(1);

    @Test
    void nodesWithoutRoomAreNotChosen() {
        List<Room> rooms = List.of(new Room("full", 99, 10), new Room("noslots", 1000, 0), new Room("good", 100, 1));

        for (int i = 0; i < 100; i++) {
            assertThat(choose(rooms, 100, 3, "")).extracting(Room::id).containsExactly("good");
        }
    }

    @Test
    void nobodyHasRoom() {
        assertThat(choose(List.of(new Room("a", 5, 5)), 6, 1, "")).isEmpty();
        assertThat(choose(List.of(), 0, 1, "")).isEmpty();
    }

    @Test
    void thePreferredNodeComesFirstIfItHasRoom() {
        List<Room> rooms = List.of(new Room("a", 1000, 9), new Room("b", 100, 9), new Room("c", 1000, 9));

        assertThat(choose(rooms, 50, 2, "b").getFirst().id()).isEqualTo("b");
        assertThat(choose(rooms, 500, 1, "b").getFirst().id()).isNotEqualTo("b");
    }

    @Test
    void memoryOfAProcessIsPreferredByItsHostAndPort() {
        List<Room> rooms = List.of(
                new Room("10.0.0.1:12345-0123abcd", 1000, 9),
                new Room("10.0.0.2:12345-0123abcd", 100, 9),
                new Room("10.0.0.2:123-456", 1000, 9),
                new Room("10.0.0.2:1234", 100, 9),
                new Room("10.0.0.2:1234-0123abcd", 1000, 9));

        assertThat(choose(rooms, 50, 1, "10.0.0.2:12345")).extracting(Room::id).containsExactly(rooms.get(1).id);
        assertThat(choose(rooms, 50, 1, "10.0.0.2:1234")).extracting(Room::id).containsExactly(rooms.get(3).id);
        for (String none : List.of("10.0.0.2", "10.0.0.2:123", "10.0.0.2:12345-0123abc", "-0123abcd")) {
            assertThat(new Placement<>(rooms, Room::hasRoom, List.of(none), new Random(1)).choose(50, 5))
                    .as(none)
                    .extracting(Room::id)
                    .containsExactlyElementsOf(new Placement<>(rooms, Room::hasRoom, List.of(), new Random(1))
                            .choose(50, 5).stream().map(Room::id).toList());
        }
    }

    @Test
    void preferredNodesAreTriedInTheirOrder() {
        List<Room> rooms =
                List.of(new Room("a", 1000, 9), new Room("b", 100, 9), new Room("c", 1000, 9), new Room("d", 1000, 0));

        assertThat(choose(rooms, 50, 1, "c,b,a")).extracting(Room::id).containsExactly("c");
        assertThat(choose(rooms, 50, 2, "d,nobody,b,c,b,a"))
                .extracting(Room::id)
                .containsExactly("b", "c");
        assertThat(choose(rooms, 500, 2, "b,c")).extracting(Room::id).containsExactly("c", "a");
    }

    @Test
    void manyNodesAreNotInTheWayOfThosePreferred() {
        List<Room> rooms = many(n -> new Room("n" + n, 1000, 9));

        for (int i = 0; i < 100; i++) {
            assertThat(choose(rooms, 1, 2, "n998,n3")).extracting(Room::id).containsExactly("n998", "n3");
        }
    }

    @Test
    void copiesAreOnDifferentNodes() {
        List<Room> rooms = List.of(new Room("a", 10, 9), new Room("b", 10, 9), new Room("c", 10, 9));

        for (int i = 0; i < 100; i++) {
            assertThat(choose(rooms, 1, 3, "c")).hasSize(3).doesNotHaveDuplicates();
        }
    }

    @Test
    void aNodeWhoseZoneIsNotKnownYetTakesNoneOfSeveralCopiesWhileOthersCan() {
        List<Room> rooms = List.of(
                Room.in("east", "a"),
                new Room("b", "west", 1000, 9, 0.1),
                new Room("full", "north", 0, 9, 1),
                Room.in(LATER, "new"));

        for (int i = 0; i < 100; i++) {
            assertThat(choose(rooms, 1, 2, "new")).extracting(Room::id).containsExactlyInAnyOrder("a", "b");
            assertThat(choose(rooms, 1, 3, ""))
                    .hasSize(3)
                    .last()
                    .extracting(Room::id)
                    .isEqualTo("new");
        }
        assertThat(choose(rooms, 1, 1, "new"))
                .as("one copy shares no zone")
                .extracting(Room::id)
                .containsExactly("new");
    }

    @Test
    void copiesAreInDifferentZonesAsLongAsThereAreAny() {
        List<Room> rooms =
                List.of(Room.in("east", "a"), Room.in("east", "b"), Room.in("east", "c"), Room.in("west", "d"));

        for (int i = 0; i < 100; i++) {
            List<Room> two = choose(rooms, 1, 2, "");
            assertThat(two).extracting(Room::zone).containsExactlyInAnyOrder("east", "west");
            assertThat(choose(rooms, 1, 3, "")).hasSize(3).extracting(Room::id).contains("d");
        }
    }

    @Test
    void aNodeThatIsNotTrustedIsTakenWhenNoOtherIsLeft() {
        List<Room> rooms = List.of(Room.willing(0, "bad"), Room.willing(1, "good"), Room.willing(1, "fine"));

        for (int i = 0; i < 100; i++) {
            assertThat(choose(rooms, 1, 2, "bad")).extracting(Room::id).containsExactlyInAnyOrder("good", "fine");
        }
        assertThat(choose(rooms, 1, 3, "")).hasSize(3);
        assertThat(choose(List.of(Room.willing(0, "bad")), 1, 1, "")).hasSize(1);
    }

    @Test
    void aNodeThatIsFilledSlowlyGetsItsPart() {
        List<Room> rooms = List.of(Room.willing(0.1, "new"), Room.willing(1, "old"));
        int times = 0;
        for (int i = 0; i < 10_000; i++) {
            times += choose(rooms, 1, 1, "").getFirst().id().equals("new") ? 1 : 0;
        }

        // Considered for a tenth; then it has the first of two equal draws in three cases of four, or in one.
        assertThat(times).isBetween(200, 800);
    }

    @Test
    void emptierNodesGetMoreButNotAll() {
        List<Room> rooms = List.of(new Room("empty", 1000, 9), new Room("half", 500, 9), new Room("low", 100, 9));
        Map<String, Integer> times = new HashMap<>();
        for (int i = 0; i < 9_000; i++) {
            times.merge(choose(rooms, 1, 1, "").getFirst().id(), 1, Integer::sum);
        }

        // Of nine pairs the emptiest node is in five, the next wins three, the fullest is drawn twice in one.
        assertThat(times.get("empty")).isBetween(4_700, 5_300);
        assertThat(times.get("half")).isBetween(2_700, 3_300);
        assertThat(times.get("low")).isBetween(800, 1_200);
    }

    @Test
    void ofManyNodesTheOnlyOneWithRoomIsFound() {
        List<Room> rooms = many(n -> new Room("n" + n, n == 777 ? 1000 : 1, 9));

        for (int i = 0; i < 20; i++) {
            assertThat(choose(rooms, 100, 2, "")).extracting(Room::id).containsExactly("n777");
        }
    }

    @Test
    void ofManyNodesThePreferredOneComesFirst() {
        List<Room> rooms = many(n -> new Room("n" + n, 1000, 9));

        for (int i = 0; i < 100; i++) {
            assertThat(choose(rooms, 100, 3, "n5"))
                    .hasSize(3)
                    .doesNotHaveDuplicates()
                    .first()
                    .extracting(Room::id)
                    .isEqualTo("n5");
        }
    }

    @Test
    void ofManyNodesCopiesAreInTheZonesThereAre() {
        List<Room> rooms = many(n -> Room.in(n == 500 ? "small" : n == 501 ? "tiny" : "large", "n" + n));

        for (int i = 0; i < 20; i++) {
            assertThat(choose(rooms, 1, 3, ""))
                    .extracting(Room::zone)
                    .containsExactlyInAnyOrder("small", "tiny", "large");
            assertThat(choose(rooms, 1, 4, "")).extracting(Room::zone).contains("small", "tiny", "large");
        }
    }

    @Test
    void ofManyNodesThoseThatAreNotTrustedAreTakenWhenNoOthersAreLeft() {
        List<Room> rooms = many(n -> Room.willing(n % 500 == 3 ? 1 : 0, "n" + n));

        for (int i = 0; i < 20; i++) {
            assertThat(choose(rooms, 1, 3, "")).extracting(Room::id).hasSize(3).contains("n3", "n503");
        }
    }

    @Test
    void ofManyNodesFewAreLookedAtAndEachIsTakenAsOften() {
        AtomicInteger looks = new AtomicInteger();
        List<Counting> rooms = IntStream.range(0, MANY)
                .mapToObj(n -> new Counting(new Room("n" + n, 1000, 9), looks))
                .toList();
        Map<String, Integer> times = new HashMap<>();
        int objects = 20 * MANY;
        for (int i = 0; i < objects; i++) {
            List<Counting> chosen = new Placement<>(rooms, Counting::hasRoom, List.of(), random).choose(1, 2);
            assertThat(chosen).hasSize(2).doesNotHaveDuplicates();
            chosen.forEach(room -> times.merge(room.id(), 1, Integer::sum));
        }

        assertThat(looks.get()).isEqualTo(objects * 2 * Placement.SAMPLE_A_COPY);
        // 40 times each on average, give or take six and a half.
        assertThat(times).hasSize(MANY);
        assertThat(times.values()).allSatisfy(count -> assertThat(count).isBetween(10, 80));
    }

    private record Counting(Room room, AtomicInteger looks) implements Placement.Candidate {
        @Override
        public String id() {
            return room.id;
        }

        @Override
        public String zone() {
            return room.zone;
        }

        @Override
        public boolean awaitsZone() {
            return false;
        }

        boolean hasRoom(long extentBytes) {
            looks.incrementAndGet();
            return room.hasRoom(extentBytes);
        }

        @Override
        public long freeBytes() {
            return room.freeBytes;
        }

        @Override
        public double willingness() {
            return room.willingness;
        }
    }

    private static List<Room> many(IntFunction<Room> room) {
        return IntStream.range(0, MANY).mapToObj(room).toList();
    }

    private List<Room> choose(List<Room> rooms, long extentBytes, int replicas, String preferred) {
        return new Placement<>(rooms, Room::hasRoom, NodeName.list(preferred), random).choose(extentBytes, replicas);
    }
}
