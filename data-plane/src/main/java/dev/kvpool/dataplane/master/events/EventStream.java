// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.wire.message.Authority;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * What one subscriber reads: a snapshot, unless it goes on where it was, and then changes. A part of the snapshot is asked for when the one
 * before is written, and stands between the changes where it was taken; so neither waits in memory for a slow reader, and at the end of
 * the snapshot a subscriber that applied every line has exactly what the leader has.
 */
public final class EventStream {
    static final int OBJECTS_AT_ONCE = 1_000;
    static final int CHANGES_AT_ONCE = 1_000;
    static final long HEARTBEAT_MS = 1_000;
    private static final long TURN_SECONDS_MAX = 10;

    /** Why a caller of a tenant gets no snapshot now. */
    public static final String SNAPSHOT_UNDER_WAY =
            "another subscriber of this tenant reads a snapshot, and there is one at a"
                    + " time: ask again when that has ended, or go on behind a position with after=POSITION";

    /** Why there are no more lines. */
    private enum Ending {
        LEADERSHIP("this master does not serve as leader any more"),
        CERTIFICATE("the certificate or token of this connection has ended: connect with the next one"),
        SNAPSHOT("this snapshot took too long while another subscriber of this tenant waited for one"),
        PLACE("its place is another subscriber's now: this caller, or its tenant, had more of the places than others"),
        BEHIND("too slow: changes were not read in time");

        private final String reason;

        Ending(String reason) {
            this.reason = reason;
        }
    }

    /** What a turn of the core gives for a snapshot: objects as they are behind this change, and nothing when the leadership ended. */
    private record Part(long sequence, List<Change.Stored> objects, boolean isLast) {}

    private final EventStreams streams;
    private final Authority authority;
    private final Subscriber subscriber;
    private final Optional<EventLog.Place> after;
    private Position at;

    /** How many changes there were for this subscriber: the number in its positions. */
    private long shown;

    private long saidMs;

    /** Its snapshot has taken too long. */
    private boolean turnIsOver;

    /** The place it has among the subscribers, once it is written. */
    private SubscriberPlaces.Place taken;

    EventStream(EventStreams streams, Authority authority, Subscriber subscriber, Optional<EventLog.Place> after) {
        this.streams = streams;
        this.authority = authority;
        this.subscriber = subscriber;
        this.after = after;
        this.at = new Position(authority, after.map(EventLog.Place::sequence).orElse(0L));
        this.shown = after.map(EventLog.Place::shown).orElse(0L);
        this.saidMs = streams.nowMs();
    }

    /** Writes lines until the leadership, or the subscriber's connection, ends, or it falls behind. */
    public void writeTo(OutputStream out) throws IOException {
        EventLines lines = new EventLines(out, subscriber.tenant().isEmpty());
        Optional<SubscriberPlaces.Place> entered = streams.enter(subscriber);
        if (entered.isEmpty()) {
            end(lines, EventStreams.FULL);
            return;
        }
        taken = entered.get();
        try {
            if (after.isPresent() || streams.snapshotTurns().begin(subscriber, streams.nowMs())) {
                write(lines);
            } else {
                end(lines, SNAPSHOT_UNDER_WAY);
            }
        } finally {
            streams.leave(taken);
        }
    }

    /** Whether it begins with a snapshot and there is one for the caller's tenant already. */
    public boolean mustWait() {
        return after.isEmpty() && streams.snapshotTurns().isBusy(subscriber);
    }

    private void write(EventLines lines) throws IOException {
        try {
            if (after.isPresent()) {
                lines.mark("resumed", place());
                lines.flush();
            }
            boolean lasts = after.isPresent() || snapshot(lines);
            while (lasts && streams.leads() && revoked().isEmpty()) {
                lasts = follow(lines, Long.MAX_VALUE, HEARTBEAT_MS);
                lines.flush();
            }
            Optional<Ending> revoked = streams.leads() ? revoked() : Optional.empty();
            end(lines, revoked.orElse(Ending.LEADERSHIP).reason);
        } catch (FellBehindException _) { // by how much would tell how many changes others make
            streams.countCut();
            end(lines, Ending.BEHIND.reason);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted(e);
        }
    }

    /** Whether the certificate or token by which it was opened has ended, or its place or its turn is another one's. */
    private Optional<Ending> revoked() {
        if (!Instant.now().isBefore(subscriber.until())) {
            return Optional.of(Ending.CERTIFICATE);
        }
        if (!taken.isTaken()) {
            return Optional.of(Ending.PLACE);
        }
        return turnIsOver ? Optional.of(Ending.SNAPSHOT) : Optional.empty();
    }

    private static void end(EventLines lines, String reason) throws IOException {
        lines.bye(reason);
        lines.flush();
    }

    /** Answers whether it was written to its end. */
    private boolean snapshot(EventLines lines) throws IOException, FellBehindException, InterruptedException {
        try {
            return writeSnapshot(lines);
        } finally {
            streams.snapshotTurns().end(subscriber);
        }
    }

    private boolean writeSnapshot(EventLines lines) throws IOException, FellBehindException, InterruptedException {
        streams.countSnapshot();
        Optional<Snapshot> begun = turn(Snapshot::new);
        if (begun.isEmpty()) {
            return false;
        }
        Snapshot snapshot = begun.get();
        try {
            at = new Position(authority, snapshot.begin);
            shown = snapshot.shown;
            lines.snapshotBegins(
                    place(),
                    snapshot.nodes.stream()
                            .filter(subscriber::isShown)
                            .map(Change.Node::id)
                            .toList());
            for (boolean done = false; !done; ) {
                turnIsOver = streams.snapshotTurns().isOver(subscriber, streams.nowMs());
                Optional<Part> next = turn(core -> snapshot.next());
                if (next.isEmpty()
                        || !followUpTo(lines, next.get().sequence)
                        || revoked().isPresent()) {
                    return false;
                }
                for (Change.Stored object : next.get().objects) {
                    lines.object(object);
                    saidMs = streams.nowMs();
                }
                heartbeatIfSilent(lines);
                lines.flush();
                done = next.get().isLast;
            }
        } finally {
            var _ = streams.core().ask(core -> snapshot.end());
        }
        lines.mark("snapshot-end", place());
        lines.flush();
        return true;
    }

    private boolean followUpTo(EventLines lines, long sequence)
            throws IOException, FellBehindException, InterruptedException {
        boolean lasts = true;
        while (lasts && at.sequence() < sequence) {
            lasts = follow(lines, sequence, HEARTBEAT_MS);
        }
        return lasts;
    }

    /** Writes some of the changes up to this one, or a sign of life when there is none; answers whether the leadership lasts. */
    private boolean follow(EventLines lines, long upTo, long waitMs)
            throws IOException, FellBehindException, InterruptedException {
        int max = (int) Math.min(CHANGES_AT_ONCE, upTo - at.sequence());
        Optional<EventLog.Batch> batch = streams.log().await(at, max, waitMs);
        if (batch.isEmpty()) {
            return false;
        }
        if (batch.get().changes().isEmpty()) {
            heartbeat(lines);
        }
        for (Change change : batch.get().changes()) {
            at = new Position(authority, at.sequence() + 1);
            if (subscriber.isShown(change)) {
                shown++;
                lines.change(place(), change);
                saidMs = streams.nowMs();
            }
        }
        heartbeatIfSilent(lines);
        return true;
    }

    /** Where there is much that others alone are shown. */
    private void heartbeatIfSilent(EventLines lines) throws IOException {
        if (streams.nowMs() - saidMs >= HEARTBEAT_MS) {
            heartbeat(lines);
        }
    }

    private void heartbeat(EventLines lines) throws IOException {
        lines.mark("heartbeat", place());
        saidMs = streams.nowMs();
    }

    /** The position as this subscriber counts. */
    private Position place() {
        return new Position(subscriber.named(authority), shown);
    }

    /** Asks the core while its changes go to the log under this leadership; empty when they do not any more. */
    private <T> Optional<T> turn(Function<MasterCore, T> question) throws IOException, InterruptedException {
        try {
            return streams.snapshotTurns()
                    .next(
                            () -> streams.core()
                                    .ask(core -> streams.log().isOpenFor(authority)
                                            ? Optional.of(question.apply(core))
                                            : Optional.<T>empty())
                                    .get(TURN_SECONDS_MAX, TimeUnit.SECONDS),
                            TURN_SECONDS_MAX);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("the core of this master does not answer", e);
        }
    }

    private static InterruptedIOException interrupted(InterruptedException cause) {
        InterruptedIOException e = new InterruptedIOException("interrupted while waiting for changes");
        e.initCause(cause);
        return e;
    }

    /** Lives on the core's thread, but for what is fixed. */
    private final class Snapshot {
        private final long begin = streams.log().end(authority).sequence();
        private final long shown = streams.log().count(subscriber);
        private final List<Change.Node> nodes;
        private final Index.Parts parts;

        private Snapshot(MasterCore core) {
            nodes = core.changes().usableNodes();
            parts = core.changes().parts(subscriber.tenant());
        }

        private Part next() {
            List<Change.Stored> objects = parts.next(OBJECTS_AT_ONCE);
            return new Part(streams.log().end(authority).sequence(), objects, parts.isDone());
        }

        private boolean end() {
            parts.end();
            return true;
        }
    }
}
