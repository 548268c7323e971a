// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.metrics.EventNumbers;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Subscribers to the changes of this master. The core tells changes while there is one and for a minute longer, so that one that comes back
 * can go on where it was.
 */
public final class EventStreams implements EventNumbers {
    /** Why there is no place for one more. */
    public static final String FULL = "all places of subscribers are taken that this caller may have";

    /** Changes that are kept for those who read slowly or come back. */
    static final int CHANGES_KEPT = 1 << 16;

    static final long KEPT_WITHOUT_READER_MS = 60_000;

    private final EventLog log;
    private final CoreTurns core;
    private final BooleanSupplier leads;
    private final LongSupplier clockMs;
    private final SubscriberPlaces places = new SubscriberPlaces();
    private final SnapshotTurns snapshotTurns = new SnapshotTurns();
    private final AtomicLong leftAtMs = new AtomicLong();
    private final AtomicLong snapshots = new AtomicLong();
    private final AtomicLong cut = new AtomicLong();

    /** On the event loop: whether the core tells changes, as far as it is known here. */
    private boolean told;

    private boolean closing;

    /**
     * Without subscribers.
     *
     * @param leads whether this master serves as leader, as it knew lately
     */
    public EventStreams(CoreTurns core, BooleanSupplier leads, LongSupplier clockMs) {
        this(core, leads, clockMs, CHANGES_KEPT);
    }

    EventStreams(CoreTurns core, BooleanSupplier leads, LongSupplier clockMs, int changesKept) {
        this.core = core;
        this.leads = leads;
        this.clockMs = clockMs;
        log = new EventLog(changesKept);
    }

    // ---- on the event loop ----------------------------------------------------------------------------------------

    /** What the core wants done: changes are among it. */
    public void heard(List<Action> actions) {
        if (!told) {
            return;
        }
        boolean any = false;
        for (Action action : actions) {
            if (action instanceof Action.Changed changed) {
                any = true;
                heard(changed.change());
            }
        }
        if (any && !closing && isUnread()) {
            closing = true;
            var _ = core.ask(it -> {
                closing = false;
                if (isUnread()) {
                    it.changes().close();
                    ended();
                }
                return true;
            });
        }
    }

    private void heard(Change change) {
        if (change instanceof Change.Ended) {
            ended();
        } else if (told) {
            log.append(change);
        }
    }

    /** The core tells no more changes of this leadership. */
    public void ended() {
        told = false;
        log.end();
    }

    private boolean isUnread() {
        return places.count() == 0 && clockMs.getAsLong() - leftAtMs.get() > KEPT_WITHOUT_READER_MS;
    }

    private Authority opened(MasterCore it) {
        Authority authority = it.changes().open();
        if (!authority.equals(Authority.NONE)) {
            told = true;
            leftAtMs.set(clockMs.getAsLong()); // no subscriber has entered yet
            log.begin(authority);
        }
        return authority;
    }

    // ---- for subscribers ------------------------------------------------------------------------------------------

    /** Whether this one may not {@link #enter}. */
    public boolean isFull(Subscriber subscriber) {
        return places.isFull(subscriber);
    }

    /** Takes the place of one subscriber, maybe from one of another tenant; empty when there is none. */
    Optional<SubscriberPlaces.Place> enter(Subscriber subscriber) {
        return places.take(subscriber);
    }

    /** Gives that place back. */
    void leave(SubscriberPlaces.Place place) {
        leftAtMs.set(clockMs.getAsLong());
        place.leave();
    }

    /**
     * A stream for one subscriber.
     *
     * @param subscriber what it is shown
     * @param after what it has seen already; without it, or when what follows is not known any more, it gets a snapshot
     * @return a stream, or nothing when this master does not serve as leader
     */
    public CompletableFuture<Optional<EventStream>> open(Subscriber subscriber, Optional<Position> after) {
        return core.ask(this::opened)
                .thenApplyAsync(
                        authority -> authority.equals(Authority.NONE)
                                ? Optional.empty()
                                : Optional.of(new EventStream(
                                        this,
                                        authority,
                                        subscriber,
                                        after.flatMap(position -> log.find(subscriber, position)))),
                        // The core's thread does not look through the log for a subscriber.
                        Thread::startVirtualThread);
    }

    EventLog log() {
        return log;
    }

    CoreTurns core() {
        return core;
    }

    SnapshotTurns snapshotTurns() {
        return snapshotTurns;
    }

    long nowMs() {
        return clockMs.getAsLong();
    }

    boolean leads() {
        return leads.getAsBoolean();
    }

    void countSnapshot() {
        snapshots.incrementAndGet();
    }

    void countCut() {
        cut.incrementAndGet();
    }

    @Override
    public int subscribers() {
        return places.count();
    }

    @Override
    public long snapshots() {
        return snapshots.get();
    }

    @Override
    public long cut() {
        return cut.get();
    }
}
