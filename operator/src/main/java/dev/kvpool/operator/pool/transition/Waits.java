// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.member.WarmMasters;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Why a transition does not begin now, as a part of a sentence: the one place that says so. */
final class Waits {
    private static final String BUDGET = "the budget of spec.upgrade.maxUnavailable";

    private final TransitionView view;
    private final Members members;
    private final List<StepStatus> steps;
    private final List<Wait> waiting;
    private final Optional<Behind> behind;
    private final Budget budget;
    private final Optional<PoolReport.Node> lossy;

    /**
     * @param steps steps under way; it grows as more begin
     * @param waiting transitions that were found to wait so far; it grows
     * @param behind members that the upgrade under way has still to bring to its image
     * @param outdated storage nodes that are to be replaced for their settings, with what they hold
     */
    Waits(
            TransitionView view,
            List<StepStatus> steps,
            List<Wait> waiting,
            Optional<Behind> behind,
            List<Member> outdated) {
        this.view = view;
        this.members = view.members();
        this.steps = steps;
        this.waiting = waiting;
        this.behind = behind;
        this.budget = new Budget(view, steps);
        this.lossy = lossy(outdated, view);
    }

    /** Empty when it can begin. */
    Optional<String> of(Transition it) {
        if (view.isPaused(it.of(), it.because())) {
            return Optional.of("nothing is changed");
        }
        Optional<String> uncreatable = uncreatable(it);
        if (uncreatable.isPresent()) {
            return uncreatable;
        }
        if (it.mends()) {
            return budget.stopped(it.of()) < view.terms().maxUnavailable() ? Optional.empty() : Optional.of(BUDGET);
        }
        if (members.leader().isEmpty()) {
            return Optional.of("no master leads and serves");
        }
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
                        .or(() -> stopping(it));
            case UPGRADE, ROLLBACK -> cordonedFirst().or(() -> stopping(it));
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
                        .filter(id -> members.get(id).isEmpty() && budget.isPassed(id))
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
                                ? "master " + member.pod() + " is not ready" + because(whyNot(member))
                                : isNotReady(member) + those.wayOut(member)))
                .toList();
    }

    private Optional<String> upgradeFirst() {
        return steps.stream().anyMatch(step -> step.because().isImage() && Budget.isStopped(step))
                ? Optional.of("a step of an upgrade comes first")
                : Optional.empty();
    }

    private Optional<String> surplus(Transition it) {
        String first = view.goals().surplus().getFirst();
        return first.equals(it.of()) ? stopping(it) : Optional.of("master %s goes first".formatted(first));
    }

    private Optional<String> bound() {
        return steps.size() >= StepStatus.UNDER_WAY_MAX
                ? Optional.of("%d storage nodes are emptied at a time".formatted(StepStatus.UNDER_WAY_MAX))
                : Optional.empty();
    }

    /** Two that are emptied would wait for the room of each other: the one that stays comes later. */
    private Optional<String> besideLeftovers() {
        return steps.stream()
                .filter(step -> step.because() == StepCause.SCALE_DOWN && step.state() == StepState.LEFTOVERS)
                .findFirst()
                .map(step -> "%s goes first, and what is left on it needs room".formatted(step.of()));
    }

    /** One that stays and is kept empty takes objects again, so that what has no other place is not dropped meanwhile. */
    private Optional<String> besideEmptied(Transition it) {
        return steps.stream()
                .filter(step -> step.because() == StepCause.REQUEST && step.kind() == StepKind.EMPTY)
                .findFirst()
                .flatMap(step -> budget.takers(it.of())
                        .map(why -> "%s while a user wants %s to be empty".formatted(why, step.of())));
    }

    private Optional<String> cordoned(Transition it) {
        if (view.cordon(it.of()).filter(Cordon::keeps).isEmpty()) {
            return budget.takers(it.of());
        }
        Set<String> away = budget.away(it.of());
        return away.size() < view.terms().maxUnavailable()
                ? Optional.empty()
                : Optional.of("%d other storage nodes are away or may be evicted, and spec.upgrade.maxUnavailable is %d"
                        .formatted(away.size(), view.terms().maxUnavailable()));
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
                .filter(id -> view.cordon(id).filter(Cordon::evicts).isPresent())
                .findFirst()
                .map("storage node %s is emptied first, as its Kubernetes node is cordoned"::formatted);
    }

    private Optional<String> lost() {
        return lossy.map(node -> "%s came back without %d of its objects".formatted(node.id(), node.lostAtReturn()));
    }

    /**
     * One of the same sets that is back with less than it had. The leader says so until the node's next start, whatever that was started
     * for: a loss in a set that is left alone says nothing about the settings of others.
     */
    static Optional<PoolReport.Node> lossy(List<Member> outdated, TransitionView view) {
        if (outdated.isEmpty() || view.terms().mayLoseBytes()) {
            return Optional.empty();
        }
        Set<String> ids = outdated.stream().map(Member::id).collect(Collectors.toSet());
        return view.members().storage().stream()
                .filter(node -> !ids.contains(node.id()) && outdated.stream().anyMatch(it -> isOfSameSet(it, node)))
                .flatMap(node -> node.node().stream())
                .filter(node -> node.lostAtReturn() != null && node.lostAtReturn() > 0)
                .findFirst();
    }

    private static boolean isOfSameSet(Member one, Member other) {
        return one.observed().set().equals(other.observed().set())
                && one.observed().perNode() == other.observed().perNode();
    }

    /** Nothing else is changed after a change that failed, but what failed is mended. */
    private Optional<String> failed(Transition it) {
        return steps.stream()
                .filter(step -> step.because() == StepCause.SETTINGS && step.state() == StepState.FAILED)
                .filter(step -> !step.of().equals(it.of()))
                .map(StepStatus::waitsFor)
                .findFirst();
    }

    /** Takes a member away for a while: one master at a time, none beside a storage node, and these within the budget. */
    private Optional<String> stopping(Transition it) {
        return master(it)
                .or(() -> it.master() && it.because() != StepCause.SCALE_DOWN ? room(it) : Optional.empty())
                .or(() -> budget.isAnyMasterStopped(it.of())
                        ? Optional.of("one master at a time, and none beside a storage node")
                        : Optional.empty())
                .or(() -> it.master() ? afterStorage(it) : storage(it))
                .or(() -> it.kind() == StepKind.HAND_OVER ? new WarmMasters(members).lack() : Optional.empty());
    }

    private Optional<String> afterStorage(Transition it) {
        return budget.stoppedBeside(it.of()).findFirst().map(StepWords::comesFirst);
    }

    private Optional<String> storage(Transition it) {
        boolean only = it.because().isImage()
                && budget.stopped(it.of()) == 0
                && members.storage().size() == 1;
        return mastersFirst()
                .or(() -> room(it))
                .or(() -> it.kind() == StepKind.EMPTY && !only ? budget.takers(it.of()) : Optional.empty());
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
        if (budget.hasRoom(it.of())) {
            return Optional.empty();
        }
        List<Member> away = budget.notServing().stream()
                .filter(node -> !node.id().equals(it.of()))
                .toList();
        if (away.isEmpty()) {
            Optional<String> missing = budget.missing().stream()
                    .filter(id -> !id.equals(it.of()) && !budget.isStopped(id))
                    .findFirst();
            if (missing.isPresent()) {
                return missing.map(id -> hasNoPod("storage node " + id, id));
            }
            return budget.stoppedBeside(it.of())
                    .filter(step -> step.state() == StepState.LEFTOVERS || step.state() == StepState.FAILED)
                    .findFirst()
                    .map(StepWords::comesFirst)
                    .or(() -> Optional.of(BUDGET));
        }
        Member first = away.getFirst();
        return Optional.of(isNotReady(first)
                + behind.map(those -> those.wayOut(first)).orElse("")
                + (first.isGone()
                        ? "; with spec.upgrade.maxUnavailable above %d others are upgraded meanwhile"
                                .formatted(away.size())
                        : ""));
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
        Optional<Member> standby = masters.stream()
                .filter(master -> !members.leads(master.pod()) && isWell(master, it))
                .filter(master -> new WarmMasters(members).lack(master.pod()).isEmpty())
                .findFirst();
        Stream<String> missing = members.missing().stream()
                .filter(pod -> !budget.isStopped(pod) && !budget.isPassed(pod))
                .sorted()
                .map(pod -> hasNoPod("master " + pod, pod));
        return Stream.concat(
                        missing,
                        masters.stream()
                                .filter(master -> !isWell(master, it) && !budget.isStopped(master.pod()))
                                .filter(master -> !master.isGone() || standby.isEmpty())
                                .filter(master ->
                                        it.because().isImage() || it.master() || master.started() || master.leaving())
                                .map(master -> "master " + master.pod() + " is not ready" + because(whyNot(master))
                                        + (master.isGone()
                                                ? ", and no other standby knows what the leader knows"
                                                : "")))
                .findFirst();
    }

    private String hasNoPod(String what, String id) {
        return what + " has no pod" + because(members.whyMissing(id).orElse(""));
    }

    /** Before another image a master must also answer. */
    private boolean isWell(Member master, Transition it) {
        return master.ready()
                && !master.leaving()
                && (!it.because().isImage() || members.answering().contains(master.pod()));
    }

    private static String isNotReady(Member node) {
        String why = whyNot(node);
        String seen = node.node()
                .map(it -> it.state() + (it.reason().isEmpty() ? "" : ", " + it.reason()))
                .orElse("unknown to the leader");
        return "storage node " + node.id() + " is not ready" + because(why.isEmpty() ? seen : why);
    }

    private static String whyNot(Member member) {
        return member.isGone() ? member.why() : member.trouble();
    }

    private static String because(String why) {
        return why.isEmpty() ? "" : " (" + why + ")";
    }
}
