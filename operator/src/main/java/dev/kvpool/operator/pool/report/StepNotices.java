// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.pool.naming.Parentheses;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Which events are due about steps: one for each that begins or comes to another state. Pure. */
final class StepNotices {
    private StepNotices() {}

    static List<Notice> of(KvCachePoolStatus before, KvCachePoolStatus now) {
        List<Notice> notices = new ArrayList<>();
        for (StepStatus step : now.steps()) {
            boolean known = before.steps().stream()
                    .anyMatch(old -> old.of().equals(step.of())
                            && old.kind() == step.kind()
                            && old.because() == step.because()
                            && old.state() == step.state());
            if (!known) {
                notice(step).ifPresent(notices::add);
            }
        }
        return notices;
    }

    private static Optional<Notice> notice(StepStatus step) {
        if (step.state() == StepState.FAILED) {
            return Optional.of(new Notice(EventReason.STEP_FAILED, step.waitsFor() + "."));
        }
        if (step.because().isImage()) {
            return upgrading(step);
        }
        return switch (step.kind()) {
            case HAND_OVER, REPLACE, RESTART, REMOVE ->
                step.because() == StepCause.REQUEST
                        ? handedOver(step)
                        : step.because() == StepCause.SCALE_DOWN ? removed(step) : settings(step);
            case TAKE_BACK -> Optional.of(takenBack(step));
            case EMPTY -> step.machine() == null ? going(step) : Optional.of(onCordoned(step, step.machine()));
        };
    }

    private static Optional<Notice> upgrading(StepStatus step) {
        String deed = switch (step.kind()) {
            case RESTART -> "restarts with the other image";
            case HAND_OVER -> "hands its leadership over";
            case EMPTY -> "is emptied";
            case REPLACE -> "is recreated with the other image";
            case REMOVE -> "is removed";
            case TAKE_BACK -> "takes part again";
        };
        return isBegun(step)
                ? Optional.of(new Notice(EventReason.UPGRADE_STEP, step.of() + " " + deed + "."))
                : Optional.empty();
    }

    private static boolean isBegun(StepStatus step) {
        return step.state() != StepState.WAITING;
    }

    private static Optional<Notice> removed(StepStatus step) {
        String deed = step.kind() == StepKind.HAND_OVER ? " hands its leadership over, to be removed." : " is removed.";
        return isBegun(step) ? Optional.of(new Notice(EventReason.MASTER_REMOVED, step.of() + deed)) : Optional.empty();
    }

    private static Optional<Notice> handedOver(StepStatus step) {
        return isBegun(step)
                ? Optional.of(new Notice(
                        EventReason.HANDOVER_STARTED, step.of() + " hands its leadership over, as a user asked."))
                : Optional.empty();
    }

    private static Optional<Notice> settings(StepStatus step) {
        String deed = step.kind() == StepKind.HAND_OVER
                ? " hands its leadership over, to be recreated with the present settings."
                : " is recreated with the present settings.";
        if (step.state() == StepState.DROPPED) {
            return Optional.of(dropped(step, step.of() + " is recreated"));
        }
        return isBegun(step) ? Optional.of(new Notice(EventReason.SETTINGS_STEP, step.of() + deed)) : Optional.empty();
    }

    private static Optional<Notice> going(StepStatus step) {
        boolean comesBack = step.because() == StepCause.SETTINGS;
        return switch (step.state()) {
            case WAITING, KEPT, FAILED -> Optional.empty();
            case UNDER_WAY ->
                Optional.of(new Notice(
                        EventReason.DRAIN_STARTED,
                        step.of()
                                + (comesBack
                                        ? " is being emptied, to be recreated with the present settings."
                                        : " is to go and is being emptied.")));
            case EMPTY -> Optional.of(new Notice(EventReason.DRAIN_FINISHED, step.of() + " is empty and goes."));
            case LEFTOVERS -> Optional.of(leftovers(step));
            case DROPPED -> Optional.of(dropped(step, step.of() + " goes"));
        };
    }

    private static Notice onCordoned(StepStatus step, String host) {
        return switch (step.state()) {
            case WAITING, FAILED ->
                new Notice(
                        EventReason.DRAIN_WAITS,
                        "%s is to hold nothing on %s, and cannot be emptied now%s."
                                .formatted(step.of(), host, why(step)));
            case UNDER_WAY ->
                new Notice(
                        EventReason.DRAIN_STARTED,
                        "%s is being emptied, because it is to hold nothing on its node %s."
                                .formatted(step.of(), host));
            case EMPTY ->
                new Notice(
                        EventReason.DRAIN_FINISHED,
                        step.because() == StepCause.REQUEST
                                ? "%s is empty, as a user asked.".formatted(step.of())
                                : "%s is empty; its pod may be evicted from %s.".formatted(step.of(), host));
            case KEPT ->
                new Notice(
                        EventReason.EVICTION_ALLOWED,
                        "The pod of %s may be evicted from %s: what it holds is on a volume that stays."
                                .formatted(step.of(), host));
            case LEFTOVERS -> leftovers(step);
            case DROPPED -> dropped(step, "The pod of %s may be evicted from %s".formatted(step.of(), host));
        };
    }

    private static Notice takenBack(StepStatus step) {
        return step.because().isOfPlace() && step.machine() == null
                ? new Notice(
                        EventReason.DRAIN_HANDED_BACK,
                        step.of() + " has left its Kubernetes node and takes part again with its next pod.")
                : new Notice(EventReason.DRAIN_CANCELLED, step.of() + " stays after all and takes part again.");
    }

    private static Notice leftovers(StepStatus step) {
        return new Notice(
                EventReason.DRAIN_LEFTOVERS,
                "%s could not be emptied in time: %s. It stays and is tried again.".formatted(step.of(), left(step)));
    }

    /** With nothing left its time was over before readers' leases on what had been moved were: no loss that should be looked after. */
    private static Notice dropped(StepStatus step, String what) {
        return step.objectsLeft() != null && step.objectsLeft() == 0
                ? new Notice(EventReason.DRAIN_FINISHED, what + ": all it holds has another place.")
                : new Notice(EventReason.OBJECTS_DROPPED, "%s as it is: %s.".formatted(what, left(step)));
    }

    private static String why(StepStatus step) {
        return Parentheses.of(step.waitsFor());
    }

    private static String left(StepStatus step) {
        String bytes = step.bytesLeft() == null ? "" : " of about " + step.bytesLeft();
        return step.objectsLeft() == null
                ? "it is not known how many objects have no other place" + why(step)
                : "%d objects%s have no other place%s".formatted(step.objectsLeft(), bytes, why(step));
    }
}
