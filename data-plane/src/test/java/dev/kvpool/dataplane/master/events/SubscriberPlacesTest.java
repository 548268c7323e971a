// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.events.SubscriberPlaces.Place;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Who gets a place when there are more subscribers than places. */
class SubscriberPlacesTest {
    private static final Subscriber OPERATOR = Subscriber.OF_ALL;
    private static final int SHARED = SubscriberPlaces.SHARED;

    private final SubscriberPlaces places = new SubscriberPlaces();

    private static Subscriber of(String name) {
        Optional<Tenant> tenant = Optional.of(Tenant.of(name));
        return new Subscriber(tenant, tenant, Instant.MAX);
    }

    private List<Place> take(Subscriber subscriber, int count) {
        List<Place> taken = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            taken.add(places.take(subscriber).orElseThrow());
        }
        return taken;
    }

    private static long kept(List<Place> taken) {
        return taken.stream().filter(Place::isTaken).count();
    }

    @Test
    void operatorsHavePlacesThatTenantsCannotTake() {
        for (int i = 0; i < 4; i++) {
            take(of("t" + i), SHARED / 4);
        }
        assertThat(places.isFull(of("t0"))).isTrue();
        assertThat(places.take(of("t0"))).isEmpty();

        assertThat(kept(take(OPERATOR, SubscriberPlaces.OF_NO_TENANT))).isEqualTo(SubscriberPlaces.OF_NO_TENANT);
        assertThat(places.count()).isEqualTo(SubscriberPlaces.MAX);
        assertThat(places.take(OPERATOR)).as("of the shared ones").isPresent();
    }

    @Test
    void operatorsMayHaveAllUntilTenantsCome() {
        List<Place> operators = take(OPERATOR, SubscriberPlaces.MAX);
        assertThat(places.isFull(OPERATOR)).isTrue();

        take(of("one"), SHARED / 2);

        assertThat(kept(operators)).isEqualTo(SubscriberPlaces.MAX - SHARED / 2);
        assertThat(places.isFull(of("one")))
                .as("with as many of the shared ones")
                .isTrue();
        assertThat(places.isFull(OPERATOR)).isTrue();
    }

    @Test
    void whoHasMostLosesTheNewest() {
        List<Place> most = take(of("most"), SHARED - 2);
        List<Place> few = take(of("few"), 2);

        assertThat(places.isFull(of("new"))).isFalse();
        Place first = places.take(of("new")).orElseThrow();

        assertThat(most.getLast().isTaken()).isFalse();
        assertThat(kept(most)).isEqualTo(SHARED - 3);
        assertThat(kept(few)).isEqualTo(2);
        assertThat(first.isTaken()).isTrue();
        most.getLast().leave();
        assertThat(places.count()).as("its place was given on").isEqualTo(SHARED);
        first.leave();
        first.leave();
        assertThat(places.count()).isEqualTo(SHARED - 1);
    }

    @Test
    void aTenantWithoutASubscriberGetsOneWhileThereAreNoMoreTenantsThanPlaces() {
        take(of("greedy"), SHARED);
        for (int i = 1; i < SHARED; i++) {
            assertThat(places.take(of("t" + i))).as("tenant %d", i).isPresent();
        }
        assertThat(places.take(of("one-too-many"))).isEmpty();
        assertThat(places.take(OPERATOR)).isPresent();
    }

    @Test
    void thoseThatLostTheirsAndDoNotEndAreBounded() {
        List<Place> stuck = new ArrayList<>(take(of("stuck"), SHARED));
        for (Optional<Place> other = places.take(of("other"));
                other.isPresent() && stuck.size() < 10 * SHARED;
                other = places.take(of("other"))) {
            other.get().leave();
            stuck.add(places.take(of("stuck")).orElseThrow());
        }
        long lost = stuck.size() - kept(stuck);
        assertThat(lost).isEqualTo(SubscriberPlaces.LEAVING_MAX);
        stuck.stream().filter(place -> !place.isTaken()).forEach(Place::leave);
        assertThat(places.take(of("third"))).isPresent();
    }

    @Test
    void sharesAreFairWhateverHappens() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Map<String, List<Place>> held = new HashMap<>();
        for (int step = 0; step < 20_000; step++) {
            String name = "t" + random.nextInt(random.nextBoolean() ? 60 : 3);
            List<Place> own = held.computeIfAbsent(name, _ -> new ArrayList<>());
            own.removeIf(place -> {
                if (!place.isTaken()) {
                    place.leave();
                }
                return !place.isTaken();
            });
            if (random.nextInt(4) == 0 && !own.isEmpty()) {
                own.remove(random.nextInt(own.size())).leave();
                continue;
            }
            boolean full = places.isFull(of(name));
            Optional<Place> place = places.take(of(name));
            assertThat(place.isEmpty()).isEqualTo(full);
            place.ifPresent(own::add);
            held.values()
                    .forEach(taken -> taken.removeIf(it -> {
                        if (!it.isTaken()) {
                            it.leave();
                        }
                        return !it.isTaken();
                    }));
            int most = held.values().stream().mapToInt(List::size).max().orElseThrow();
            assertThat(places.count())
                    .isEqualTo(held.values().stream().mapToInt(List::size).sum())
                    .isLessThanOrEqualTo(SHARED);
            if (place.isEmpty()) {
                assertThat(own.size()).as("one that is refused has its share").isGreaterThanOrEqualTo(most - 1);
            }
        }
    }
}
