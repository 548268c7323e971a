// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.VersionStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.pool.roll.RollWords;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Which events an upgrade's way from one status to the next is worth: one for each phase. Pure. */
final class RollNotices {
    private RollNotices() {}

    static List<Notice> of(KvCachePoolStatus before, KvCachePoolStatus now) {
        List<Notice> notices = new ArrayList<>();
        raised(before.version(), now.version()).ifPresent(notices::add);
        RollStatus old = before.roll();
        RollStatus roll = now.roll();
        if (roll == null) {
            if (old != null && old.phase() == RollPhase.FINALISING && !isAboutStragglers(old)) {
                notices.add(
                        new Notice(EventReason.UPGRADE_FINISHED, "All of the pool runs %s.".formatted(old.image())));
            }
            return notices;
        }
        boolean told = roll.phase() == RollPhase.ROLLING && isAboutStragglers(roll);
        if (!told && (old == null || old.phase() != roll.phase())) {
            phase(roll, notices);
        }
        return notices;
    }

    /** Of who was left out of an upgrade that has been told, from beginning to end. */
    private static boolean isAboutStragglers(RollStatus roll) {
        return roll.from().equals(roll.image());
    }

    private static Optional<Notice> raised(VersionStatus before, VersionStatus now) {
        boolean higher = before != null
                && now != null
                && (isHigher(before.activeWire(), now.activeWire())
                        || isHigher(before.activeLayout(), now.activeLayout()));
        return higher
                ? Optional.of(new Notice(
                        EventReason.VERSIONS_RAISED,
                        "The pool speaks wire version %d and writes segment layout %d from now on."
                                .formatted(now.activeWire(), now.activeLayout())))
                : Optional.empty();
    }

    private static boolean isHigher(Integer before, Integer now) {
        return before != null && now != null && now > before;
    }

    private static void phase(RollStatus roll, List<Notice> notices) {
        String ways = "from %s to %s".formatted(roll.from(), roll.image());
        switch (roll.phase()) {
            case ROLLING ->
                notices.add(new Notice(
                        EventReason.UPGRADE_STARTED, "The pool is upgraded %s (%s).".formatted(ways, roll.mode())));
            case BLOCKED ->
                notices.add(
                        new Notice(EventReason.UPGRADE_BLOCKED, "No upgrade %s: %s.".formatted(ways, roll.reason())));
            case GOING_BACK ->
                notices.add(new Notice(
                        EventReason.UPGRADE_GOES_BACK, RollWords.goingBack(roll).message()));
            case FAILED ->
                notices.add(new Notice(
                        EventReason.UPGRADE_FAILED, "%s: %s.".formatted(RollWords.backAt(roll), roll.reason())));
            case PREFLIGHT, FINALISING -> {}
        }
    }
}
