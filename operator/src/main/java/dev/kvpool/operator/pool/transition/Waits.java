// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.naming.Parentheses;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Why a transition does not begin now, as a part of a sentence: the one place that says so. */
final class Waits {
    private static final String BUDGET = "the budget of spec.upgrade.maxUnavailable";

    private final TransitionView view;
    private final Members members;
    private final Steps steps;
    private final List<Wait> waiting;
    private final Optional<Behind> behind;
    private final OutdatedPods outdated;

    /**
     * @param steps steps under way; it grows as more begin
     * @param waiting transitions that were found to wait so far; it grows
     * @param behind members that the upgrade under way has still to bring to its image
     */
    Waits(TransitionView view, Steps steps, List<Wait> waiting, Optional<Behind> behind, OutdatedPods outdated) {
        this.view = view;
        this.members = view.members();
        this.steps = steps;
        this.waiting = waiting;
        this.behind = behind;
        this.outdated = outdated;
    }

    /** Empty when it can begin. */
    Optional<String> of(Transition it) {
        if (view.isPaused(it.of(), it.because())) {
            return Optional.of("nothing is changed");
        }
        return uncreatable(it).or(() -> {
            if (it.mends()) {
                return withoutPlace(it)
                        .or(() -> comingBack(it))
                        .or(() -> when(steps.stopped(it.of()) >= view.terms().maxUnavailable(), budget(it)));
            }
            return members.led() ? ofCause(it) : Optional.of("no master leads and serves");
        });
    }

    private static Optional<String> when(boolean waits, String why) {
        return waits ? Optional.of(why) : Optional.empty();
    }

    private Optional<String> ofCause(Transition it) {
        return switch (it.because()) {
            case SCALE_DOWN -> upgradeFirst().or(() -> it.master() ? surplus(it) : bound().or(() -> besideEmptied(it)));
            case CORDON -> upgradeFirst().or(this::bound).or(() -> cordoned(it));
            case REQUEST ->
                upgradeFirst()
                        .or(() -> it.kind() == StepKind.HAND_OVER ? requested(it) : bound().or(() -> cordoned(it)));
            case SETTINGS ->
                upgradeFirst()
                        .or(this::lost)
                        .or(() -> failed(it))
                        .or(() -> it.kind() == StepKind.EMPTY ? besideLeftovers() : Optional.empty())
                        .or(() -> withoutPlace(it))
                        .or(() -> stopping(it));
            case UPGRADE -> cordonedFirst().or(() -> withoutPlace(it)).or(() -> stopping(it));
            case ROLLBACK -> cordonedFirst().or(() -> stopping(it));
        };
    }

    /**
     * The way back counts a storage node for which no pod can be created as one on a dead machine, and passes it with restarts in place. A
     * pod that it deletes would be refused as well, and so would the next ones.
     */
    private Optional<String> uncreatable(Transition it) {
        boolean creates = it.kind() == StepKind.EMPTY || it.kind() == StepKind.REPLACE;
        return it.because() == StepCause.ROLLBACK && creates && !it.master()
                ? view.goals().wanted().stream()
                        .filter(id -> members.get(id).isEmpty() && steps.isPassed(id))
                        .sorted()
                        .findFirst()
                        .map(id -> hasNoPod("storage node " + id, id))
                : Optional.empty();
    }

    /** Members of which an upgrade can begin nothing before they are ready, or gone. */
    List<Wait> of(Behind those) {
        StepCause because = view.goals().image().orElseThrow().because();
        return those.waited().stream()
                .map(member -> new Wait(
                        member.id(),
                        because,
                        member.master()
                                ? "master " + member.pod() + " is not ready" + Parentheses.of(member.why())
                                : isNotReady(member) + those.remedy(member)))
                .toList();
    }

    private Optional<String> upgradeFirst() {
        return when(
                steps.any(step -> step.because().isImage() && Steps.isStopped(step)),
                "a step of an upgrade comes first");
    }

    private Optional<String> surplus(Transition it) {
        String first = view.goals().surplus().getFirst();
        return first.equals(it.of()) ? stopping(it) : Optional.of("master %s goes first".formatted(first));
    }

    private Optional<String> bound() {
        return when(
                steps.all().size() >= StepStatus.UNDER_WAY_MAX,
                "%d storage nodes are emptied at a time".formatted(StepStatus.UNDER_WAY_MAX));
    }

    /** Two that are emptied would wait for the room of each other: the one that stays comes later. */
    private Optional<String> besideLeftovers() {
        return steps.first(step -> step.because() == StepCause.SCALE_DOWN && step.state() == StepState.LEFTOVERS)
                .map(step -> "%s goes first, and what is left on it needs room".formatted(step.of()));
    }

    /** One that stays and is kept empty takes objects again, so that what has no other place is not dropped meanwhile. */
    private Optional<String> besideEmptied(Transition it) {
        return steps.first(step -> step.because() == StepCause.REQUEST && step.kind() == StepKind.EMPTY)
                .flatMap(step -> steps.takers(it.of())
                        .map(why -> "%s while a user wants %s to be empty".formatted(why, step.of())));
    }

    /** Its pod is to be deleted, now or once it is empty, and the next one could not be scheduled where its volume is. */
    private Optional<String> withoutPlace(Transition it) {
        return view.cordon(it.of())
                .filter(cordon -> it.kind() == StepKind.EMPTY || it.kind() == StepKind.REPLACE)
                .filter(cordon -> it.because() != StepCause.ROLLBACK)
                .filter(cordon -> !cordon.admits() && members.is(it.of(), Member::outlives))
                .map(cordon -> "Kubernetes node %s %s, so that its pod might not come back"
                        .formatted(cordon.host(), cordon.how()));
    }

    /**
     * A process that was killed has not said of its volume that all of it was written, so that only the machine where it ran believes what
     * is there, and its next pod may come to another one. It may get ready by itself first, and then ends in order.
     */
    private Optional<String> comingBack(Transition it) {
        boolean settings = it.because() == StepCause.SETTINGS && !view.terms().mayLoseBytes();
        boolean waited = view.steps().stream()
                .anyMatch(step -> step.of().equals(it.of())
                        && step.because() == StepCause.SETTINGS
                        && (step.state() == StepState.FAILED
                                || (step.state() == StepState.WAITING && view.isOverdue(step))));
        return members.get(it.of())
                .filter(member -> settings && !waited)
                .filter(member -> member.outlives() && !member.observed().perNode() && !member.holdsNothing())
                .map(member ->
                        "%s, and has %s to get ready by itself: on another Kubernetes node what it holds might be lost"
                                .formatted(
                                        isNotReady(member),
                                        view.terms().upgrade().stepTimeout()));
    }

    private Optional<String> cordoned(Transition it) {
        if (!view.isCordoned(it.of(), Cordon::keeps)) {
            return steps.takers(it.of());
        }
        return when(
                !steps.hasRoom(it.of()),
                "%d other storage nodes are away or may be evicted, and spec.upgrade.maxUnavailable is %d"
                        .formatted(steps.away(it.of()).size(), view.terms().maxUnavailable()));
    }

    private Optional<String> requested(Transition it) {
        return members.masters().size() > 1
                ? stopping(it)
                : Optional.of("there is no other master that could take the leadership");
    }

    private Optional<String> cordonedFirst() {
        return waiting.stream()
                .filter(wait -> wait.because() == StepCause.CORDON)
                .map(Wait::of)
                .filter(id -> view.isCordoned(id, Cordon::evicts))
                .findFirst()
                .map("storage node %s is emptied first, as its Kubernetes node is cordoned"::formatted);
    }

    private Optional<String> lost() {
        return outdated.lossy()
                .map(node -> "%s came back without %d of its objects".formatted(node.id(), node.lostAtReturn()));
    }

    /** Nothing else is changed after a change that failed, but what failed is mended. */
    private Optional<String> failed(Transition it) {
        return steps.first(step -> step.because() == StepCause.SETTINGS
                        && step.state() == StepState.FAILED
                        && !step.of().equals(it.of()))
                .map(StepStatus::waitsFor);
    }

    /** Takes a member away for a while: one master at a time, none beside a storage node, and these within the budget. */
    private Optional<String> stopping(Transition it) {
        return master(it)
                .or(() -> it.master() && it.because() != StepCause.SCALE_DOWN ? room(it) : Optional.empty())
                .or(() ->
                        when(steps.isAnyMasterStopped(it.of()), "one master at a time, and none beside a storage node"))
                .or(() ->
                        it.master() ? steps.stoppedBeside(it.of()).findFirst().map(StepWords::comesFirst) : storage(it))
                .or(() -> it.kind() == StepKind.HAND_OVER ? members.lack() : Optional.empty());
    }

    private Optional<String> storage(Transition it) {
        boolean only = it.because().isImage()
                && steps.stopped(it.of()) == 0
                && members.storage().size() == 1;
        return mastersFirst()
                .or(() -> room(it))
                .or(() -> it.kind() == StepKind.EMPTY && !only && !members.is(it.of(), Member::holdsNothing)
                        ? steps.takers(it.of())
                        : Optional.empty());
    }

    /** What masters wait for, storage nodes that come after them wait for too. Nothing comes after a leader of which only a user wants something. */
    private Optional<String> mastersFirst() {
        return waiting.stream()
                .filter(wait -> members.isMaster(wait.of()))
                .filter(wait -> wait.because() != StepCause.REQUEST || isToChange(wait.of()))
                .map(Wait::sentence)
                .findFirst();
    }

    private boolean isToChange(String master) {
        return view.goals().outdated().contains(master)
                || behind.stream()
                        .flatMap(those -> those.steppable().stream())
                        .anyMatch(member -> member.id().equals(master));
    }

    private Optional<String> room(Transition it) {
        if (steps.hasRoom(it.of())) {
            return Optional.empty();
        }
        List<Member> away = steps.notServing().stream()
                .filter(node -> !node.id().equals(it.of()))
                .toList();
        if (away.isEmpty()) {
            return steps.missing().stream()
                    .filter(id -> !id.equals(it.of()) && !steps.isStopped(id))
                    .findFirst()
                    .map(id -> hasNoPod("storage node " + id, id))
                    .or(() -> steps.stoppedBeside(it.of())
                            .filter(step -> !members.isMaster(step.of()))
                            .filter(step -> step.state() == StepState.LEFTOVERS || step.state() == StepState.FAILED)
                            .findFirst()
                            .map(StepWords::comesFirst))
                    .or(() -> Optional.of(budget(it)));
        }
        Member first = away.getFirst();
        return Optional.of(isNotReady(first)
                + behind.map(those -> those.remedy(first)).orElse("")
                + (first.isGone()
                        ? "; with spec.upgrade.maxUnavailable above %d others are upgraded meanwhile"
                                .formatted(away.size())
                        : ""));
    }

    /** The budget, and what has taken it. For one that is not ready only those count that a step has stopped. */
    private String budget(Transition it) {
        return steps.first(
                        step -> !step.of().equals(it.of()) && (Steps.isStopped(step) || (!it.mends() && mayGo(step))))
                .map(step -> BUDGET + ", as " + (mayGo(step) ? going(step) : StepWords.stopped(step)))
                .orElse(BUDGET);
    }

    private static boolean mayGo(StepStatus step) {
        return !Steps.isStopped(step) && (step.state() == StepState.KEPT || step.state() == StepState.DROPPED);
    }

    private static String going(StepStatus step) {
        return "the pod of %s may be evicted%s"
                .formatted(step.of(), step.machine() == null ? "" : " from " + step.machine());
    }

    /**
     * Why no step begins for the sake of masters. One whose machine is dead, or for which there is none, is waited for only as long as
     * no other standby could lead; one that never ran may be missing for long, and settings do not wait for it. Before one goes for good
     * only those count that stay.
     */
    private Optional<String> master(Transition it) {
        List<Member> masters = members.masters().stream()
                .filter(master ->
                        it.because() != StepCause.SCALE_DOWN || view.goals().want(master.pod()))
                .toList();
        boolean standby = masters.stream()
                .anyMatch(master -> !members.leads(master.pod())
                        && isWell(master, it)
                        && members.lack(master.pod()).isEmpty());
        return members.missing().stream()
                .filter(pod -> !steps.isStopped(pod) && !steps.isPassed(pod))
                .min(Comparator.naturalOrder())
                .map(pod -> hasNoPod("master " + pod, pod))
                .or(() -> masters.stream()
                        .filter(master -> !isWell(master, it) && !steps.isStopped(master.pod()))
                        .filter(master -> !master.isGone() || !standby)
                        .filter(master -> it.because().isImage() || it.master() || master.started() || master.leaving())
                        .findFirst()
                        .map(master -> "master " + master.pod() + " is not ready" + Parentheses.of(master.why())
                                + (master.isGone() ? ", and no other standby knows what the leader knows" : "")));
    }

    private String hasNoPod(String what, String id) {
        return what + " has no pod" + Parentheses.of(members.whyMissing(id).orElse(""));
    }

    /** Before another image a master must also answer. */
    private boolean isWell(Member master, Transition it) {
        return master.ready() && (!it.because().isImage() || members.answers(master.pod()));
    }

    private static String isNotReady(Member node) {
        String seen = node.node()
                .map(it -> it.state() + (it.reason().isEmpty() ? "" : ", " + it.reason()))
                .orElse("unknown to the leader");
        return "storage node " + node.id() + " is not ready"
                + Parentheses.of(node.why().isEmpty() ? seen : node.why());
    }
}
