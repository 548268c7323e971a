// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The one list of steps, by what they are about, and how many storage nodes are away, whatever they are away for: the one count that all
 * transitions share. A node is back when the leader says so; a ready pod alone may still be reading its segment. What begins in a look
 * counts at once.
 */
final class Steps {
    private final TransitionView view;
    private final Members members;
    private final List<StepStatus> steps;

    Steps(TransitionView view, List<StepStatus> steps) {
        this.view = view;
        this.members = view.members();
        this.steps = new ArrayList<>(steps);
    }

    List<StepStatus> all() {
        return List.copyOf(steps);
    }

    /** It takes the place of another one about the same member. */
    void begin(StepStatus step) {
        steps.removeIf(other -> other.of().equals(step.of()));
        steps.add(step);
    }

    Optional<StepStatus> of(String id) {
        return first(step -> step.of().equals(id));
    }

    /** A step is about it, and is so. */
    boolean is(String id, Predicate<StepStatus> so) {
        return of(id).filter(so).isPresent();
    }

    boolean any(Predicate<StepStatus> so) {
        return steps.stream().anyMatch(so);
    }

    Optional<StepStatus> first(Predicate<StepStatus> so) {
        return steps.stream().filter(so).findFirst();
    }

    boolean hasRoom(String except) {
        return away(except).size() < view.terms().maxUnavailable();
    }

    /** Ids of storage nodes that are away or about to be. */
    Set<String> away(String except) {
        Set<String> away = new TreeSet<>(missing());
        notServing().stream().map(Member::id).forEach(away::add);
        steps.stream()
                .filter(step -> isStopped(step)
                        ? !members.isMaster(step.of())
                        : step.state() == StepState.KEPT || step.state() == StepState.DROPPED)
                .map(StepStatus::of)
                .forEach(away::add);
        away.remove(except);
        return away;
    }

    /**
     * How many masters and storage nodes other than this one are taken away for a while by a step: a step that has failed makes room for
     * the one that mends it.
     */
    long stopped(String except) {
        return stoppedBeside(except).count();
    }

    boolean isAnyMasterStopped(String except) {
        return stoppedBeside(except).anyMatch(step -> members.isMaster(step.of()));
    }

    Stream<StepStatus> stoppedBeside(String except) {
        return steps.stream().filter(step -> isStopped(step) && !step.of().equals(except));
    }

    /** A leader that did not hand over for a user has lost nothing, and nothing waits for it. */
    static boolean isStopped(StepStatus step) {
        boolean failed = step.because() == StepCause.REQUEST && step.state() == StepState.FAILED;
        return Transition.stops(step.kind(), step.because()) && step.state() != StepState.WAITING && !failed;
    }

    boolean isStopped(String id) {
        return any(step -> step.of().equals(id) && isStopped(step));
    }

    /**
     * Storage nodes that are not there though no step stops them. One that never was, as there is no Kubernetes node for it, is not
     * missed; on the way back to an earlier image neither is one whose machine is dead.
     */
    List<Member> notServing() {
        return members.current()
                .filter(node -> !node.master() && view.goals().wanted().contains(node.id()))
                .filter(node -> !members.serves(node))
                .filter(node -> !isStopped(node.id()))
                .filter(node -> node.started() || node.where() != Member.Where.WITHOUT_NODE || wasThere(node))
                .filter(node -> !view.goesBack() || !node.isGone())
                .sorted(Comparator.comparing(Member::id))
                .toList();
    }

    /** What it holds waits for the Kubernetes node where its volume is. One that was emptied may have lost that node for good. */
    private static boolean wasThere(Member node) {
        return node.outlives() && node.isSeen(it -> !it.incarnation().isEmpty()) && !node.holdsNothing();
    }

    /** On the way back to an earlier image one for which no pod can be created is as good as on a dead machine. */
    boolean isPassed(String id) {
        return view.goesBack() && members.whyMissing(id).isPresent();
    }

    /** Ids of those that a leader has met and that have no pod. */
    List<String> missing() {
        return view.goals().wanted().stream()
                .filter(id -> members.get(id).isEmpty() && !isPassed(id))
                .filter(id -> members.isSeen(id, node -> !node.incarnation().isEmpty() && !node.serves()))
                .sorted()
                .toList();
    }

    /**
     * Masters and storage nodes for which no pod can be created, so that nothing else of a pool can be stopped: none beside a master, and only so
     * many storage nodes.
     */
    List<String> inTheWay() {
        boolean full = missing().size() + notServing().size() >= view.terms().maxUnavailable();
        return Stream.concat(members.missing().stream(), full ? missing().stream() : Stream.empty())
                .filter(id -> members.whyMissing(id).isPresent())
                .sorted()
                .toList();
    }

    /** Why a storage node cannot be emptied that is to come back: as many others as are emptied must be ready to take what they hold. */
    Optional<String> takers(String id) {
        // From a machine that is dead nothing is moved.
        long emptied = steps.stream()
                .filter(step -> Progress.isUnderWay(step) && !step.of().equals(id))
                .map(StepStatus::of)
                .filter(other -> !members.is(other, Member::isGone))
                .distinct()
                .count();
        long takers = members.takers(id)
                .map(PoolReport.Node::id)
                .filter(other -> !any(step ->
                        step.of().equals(other) && step.state() != StepState.WAITING && step.state() != StepState.KEPT))
                .count();
        if (takers > emptied) {
            return Optional.empty();
        }
        return Optional.of(
                takers == 0
                        ? "no other storage node is ready to take what it holds"
                        : "as many storage nodes are being emptied as others are ready to take what they hold");
    }
}
