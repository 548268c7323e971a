// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import java.util.ArrayList;
import java.util.List;

/** Which events are due about storage nodes that are to go: one for each that comes to another phase. Pure. */
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
            case EMPTYING -> new Notice(EventReason.DRAIN_STARTED, drain.node() + " is to go and is being emptied.");
            case EMPTY -> new Notice(EventReason.DRAIN_FINISHED, drain.node() + " is empty and goes.");
            case CANCELLED ->
                new Notice(EventReason.DRAIN_CANCELLED, drain.node() + " stays after all and takes part again.");
            case LEFTOVERS ->
                new Notice(
                        EventReason.DRAIN_LEFTOVERS,
                        "%s could not be emptied in time: %s. It stays and is tried again."
                                .formatted(drain.node(), left(drain)));
            case DROPPED ->
                new Notice(EventReason.OBJECTS_DROPPED, "%s goes as it is: %s.".formatted(drain.node(), left(drain)));
        };
    }

    private static String left(DrainStatus drain) {
        String bytes = drain.bytesLeft() == null ? "" : " of about " + drain.bytesLeft();
        String why = drain.reason() == null ? "" : " (" + drain.reason() + ")";
        return drain.objectsLeft() == null
                ? "nobody can tell how many objects have no other place" + why
                : "%d objects%s have no other place%s".formatted(drain.objectsLeft(), bytes, why);
    }
}
