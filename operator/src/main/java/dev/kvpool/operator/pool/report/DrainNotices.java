// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.pool.drain.Drains;
import java.util.ArrayList;
import java.util.List;

/** Which events are due about storage nodes that are to go, to be made anew or lie on cordoned nodes: one for each that comes to another phase. Pure. */
final class DrainNotices {
    private DrainNotices() {}

    static List<Notice> of(KvCachePoolStatus before, KvCachePoolStatus now) {
        List<Notice> notices = new ArrayList<>();
        for (DrainStatus drain : now.drains()) {
            boolean known = before.drains().stream()
                    .anyMatch(old -> old.node().equals(drain.node()) && old.phase() == drain.phase());
            if (!known) {
                notices.add(notice(drain));
            }
        }
        return notices;
    }

    private static Notice notice(DrainStatus drain) {
        if (drain.cordonedNode() != null) {
            return onCordoned(drain, drain.cordonedNode());
        }
        return Drains.comesBack(drain) ? comingBack(drain) : going(drain);
    }

    private static Notice going(DrainStatus drain) {
        return switch (drain.phase()) {
            case WAITING, EMPTYING, KEPT ->
                new Notice(EventReason.DRAIN_STARTED, drain.node() + " is to go and is being emptied.");
            case EMPTY -> new Notice(EventReason.DRAIN_FINISHED, drain.node() + " is empty and goes.");
            case CANCELLED, BACK -> cancelled(drain);
            case LEFTOVERS -> leftovers(drain);
            case DROPPED -> dropped(drain, drain.node() + " goes");
        };
    }

    private static Notice comingBack(DrainStatus drain) {
        return switch (drain.phase()) {
            case WAITING ->
                new Notice(
                        EventReason.DRAIN_WAITS,
                        "%s has earlier settings and cannot be emptied now%s.".formatted(drain.node(), why(drain)));
            case EMPTYING, KEPT ->
                new Notice(
                        EventReason.DRAIN_STARTED,
                        drain.node() + " is being emptied, to be made anew with the present settings.");
            case EMPTY -> new Notice(EventReason.DRAIN_FINISHED, drain.node() + " is empty and made anew.");
            case BACK ->
                new Notice(
                        EventReason.DRAIN_HANDED_BACK,
                        drain.node() + " has been made anew and takes part again with its next pod.");
            case CANCELLED -> cancelled(drain);
            case LEFTOVERS -> leftovers(drain);
            case DROPPED -> dropped(drain, drain.node() + " is made anew");
        };
    }

    private static Notice onCordoned(DrainStatus drain, String host) {
        return switch (drain.phase()) {
            case WAITING ->
                new Notice(
                        EventReason.DRAIN_WAITS,
                        "%s is on %s, which is cordoned, and cannot be emptied now%s."
                                .formatted(drain.node(), host, why(drain)));
            case EMPTYING ->
                new Notice(
                        EventReason.DRAIN_STARTED,
                        "%s is being emptied, because its node %s is cordoned.".formatted(drain.node(), host));
            case EMPTY ->
                new Notice(
                        EventReason.DRAIN_FINISHED,
                        "%s is empty; its pod may be evicted from %s.".formatted(drain.node(), host));
            case KEPT ->
                new Notice(
                        EventReason.EVICTION_ALLOWED,
                        "The pod of %s may be evicted from %s: what it holds is on a volume that stays."
                                .formatted(drain.node(), host));
            case BACK ->
                new Notice(
                        EventReason.DRAIN_HANDED_BACK,
                        "%s has left %s, which is cordoned, and takes part again with its next pod."
                                .formatted(drain.node(), host));
            case CANCELLED -> cancelled(drain);
            case LEFTOVERS -> leftovers(drain);
            case DROPPED -> dropped(drain, "The pod of %s may be evicted from %s".formatted(drain.node(), host));
        };
    }

    private static Notice cancelled(DrainStatus drain) {
        return new Notice(EventReason.DRAIN_CANCELLED, drain.node() + " stays after all and takes part again.");
    }

    private static Notice leftovers(DrainStatus drain) {
        return new Notice(
                EventReason.DRAIN_LEFTOVERS,
                "%s could not be emptied in time: %s. It stays and is tried again."
                        .formatted(drain.node(), left(drain)));
    }

    /** With nothing left its time was over before readers' leases on what had been moved were: no loss that anybody should look after. */
    private static Notice dropped(DrainStatus drain, String what) {
        return drain.objectsLeft() != null && drain.objectsLeft() == 0
                ? new Notice(EventReason.DRAIN_FINISHED, what + ": all it holds has another place.")
                : new Notice(EventReason.OBJECTS_DROPPED, "%s as it is: %s.".formatted(what, left(drain)));
    }

    private static String why(DrainStatus drain) {
        return drain.reason() == null ? "" : " (" + drain.reason() + ")";
    }

    private static String left(DrainStatus drain) {
        String bytes = drain.bytesLeft() == null ? "" : " of about " + drain.bytesLeft();
        String why = why(drain);
        return drain.objectsLeft() == null
                ? "nobody can tell how many objects have no other place" + why
                : "%d objects%s have no other place%s".formatted(drain.objectsLeft(), bytes, why);
    }
}
