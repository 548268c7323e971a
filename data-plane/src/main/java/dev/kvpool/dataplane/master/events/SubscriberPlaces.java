// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Who may subscribe. Some places are for callers of no tenant alone; all others are shared by the tenants, and by callers of none that
 * found those taken. While there is room anyone may have it. When there is none, a party that has fewer places than another one gets the
 * newest of the one that has the most, as long as it has no more than that afterwards: so a tenant without a subscriber gets one while
 * there are no more tenants than places.
 */
final class SubscriberPlaces {
    /** For operators, and callers without a certificate. */
    static final int OF_NO_TENANT = 16;

    static final int SHARED = 48;

    /** All of them. */
    static final int MAX = OF_NO_TENANT + SHARED;

    /** Subscribers that lost their place and have not ended yet, as they wait for their reader, at most. */
    static final int LEAVING_MAX = SHARED;

    /** One subscriber's, until it leaves or another one has it. */
    final class Place {
        private final Optional<Tenant> party;
        private boolean taken = true;
        private boolean left;

        private Place(Optional<Tenant> party) {
            this.party = party;
        }

        /** Whether the subscriber still has it. */
        boolean isTaken() {
            synchronized (SubscriberPlaces.this) {
                return taken;
            }
        }

        /** Gives it back, if it was not lost. */
        void leave() {
            synchronized (SubscriberPlaces.this) {
                if (left) {
                    return;
                }
                left = true;
                if (!taken) {
                    leaving--;
                    return;
                }
                taken = false;
                Deque<Place> own = places.get(party);
                own.remove(this);
                if (own.isEmpty()) {
                    places.remove(party);
                }
                count--;
            }
        }
    }

    /** By party, in the order in which they were taken. */
    private final Map<Optional<Tenant>, Deque<Place>> places = new HashMap<>();

    private int count;
    private int leaving;

    /** Takes a place; empty when there is none for this one. */
    synchronized Optional<Place> take(Subscriber subscriber) {
        Optional<Tenant> party = subscriber.caller();
        if (!hasRoom(party)) {
            Optional<Optional<Tenant>> loser = loserTo(party);
            if (loser.isEmpty()) {
                return Optional.empty();
            }
            places.get(loser.get()).removeLast().taken = false;
            count--;
            leaving++;
        }
        Place place = new Place(party);
        places.computeIfAbsent(party, _ -> new ArrayDeque<>()).addLast(place);
        count++;
        return Optional.of(place);
    }

    /** Whether {@link #take} would answer none. */
    synchronized boolean isFull(Subscriber subscriber) {
        return !hasRoom(subscriber.caller()) && loserTo(subscriber.caller()).isEmpty();
    }

    /** How many are taken. */
    synchronized int count() {
        return count;
    }

    private boolean hasRoom(Optional<Tenant> party) {
        int shared = count - Math.min(of(Optional.empty()), OF_NO_TENANT);
        return (party.isEmpty() && of(party) < OF_NO_TENANT) || shared < SHARED;
    }

    /** The party whose newest place this one may have. */
    private Optional<Optional<Tenant>> loserTo(Optional<Tenant> party) {
        if (leaving >= LEAVING_MAX) {
            return Optional.empty();
        }
        return places.keySet().stream()
                .max(Comparator.comparingInt(this::shared))
                .filter(most -> shared(most) > shared(party) + 1);
    }

    /** Those of the shared places that a party has. */
    private int shared(Optional<Tenant> party) {
        return party.isEmpty() ? Math.max(0, of(party) - OF_NO_TENANT) : of(party);
    }

    private int of(Optional<Tenant> party) {
        Deque<Place> own = places.get(party);
        return own == null ? 0 : own.size();
    }
}
