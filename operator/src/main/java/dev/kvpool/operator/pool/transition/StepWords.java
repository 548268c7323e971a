// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.Parentheses;
import dev.kvpool.operator.pool.naming.Rounding;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Says how far steps are, in numbers that stay the same while little changes. */
final class StepWords {
    private static final int REASON_CHARS_MAX = 200;
    private static final String EMPTIED_ON_THE_WAY_BACK =
            " is emptied for as long as it takes (if others have no room add a storage node, or set spec.onDataLoss to Replace)";

    private final TransitionView view;
    private final List<StepStatus> steps;
    private final List<Wait> waiting;

    /**
     * @param steps steps under way
     * @param waiting transitions that have not begun
     */
    StepWords(TransitionView view, List<StepStatus> steps, List<Wait> waiting) {
        this.view = view;
        this.steps = steps;
        this.waiting = waiting;
    }

    /** What is under way for an upgrade, or what it waits for, as a sentence; empty where there is none. */
    String upgrade() {
        List<String> doing = steps.stream()
                .filter(step -> step.because().isImage())
                .map(this::upgrading)
                .toList();
        return doing.isEmpty()
                ? waitsFor(wait -> wait.because().isImage())
                        .map("It waits: %s."::formatted)
                        .orElse("")
                : "Under way: %s.".formatted(String.join(", ", doing));
    }

    /** Why the first of such transitions has not begun. */
    private Optional<String> waitsFor(Predicate<Wait> so) {
        return waiting.stream().filter(so).findFirst().map(Wait::sentence);
    }

    private String upgrading(StepStatus step) {
        Optional<String> refused = view.members().whyMissing(step.of());
        if (refused.isPresent()) {
            return step.of() + " has no pod" + Parentheses.of(refused.get());
        }
        String pod = view.members().get(step.of()).map(Member::pod).orElse(step.of());
        return switch (step.kind()) {
            case RESTART -> pod + " restarts";
            case HAND_OVER -> pod + " hands its leadership over";
            case EMPTY -> pod + (step.because() == StepCause.ROLLBACK ? EMPTIED_ON_THE_WAY_BACK : " is emptied");
            case REPLACE -> pod + " is recreated";
            case REMOVE -> pod + " goes";
            case TAKE_BACK -> pod + " takes part again";
        };
    }

    /** Masters that the spec does not want, as a sentence; empty where there are none. */
    String removing() {
        List<String> pods = view.goals().surplus();
        return pods.isEmpty()
                ? ""
                : "%s removed, one master at a time%s."
                        .formatted(
                                NameList.with(pods, "is", "are"),
                                after(waitsFor(wait ->
                                        wait.of().equals(pods.getFirst()) && wait.because() == StepCause.SCALE_DOWN)));
    }

    /** What is replaced for other settings a few at a time, as a sentence; empty when nothing is. */
    String replacing(OutdatedPods outdated) {
        List<StepStatus> underWay = steps.stream()
                .filter(step -> step.because() == StepCause.SETTINGS)
                .toList();
        List<String> names = Stream.concat(
                        outdated.replaced(), underWay.stream().map(StepStatus::of))
                .distinct()
                .sorted()
                .toList();
        Optional<String> why = underWay.stream()
                .filter(step -> step.state() == StepState.FAILED)
                .map(StepStatus::waitsFor)
                .findFirst()
                .or(() -> waitsFor(wait -> underWay.isEmpty() && wait.because() == StepCause.SETTINGS));
        return names.isEmpty()
                ? ""
                : "%s replaced, as the settings have changed, a few at a time%s."
                        .formatted(NameList.with(names, "is", "are"), after(why));
    }

    private static String after(Optional<String> why) {
        return why.map(": "::concat).orElse("");
    }

    /**
     * What condition Draining says.
     *
     * @param next all steps, those that wait too
     */
    Finding draining(List<StepStatus> next) {
        List<StepStatus> drains =
                next.stream().filter(step -> !step.because().isImage()).toList();
        List<StepStatus> left = in(drains, StepState.LEFTOVERS);
        List<StepStatus> leaving = in(drains, StepState.UNDER_WAY);
        in(drains, StepState.EMPTY, StepState.DROPPED).stream()
                .filter(step -> step.machine() == null)
                .forEach(leaving::add);
        List<StepStatus> held = in(drains, StepState.WAITING);
        held.removeIf(step -> step.machine() == null);
        boolean evicted = held.stream().anyMatch(this::mayBeEvictedInTheEnd);
        List<StepStatus> done = in(drains, StepState.EMPTY, StepState.DROPPED, StepState.KEPT);
        boolean requested = done.stream().allMatch(step -> step.because() == StepCause.REQUEST);
        List<StepStatus> back = drains.stream()
                .filter(step -> step.kind() == StepKind.TAKE_BACK)
                .toList();
        return of(Reason.LEFTOVERS, left)
                .map(finding -> finding.and(remedy(left) + "; it is tried again."))
                .or(() -> of(Reason.EMPTYING, leaving))
                .or(() -> of(Reason.DRAIN_WAITS, held)
                        .map(finding -> finding.and(
                                evicted ? "After spec.drain.nodeTimeout a pod may be evicted all the same." : "")))
                .or(this::waiting)
                .or(() -> of(requested ? Reason.EMPTIED_BY_HAND : Reason.MAY_BE_EVICTED, done))
                .or(() -> of(Reason.DRAIN_CANCELLED, back))
                .or(() -> byHand(next))
                .orElseGet(() -> new Finding(Reason.NO_DRAIN, "No storage node is to go."));
    }

    private Optional<Finding> of(Reason reason, List<StepStatus> drains) {
        return Optional.of(drains)
                .filter(some -> !some.isEmpty())
                .map(some -> new Finding(
                        reason,
                        "%s.".formatted(NameList.of(some.stream().map(this::one).toList()))));
    }

    /** Storage nodes that take nothing though no step is about them. */
    private Optional<Finding> byHand(List<StepStatus> next) {
        List<String> nodes = view.members().storage().stream()
                .filter(member -> !member.leaving())
                .filter(member -> next.stream().noneMatch(step -> step.of().equals(member.id())))
                .flatMap(member -> member.node().stream())
                .filter(PoolReport.Node::leaves)
                .map(node -> node.id() + (node.drained() ? " is empty" : " is being emptied"))
                .toList();
        return nodes.isEmpty()
                ? Optional.empty()
                : Optional.of(new Finding(
                        Reason.EMPTIED_BY_HAND,
                        "%s, as a user told the leader. They take no objects until kubectl kvpool drain, and the same with --cancel."
                                .formatted(NameList.of(nodes))));
    }

    /** Storage nodes that are to be emptied and wait. */
    private Optional<Finding> waiting() {
        List<Wait> waits = waiting.stream()
                .filter(wait -> !view.members().isMaster(wait.of()))
                .filter(wait -> wait.because() == StepCause.SCALE_DOWN
                        || wait.because().isOfPlace()
                        || (wait.because() == StepCause.SETTINGS && view.isMoved(wait.of())))
                .toList();
        return waits.isEmpty()
                ? Optional.empty()
                : Optional.of(new Finding(
                        Reason.DRAIN_WAITS,
                        "%s is to be emptied and waits: %s."
                                .formatted(
                                        NameList.of(waits.stream().map(Wait::of).toList()),
                                        waits.getLast().sentence())));
    }

    /** What people can do about leftovers. */
    private String remedy(List<StepStatus> left) {
        List<String> away = left.stream()
                .map(StepStatus::of)
                .filter(id -> !view.members().is(id, view.members()::serves))
                .toList();
        List<String> ways = new ArrayList<>();
        if (away.size() < left.size()) {
            ways.add("Make room");
        }
        if (!away.isEmpty()) {
            ways.add("%s %s get ready".formatted(ways.isEmpty() ? "Let" : "let", NameList.of(away)));
        }
        if (left.stream().anyMatch(step -> step.machine() == null)) {
            ways.add("set spec.drain.onLeftovers to Drop");
            ways.add("or take the change back");
        } else {
            ways.add(left.stream()
                    .flatMap(step -> view.cordon(step.of()).stream())
                    .map(Cordon::remedy)
                    .findFirst()
                    .orElse("uncordon the node"));
            if (left.stream().anyMatch(this::mayBeEvictedInTheEnd)) {
                ways.add("or wait for spec.drain.nodeTimeout, after which the pod may be evicted with what is left");
            } else {
                ways.add("or " + ways.removeLast());
            }
        }
        return String.join(", ", ways);
    }

    /** Also what a user asked for is so while its Kubernetes node is cordoned. */
    private boolean mayBeEvictedInTheEnd(StepStatus step) {
        return step.because() == StepCause.CORDON || view.isCordoned(step.of(), Cordon::evicts);
    }

    static Long rounded(long objects) {
        return Rounding.twoDigits(objects);
    }

    static Optional<Quantity> bytes(PoolReport.Node node) {
        return node.contents().leftovers().isEmpty()
                ? Optional.empty()
                : Optional.of(ByteAmount.coarse(node.contents().leftovers().stream()
                        .mapToLong(PoolReport.Leftover::bytes)
                        .sum()));
    }

    /** Why a node is not empty; nothing while it simply takes its time. Short: there is one for each node that is to go. */
    static Optional<String> whyNotEmpty(boolean led, Optional<PoolReport.Node> node) {
        return wholeReason(led, node)
                .map(why -> why.length() <= REASON_CHARS_MAX ? why : why.substring(0, REASON_CHARS_MAX) + " ...");
    }

    private static Optional<String> wholeReason(boolean led, Optional<PoolReport.Node> node) {
        if (!led) {
            return Optional.of("no master leads and serves");
        }
        if (node.isEmpty()) {
            return Optional.of("the leader does not know it");
        }
        PoolReport.Node known = node.get();
        if (known.serves()) {
            String why = known.contents().leftovers().stream()
                    .map(PoolReport.Leftover::reason)
                    .filter(text -> !text.isEmpty())
                    .distinct()
                    .collect(Collectors.joining("; "));
            return why.isEmpty() ? Optional.empty() : Optional.of(why);
        }
        return Optional.of(
                "it is " + known.state() + held(known) + (known.reason().isEmpty() ? "" : ", " + known.reason()));
    }

    /** What only it has is not counted before it is being emptied. */
    private static String held(PoolReport.Node away) {
        return away.objects() == 0
                ? ""
                : " with %d objects of about %s, of which others may have copies"
                        .formatted(rounded(away.objects()), ByteAmount.coarse(away.usedBytes()));
    }

    private static List<StepStatus> in(List<StepStatus> drains, StepState... states) {
        return drains.stream()
                .filter(step -> step.kind() == StepKind.EMPTY)
                .filter(step -> Set.of(states).contains(step.state()))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    /** That a storage node is under way which others wait for, and how to fix it where that cannot end by itself; a part of a sentence. */
    static String comesFirst(StepStatus step) {
        String how = switch (step.state()) {
            case FAILED -> " was to be recreated%s; correct the spec, or delete its pod".formatted(why(step));
            case LEFTOVERS ->
                comingBack(step) + "; make room, set spec.drain.onLeftovers to Drop, or take the change back";
            default -> step.kind() == StepKind.EMPTY ? comingBack(step) : " " + how(step);
        };
        return "storage node %s comes first, which%s".formatted(step.of(), how);
    }

    /** What has taken away a member, or is about to, as a part of a sentence. */
    static String stopped(StepStatus step) {
        return step.of() + " " + how(step);
    }

    private static String how(StepStatus step) {
        return switch (step.kind()) {
            case EMPTY -> "is being emptied";
            case HAND_OVER -> "hands its leadership over";
            default -> step.state() == StepState.FAILED ? "did not get ready" : "is being restarted or recreated";
        };
    }

    private String one(StepStatus step) {
        if (step.kind() == StepKind.TAKE_BACK) {
            return takenBack(step);
        }
        if (step.machine() != null) {
            return step.of() + (step.because() == StepCause.REQUEST ? requested(step) : onCordoned(step));
        }
        return step.of() + (step.because() == StepCause.SETTINGS ? comingBack(step) : going(step));
    }

    private static String takenBack(StepStatus step) {
        if (!step.because().isOfPlace()) {
            return step.of() + " stays and takes part again";
        }
        return step.machine() == null
                ? step.of() + " takes part again with its next pod"
                : "%s stays on %s and takes part again".formatted(step.of(), step.machine());
    }

    private static String going(StepStatus step) {
        return switch (step.state()) {
            case LEFTOVERS -> " could not be emptied in time" + left(step) + why(step);
            case EMPTY -> " is empty and goes";
            case DROPPED -> " goes as it is" + left(step);
            default -> " is being emptied" + left(step) + why(step);
        };
    }

    private static String comingBack(StepStatus step) {
        String how = step.state() == StepState.LEFTOVERS
                ? " is to be recreated and could not be emptied in time"
                : " is being emptied to be recreated";
        return how + left(step) + why(step);
    }

    private static String requested(StepStatus step) {
        return switch (step.state()) {
            case WAITING, FAILED -> " is to be empty, as a user asked, and waits" + why(step);
            case UNDER_WAY -> " is being emptied, as a user asked" + left(step) + why(step);
            case LEFTOVERS ->
                " is to be empty, as a user asked, and could not be emptied in time" + left(step) + why(step);
            case EMPTY, KEPT ->
                " is empty, as a user asked, and takes no objects until kubectl kvpool drain with --cancel";
            case DROPPED -> " may be evicted from %s as it is%s".formatted(step.machine(), left(step));
        };
    }

    private String onCordoned(StepStatus step) {
        String why = why(step);
        String host = step.machine();
        String how = view.cordon(step.of()).map(Cordon::how).orElse("is cordoned");
        return switch (step.state()) {
            case WAITING, FAILED -> " is on %s, which %s, and waits%s".formatted(host, how, why);
            case UNDER_WAY -> " is being emptied, because its node %s %s%s%s".formatted(host, how, left(step), why);
            case LEFTOVERS ->
                " could not be emptied in time, and its node %s %s%s%s".formatted(host, how, left(step), why);
            case EMPTY -> " is empty, and its pod may be evicted from %s".formatted(host);
            case DROPPED -> " may be evicted from %s as it is%s".formatted(host, left(step));
            case KEPT -> " may be evicted from %s, as what it holds is on a volume that stays".formatted(host);
        };
    }

    private static String why(StepStatus step) {
        return step.waitsFor() == null ? "" : ": " + step.waitsFor();
    }

    private static String left(StepStatus step) {
        if (step.objectsLeft() == null) {
            return "";
        }
        String bytes = step.bytesLeft() == null ? "" : " of about " + step.bytesLeft();
        return ", %d objects%s have no other place".formatted(step.objectsLeft(), bytes);
    }
}
