// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.ConditionStatus;
import dev.kvpool.api.v1alpha1.status.FailoverStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Which events a step from one status to the next is worth: one for each decision, none without one. Pure. */
public final class PoolNotices {
    private PoolNotices() {}

    public static List<Notice> of(KvCachePoolStatus before, KvCachePoolStatus now, Outcome outcome) {
        List<Notice> notices = new ArrayList<>();
        if (!outcome.changes().isEmpty()) {
            notices.add(new Notice(EventReason.CHANGED, "Changed " + NameList.of(outcome.changes()) + "."));
        }
        if (now.leader() != null && !Objects.equals(before.leader(), now.leader())) {
            notices.add(new Notice(
                    EventReason.LEADER_CHANGED,
                    "%s leads in epoch %d."
                            .formatted(now.leader().pod(), now.leader().epoch())));
        }
        failover(before, now).ifPresent(notices::add);
        readiness(before, now).ifPresent(notices::add);
        rotated(before, now).ifPresent(notices::add);
        notices.addAll(RollNotices.of(before, now));
        notices.addAll(StepNotices.of(before, now));
        for (ConditionType type : ConditionType.values()) {
            changed(before, now, type)
                    .flatMap(condition -> reason(condition).map(reason -> new Notice(reason, condition.message())))
                    .ifPresent(notices::add);
        }
        return notices;
    }

    private static Optional<Notice> failover(KvCachePoolStatus before, KvCachePoolStatus now) {
        FailoverStatus last = now.lastFailover();
        if (last == null || last.equals(before.lastFailover())) {
            return Optional.empty();
        }
        return Optional.of(new Notice(
                EventReason.FAILED_OVER,
                "%s leads in epoch %d%s: %s. There was no leader for %s."
                        .formatted(
                                last.to(),
                                last.epoch(),
                                last.from() == null ? "" : " after " + last.from(),
                                LastFailover.words(last.cause()),
                                last.duration())));
    }

    private static Optional<Notice> readiness(KvCachePoolStatus before, KvCachePoolStatus now) {
        boolean was = isReady(before);
        Optional<Condition> ready = condition(now, ConditionType.READY);
        if (ready.isEmpty() || was == isReady(now)) {
            return Optional.empty();
        }
        return Optional.of(new Notice(
                was ? EventReason.NOT_READY : EventReason.READY, ready.get().message()));
    }

    private static Optional<Notice> rotated(KvCachePoolStatus before, KvCachePoolStatus now) {
        boolean rotated = condition(before, ConditionType.CERTIFICATES_VALID)
                .filter(condition -> condition.reason().equals(Reason.AUTHORITY_ROTATES.text()))
                .isPresent();
        return condition(now, ConditionType.CERTIFICATES_VALID)
                .filter(condition -> rotated && condition.reason().equals(Reason.AUTHORITY_VALID.text()))
                .map(condition -> new Notice(EventReason.AUTHORITY_ROTATION_FINISHED, condition.message()));
    }

    /** The event a condition is worth when it came to have this reason. */
    private static Optional<EventReason> reason(Condition condition) {
        if (condition.reason().equals(Reason.PAUSED.text())) {
            return Optional.of(EventReason.PAUSED);
        }
        if (condition.reason().equals(Reason.WOULD_LOSE_BYTES.text())) {
            return Optional.of(EventReason.HELD_BACK);
        }
        if (condition.reason().equals(Reason.NAME_TAKEN.text())
                || condition.reason().equals(Reason.APPLY_FAILED.text())) {
            return Optional.of(EventReason.APPLY_FAILED);
        }
        if (condition.reason().equals(Reason.SEVERAL_LEADERS.text())) {
            return Optional.of(EventReason.SEVERAL_LEADERS);
        }
        if (condition.reason().equals(Reason.LEADER_DIED.text())) {
            return Optional.of(EventReason.LEADER_DIED);
        }
        if (condition.reason().equals(Reason.AUTHORITY_ROTATES.text())) {
            return Optional.of(EventReason.AUTHORITY_ROTATION_STARTED);
        }
        boolean refused = condition.status() == ConditionStatus.FALSE;
        if (refused && condition.type().equals(ConditionType.SPEC_VALID.text())) {
            return Optional.of(EventReason.SPEC_INVALID);
        }
        if (refused && condition.type().equals(ConditionType.VERSION_COMPATIBLE.text())) {
            return Optional.of(EventReason.VERSION_MISMATCH);
        }
        if (refused && condition.type().equals(ConditionType.ASCEND_RUNTIME_READY.text())) {
            return Optional.of(EventReason.ASCEND_RUNTIME_NOT_READY);
        }
        return Optional.empty();
    }

    private static Optional<Condition> changed(KvCachePoolStatus before, KvCachePoolStatus now, ConditionType type) {
        Optional<String> old = condition(before, type).map(Condition::reason);
        return condition(now, type)
                .filter(condition -> !Optional.of(condition.reason()).equals(old));
    }

    private static boolean isReady(KvCachePoolStatus status) {
        return condition(status, ConditionType.READY)
                .filter(condition -> condition.status() == ConditionStatus.TRUE)
                .isPresent();
    }

    private static Optional<Condition> condition(KvCachePoolStatus status, ConditionType type) {
        return status.conditions().stream()
                .filter(condition -> condition.type().equals(type.text()))
                .findFirst();
    }
}
