// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import java.util.ArrayList;
import java.util.List;

/** Which events are due about storage nodes that are to go or lie on cordoned nodes: one for each that comes to another phase. Pure. */
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
        return switch (drain.phase()) {
            case WAITING ->
                new Notice(
                        EventReason.DRAIN_WAITS,
                        "%s is on %s, which is cordoned, and cannot be emptied now%s."
                                .formatted(drain.node(), drain.cordonedNode(), why(drain)));
            case EMPTYING ->
                new Notice(
                        EventReason.DRAIN_STARTED,
                        drain.cordonedNode() == null
                                ? drain.node() + " is to go and is being emptied."
                                : "%s is being emptied, because its node %s is cordoned."
                                        .formatted(drain.node(), drain.cordonedNode()));
            case EMPTY ->
                new Notice(
                        EventReason.DRAIN_FINISHED,
                        drain.cordonedNode() == null
                                ? drain.node() + " is empty and goes."
                                : "%s is empty; its pod may be evicted from %s."
                                        .formatted(drain.node(), drain.cordonedNode()));
            case KEPT ->
                new Notice(
                        EventReason.EVICTION_ALLOWED,
                        "The pod of %s may be evicted from %s: what it holds is on a volume that stays."
                                .formatted(drain.node(), drain.cordonedNode()));
            case BACK ->
                new Notice(
                        EventReason.DRAIN_HANDED_BACK,
                        "%s has left %s, which is cordoned, and takes part again with its next pod."
                                .formatted(drain.node(), drain.cordonedNode()));
            case CANCELLED ->
                new Notice(EventReason.DRAIN_CANCELLED, drain.node() + " stays after all and takes part again.");
            case LEFTOVERS ->
                new Notice(
                        EventReason.DRAIN_LEFTOVERS,
                        "%s could not be emptied in time: %s. It stays and is tried again."
                                .formatted(drain.node(), left(drain)));
            case DROPPED -> isNothingLost(drain) ? goesInTime(drain) : goesAsItIs(drain);
        };
    }

    /** Its time was over before readers' leases on what had been moved were, which is no loss that anybody should look after. */
    private static boolean isNothingLost(DrainStatus drain) {
        return drain.objectsLeft() != null && drain.objectsLeft() == 0;
    }

    private static Notice goesInTime(DrainStatus drain) {
        return new Notice(
                EventReason.DRAIN_FINISHED,
                drain.cordonedNode() == null
                        ? "%s goes: all it holds has another place.".formatted(drain.node())
                        : "The pod of %s may be evicted from %s: all it holds has another place."
                                .formatted(drain.node(), drain.cordonedNode()));
    }

    private static Notice goesAsItIs(DrainStatus drain) {
        return new Notice(
                EventReason.OBJECTS_DROPPED,
                drain.cordonedNode() == null
                        ? "%s goes as it is: %s.".formatted(drain.node(), left(drain))
                        : "The pod of %s may be evicted from %s as it is: %s."
                                .formatted(drain.node(), drain.cordonedNode(), left(drain)));
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
