// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The latest changes of one leadership, numbered from 1, in a ring: the event loop appends, subscribers read at their own pace. */
final class EventLog {
    /** Some changes that follow each other; empty when there was none in time. */
    record Batch(long first, List<Change> changes) {
        long last() {
            return first + changes.size() - 1;
        }
    }

    /**
     * How far a subscriber is.
     *
     * @param sequence behind the change of this number
     * @param shown how many of them were for this subscriber
     */
    record Place(long sequence, long shown) {}

    /** Changes that are looked through at a time, while the core waits: some tens of microseconds. */
    private static final int FOUND_AT_ONCE = 256;

    private final int kept;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition more = lock.newCondition();
    private Change[] ring = {};
    private Authority authority = Authority.NONE;
    private boolean open;

    /** The number of the first change since it was opened, and of the newest one. */
    private long first = 1;

    private long last;

    /** How many changes of this leadership were for readers of one tenant alone, by tenant, and for all. */
    private final Map<Tenant, Long> ofTenants = new HashMap<>();

    private long ofAll;

    /** @param kept how many changes it keeps */
    EventLog(int kept) {
        this.kept = kept;
    }

    /** All changes of this leadership are appended from now on. What may have been missed before gets a number that nothing has. */
    void begin(Authority by) {
        lock.lock();
        try {
            if (open && authority.equals(by)) {
                return;
            }
            if (authority.equals(by)) {
                last++;
                ofAll++;
            } else {
                last = 0;
                ofAll = 0;
                ofTenants.clear();
            }
            first = last + 1;
            authority = by;
            ring = new Change[kept];
            open = true;
        } finally {
            lock.unlock();
        }
    }

    /** Nothing is appended any more; readers hear of it. */
    void end() {
        lock.lock();
        try {
            open = false;
            ring = new Change[0];
            more.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void append(Change change) {
        lock.lock();
        try {
            last++;
            ring[place(last)] = change;
            change.tenant().ifPresentOrElse(tenant -> ofTenants.merge(tenant, 1L, Long::sum), () -> ofAll++);
            more.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Whether every change of this leadership comes here. */
    boolean isOpenFor(Authority by) {
        lock.lock();
        try {
            return open && authority.equals(by);
        } finally {
            lock.unlock();
        }
    }

    /** Behind the newest change. */
    Position end(Authority by) {
        lock.lock();
        try {
            return new Position(by, last);
        } finally {
            lock.unlock();
        }
    }

    /** How many changes of this leadership there were for a subscriber: its number of the newest one. */
    long count(Subscriber subscriber) {
        lock.lock();
        try {
            return subscriber
                    .tenant()
                    .map(tenant -> ofAll + ofTenants.getOrDefault(tenant, 0L))
                    .orElse(last);
        } finally {
            lock.unlock();
        }
    }

    /** Where a subscriber goes on that has seen everything up to a position of its own; empty when what follows is not known here. */
    Optional<Place> find(Subscriber subscriber, Position position) {
        Optional<Place> newest = newest(subscriber, position);
        if (newest.isEmpty() || subscriber.tenant().isEmpty()) {
            return newest.filter(_ -> follows(position)).map(_ -> new Place(position.sequence(), position.sequence()));
        }
        Optional<Place> place = newest;
        while (place.isPresent() && place.get().shown() > position.sequence()) {
            place = before(subscriber, place.get(), position);
        }
        return place.filter(found -> found.shown() == position.sequence());
    }

    /** Where it is that has seen everything; empty when the position is of another leadership. */
    private Optional<Place> newest(Subscriber subscriber, Position position) {
        lock.lock();
        try {
            return open && subscriber.named(authority).equals(position.authority())
                    ? Optional.of(new Place(last, count(subscriber)))
                    : Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /** Some changes before a place, or as many as lie behind the position: the core, which appends, does not wait for all of them. */
    private Optional<Place> before(Subscriber subscriber, Place place, Position position) {
        lock.lock();
        try {
            if (!open || !subscriber.named(authority).equals(position.authority())) {
                return Optional.empty();
            }
            long at = place.sequence();
            long number = place.shown();
            long end = at - FOUND_AT_ONCE;
            while (number > position.sequence() && at > end) {
                if (at < oldest()) {
                    return Optional.empty();
                }
                number -= subscriber.isShown(ring[place(at)]) ? 1 : 0;
                at--;
            }
            return Optional.of(new Place(at, number));
        } finally {
            lock.unlock();
        }
    }

    /** Whether every change behind a position of one that is shown everything is here. */
    boolean follows(Position position) {
        lock.lock();
        try {
            return isOf(position) && position.sequence() >= oldest() - 1 && position.sequence() <= last;
        } finally {
            lock.unlock();
        }
    }

    /**
     * What follows a position, at most {@code max} changes; waits for the first of them.
     *
     * @return empty when the leadership has ended
     * @throws FellBehindException when what follows is not here any more
     */
    Optional<Batch> await(Position after, int max, long waitMs) throws FellBehindException, InterruptedException {
        lock.lockInterruptibly();
        try {
            long leftNs = TimeUnit.MILLISECONDS.toNanos(waitMs);
            while (isOf(after) && last == after.sequence() && leftNs > 0) {
                leftNs = more.awaitNanos(leftNs);
            }
            if (!isOf(after)) {
                return Optional.empty();
            }
            if (after.sequence() < oldest() - 1) {
                throw new FellBehindException(oldest() - 1 - after.sequence());
            }
            List<Change> changes = new ArrayList<>();
            for (long number = after.sequence() + 1; number <= last && changes.size() < max; number++) {
                changes.add(ring[place(number)]);
            }
            return Optional.of(new Batch(after.sequence() + 1, changes));
        } finally {
            lock.unlock();
        }
    }

    private boolean isOf(Position position) {
        return open && authority.equals(position.authority());
    }

    private long oldest() {
        return Math.max(first, last - kept + 1);
    }

    private int place(long number) {
        return (int) (number % kept);
    }
}
