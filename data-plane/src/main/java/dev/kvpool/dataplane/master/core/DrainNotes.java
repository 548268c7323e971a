// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.Tombstones.Grave;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Has a majority of the expected nodes keep how far each {@link Drain} is, and goes on with what it finds there. A leader
 * hears half of them before it shows what it found, so it hears the newest note about each node. That a drain is over is
 * noted as well, and stays noted until every expected node is in view and no older note is left anywhere.
 */
final class DrainNotes {
    /** A new note is written when this part of its time has passed: so much may a change of leaders give back to a drain. */
    private static final long NOTES_A_DRAIN = 16;

    private static final long PERIOD_MS_MAX = 60_000;

    private record Newest(Grave grave, DrainNote note, int notes) {}

    private final Leadership leadership;
    private final Membership membership;
    private final Tombstones tombstones;
    private final Purges purges;
    private final Burials burials;
    private final Drains drains;

    DrainNotes(Leadership leadership, View view, Orders orders, Burials burials, Drains drains) {
        this.leadership = leadership;
        this.membership = view.membership();
        this.tombstones = view.tombstones();
        this.purges = orders.purges();
        this.burials = burials;
        this.drains = drains;
    }

    /** Goes on with drains that nodes know of and this leader does not. */
    void resume(long nowMs) {
        newestOfEach().values().forEach(it -> drains.found(it.note, it.grave.upTo(), nowMs));
    }

    void tick(Authority authority, long nowMs) {
        if (tombstones.drainNotes().isEmpty() && drains.all().isEmpty()) {
            return;
        }
        resume(nowMs);
        if (membership.isMajorityInView() && !membership.expected().isEmpty()) {
            drains.all().forEach(drain -> writeIfDue(drain, nowMs));
        }
        Map<String, Newest> newest = newestOfEach();
        for (Grave grave : List.copyOf(tombstones.drainNotes())) {
            Optional<DrainNote> note = DrainNote.read(grave.key);
            if (note.isPresent() && isValid(grave)) {
                lookAfter(grave, newest.get(note.get().node()), authority, nowMs);
            }
        }
    }

    /** The newest note about each node. Those that this version does not understand are left alone. */
    private Map<String, Newest> newestOfEach() {
        Map<String, Newest> newest = new TreeMap<>();
        for (Grave grave : tombstones.drainNotes()) {
            if (isValid(grave)) {
                DrainNote.read(grave.key)
                        .ifPresent(note -> newest.merge(note.node(), new Newest(grave, note, 1), DrainNotes::newer));
            }
        }
        return newest;
    }

    private static Newest newer(Newest one, Newest other) {
        Newest newer = other.grave.upTo().isNewerThan(one.grave.upTo()) ? other : one;
        return new Newest(newer.grave, newer.note, one.notes + other.notes);
    }

    /** A purge takes notes as well. */
    private boolean isValid(Grave grave) {
        return !purges.isPurged(grave.upTo());
    }

    private void writeIfDue(Drain drain, long nowMs) {
        DrainNote now = drain.note(nowMs);
        boolean rests = drain.noted != null && nowMs < drain.notedMs + Bounds.BURY_PAUSE_MS && isSame(drain.noted, now);
        boolean underWay = drain.noted != null && burials.isBurying(drain.noted.key());
        if (rests || underWay || !isDue(drain, now, nowMs)) {
            return;
        }
        ObjectId id = leadership.nextObjectId();
        drain.noted = now;
        drain.notedBy = id;
        drain.notedMs = nowMs;
        drain.noteIsSafe = false;
        burials.bury(now.key(), id, outcome -> {
            if (drain.notedBy.equals(id)) {
                drain.noteIsSafe = outcome.status() == Status.OK;
            }
        });
    }

    private static boolean isSame(DrainNote noted, DrainNote now) {
        return noted.stage() == now.stage();
    }

    private boolean isDue(Drain drain, DrainNote now, long nowMs) {
        if (drain.noted == null || !isSame(drain.noted, now) || !drain.noteIsSafe) {
            return true;
        }
        if (now.stage() == DrainNote.Stage.OVER) {
            return false;
        }
        Grave grave = tombstones.drainNote(drain.noted);
        boolean lost = grave == null || purges.isPurged(drain.notedBy);
        long periodMs = Math.clamp(
                (drain.noted.leftMs() + NOTES_A_DRAIN - 1) / NOTES_A_DRAIN, Bounds.BURY_PAUSE_MS, PERIOD_MS_MAX);
        return lost || (drain.isActive() && nowMs >= drain.notedMs + periodMs);
    }

    private void lookAfter(Grave grave, Newest newest, Authority authority, long nowMs) {
        if (burials.isBurying(newest.note.key())) {
            return;
        }
        boolean over = newest.note.stage() == DrainNote.Stage.OVER;
        boolean needless = over && newest.notes == 1 && membership.isAllInView();
        if (grave != newest.grave || needless) {
            burials.lift(grave, authority, nowMs);
        } else {
            burials.buryAgain(grave, nowMs);
        }
    }
}
