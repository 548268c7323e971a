// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.status;

import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.ConditionStatus;
import dev.kvpool.api.v1alpha1.status.FailoverStatus;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.plugin.output.TextTable;
import dev.kvpool.operator.plugin.output.Words;
import dev.kvpool.operator.status.ConditionType;
import java.util.Set;

/** A pool in detail, for people. Pure. */
public final class StatusText {
    /** Of these conditions True is the unusual one. */
    private static final Set<String> TROUBLE_WHEN_TRUE = Set.of("UpgradeBlocked", "Draining");

    private static final long MIB = 1L << 20;

    private StatusText() {}

    public static String of(StatusView view) {
        StringBuilder text = new StringBuilder();
        text.append("Pool %s in namespace %s: %s%n"
                .formatted(
                        view.summary().pool(),
                        view.summary().namespace(),
                        view.summary().phase()));
        text.append("  ").append(view.summary().message()).append('\n');
        text.append("Leader: ").append(leader(view)).append('\n');
        if (view.contents().storage() != null) {
            text.append("Storage: %s, %s of %s used, about %d objects, version %s%n"
                    .formatted(
                            view.contents().storage().contains("/")
                                    ? view.contents().storage() + " nodes"
                                    : view.contents().storage(),
                            view.contents().used() == null
                                    ? "?"
                                    : view.contents().used(),
                            view.contents().capacity() == null
                                    ? "?"
                                    : view.contents().capacity(),
                            view.contents().objects() == null
                                    ? 0
                                    : view.contents().objects(),
                            view.contents().version() == null
                                    ? "?"
                                    : view.contents().version()));
        }
        view.conditions().stream()
                .filter(it -> it.type().equals(ConditionType.CERTIFICATES_VALID.text()) && !isTrouble(it))
                .forEach(it -> text.append("Certificates: %s%n".formatted(it.message())));
        text.append(missing(view));
        text.append('\n').append(masters(view)).append('\n').append(nodes(view));
        view.notes().stream()
                .filter(note -> !isSaid(text, note))
                .forEach(note -> text.append("%n%s%n".formatted(note)));
        view.changes().steps().forEach(step -> text.append(step(step)));
        if (view.changes().roll() != null) {
            text.append("%nUpgrade to %s: %s. %s%n"
                    .formatted(
                            view.changes().roll().image(),
                            Words.of(view.changes().roll().phase()),
                            view.changes().roll().reason() == null
                                    ? ""
                                    : view.changes().roll().reason()));
        }
        view.conditions().stream()
                .filter(StatusText::isTrouble)
                .forEach(it -> text.append("%n%s is %s (%s)%s%n"
                        .formatted(
                                it.type(),
                                Words.of(it.status()),
                                it.reason(),
                                isSaid(text, it.message()) ? "" : ": " + it.message())));
        return text.toString();
    }

    /** What several conditions have in common is read once. */
    private static boolean isSaid(StringBuilder text, String sentences) {
        return text.indexOf(sentences) >= 0;
    }

    private static String leader(StatusView view) {
        String now = view.leader() == null
                ? "none"
                : view.leader().pod() + " in epoch " + view.leader().epoch();
        FailoverStatus last = view.lastFailover();
        return last == null
                ? now
                : "%s; last change at %s from %s: %s, %s without a leader"
                        .formatted(now, last.at(), last.from(), Words.of(last.cause()), last.duration());
    }

    /** What the leader counts at this moment; the conditions have the same rounded. */
    private static String missing(StatusView view) {
        if (view.contents().unavailableObjects() == null || view.contents().underReplicatedObjects() == 0) {
            return "";
        }
        return "Objects: %d cannot be read since all nodes that hold them are away, %d have too few copies%n"
                .formatted(view.contents().unavailableObjects(), view.contents().underReplicatedObjects());
    }

    private static String masters(StatusView view) {
        TextTable table = new TextTable("MASTER", "STATE", "EPOCH", "VERSION", "RESTARTS", "NODE");
        view.masters()
                .forEach(it -> table.row(
                        it.pod(),
                        it.says(),
                        it.epoch() == 0 ? "" : it.epoch(),
                        it.product(),
                        it.restarts(),
                        it.node()));
        return table.toString();
    }

    private static String nodes(StatusView view) {
        TextTable table = new TextTable("STORAGE NODE", "STATE", "OBJECTS", "USED", "VERSION", "WHY");
        view.nodes()
                .forEach(it -> table.row(
                        it.id() + (it.inClient() ? " (in a client)" : ""),
                        it.state(),
                        it.objects(),
                        it.usedBytes() / MIB + "Mi",
                        it.product(),
                        it.reason()));
        return table.toString();
    }

    private static String step(StepStatus step) {
        return "%n%s: %s because of %s, %s%s%s%n"
                .formatted(
                        step.of(),
                        Words.of(step.kind()),
                        Words.of(step.because()) + (step.machine() == null ? "" : " of " + step.machine()),
                        Words.of(step.state()),
                        step.objectsLeft() == null ? "" : ", about " + step.objectsLeft() + " objects left",
                        step.waitsFor() == null ? "" : " (" + step.waitsFor() + ")");
    }

    private static boolean isTrouble(Condition condition) {
        ConditionStatus usual =
                TROUBLE_WHEN_TRUE.contains(condition.type()) ? ConditionStatus.FALSE : ConditionStatus.TRUE;
        return condition.status() != usual;
    }
}
