// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What has to happen to the members of a pool so that they become what they shall be, in the one order. */
final class Needs {
    /** Until its pod is evicted, whatever else is due happens to a storage node on a cordoned Kubernetes node. */
    private static final Set<StepState> AT_REST =
            EnumSet.of(StepState.KEPT, StepState.EMPTY, StepState.DROPPED, StepState.LEFTOVERS);

    private final TransitionView view;
    private final Members members;
    private final Goals goals;
    private final Steps steps;
    private final List<StepStatus> before;
    private final Optional<Behind> behind;
    private final List<Transition> needs = new ArrayList<>();

    private Needs(TransitionView view, Steps steps, List<StepStatus> before, Optional<Behind> behind) {
        this.view = view;
        this.members = view.members();
        this.goals = view.goals();
        this.steps = steps;
        this.before = before;
        this.behind = behind;
    }

    /**
     * Finds them.
     *
     * @param steps steps that go on
     * @param before what waited, or was kept, at the last look
     */
    static List<Transition> of(TransitionView view, Steps steps, List<StepStatus> before, Optional<Behind> behind) {
        Needs needs = new Needs(view, steps, before, behind);
        needs.goals.surplus().forEach(needs::surplus);
        needs.goals.unwanted().keySet().forEach(needs::unwanted);
        needs.members.current().forEach(needs::cordoned);
        needs.members.leader().ifPresent(needs::requested);
        needs.members
                .current()
                .sorted(Comparator.comparing((Member it) -> needs.members.leads(it.pod()))
                        .thenComparing(Member::id, Comparator.reverseOrder()))
                .filter(member -> needs.goals.want(member.id()) && needs.isFree(member))
                .forEach(needs::member);
        behind.filter(those -> !those.steppable().isEmpty()).ifPresent(any -> needs.uncreatable());
        return needs.needs.stream().sorted(Transition.ORDER).toList();
    }

    private void add(String of, StepKind kind, StepCause because, boolean mends) {
        needs.add(new Transition(of, kind, because, members.isMaster(of), mends));
    }

    private void surplus(String pod) {
        members.get(pod).filter(Member::started).filter(this::isLeftAlone).ifPresent(member -> {
            boolean leads = members.handsOver(member);
            boolean mends = goals.surplus().getFirst().equals(pod) && !leads && !member.ready();
            add(pod, leads ? StepKind.HAND_OVER : StepKind.REMOVE, StepCause.SCALE_DOWN, mends);
        });
    }

    private void unwanted(String id) {
        if (goals.unwanted().get(id)
                && !view.terms().mayLoseBytes()
                && steps.of(id).isEmpty()) {
            add(id, StepKind.EMPTY, StepCause.SCALE_DOWN, false);
        }
    }

    private void cordoned(Member member) {
        String id = member.id();
        boolean concerned = member.isThere() && goals.wanted().contains(id);
        if (concerned && view.isCordoned(id, Cordon::empties) && steps.of(id).isEmpty()) {
            add(id, StepKind.EMPTY, view.cordon(id).orElseThrow().because(), false);
        }
    }

    /** A leader that goes hands over anyway. One that gave its leadership away for nothing does so for another request only. */
    private void requested(PoolReport leader) {
        if (isRequested(leader.name()) && steps.of(leader.name()).isEmpty()) {
            add(leader.name(), StepKind.HAND_OVER, StepCause.REQUEST, false);
        }
    }

    private boolean isRequested(String pod) {
        return members.leads(pod) && !goals.surplus().contains(pod) && goals.isToHandOver(pod, members.leader());
    }

    private void member(Member member) {
        if (behind.filter(those -> those.steppable().contains(member)).isPresent()) {
            image(member, behind.get());
            return;
        }
        boolean fallen = behind.filter(those -> those.fallen().contains(member)).isPresent();
        boolean changes = goals.outdated().contains(member.id())
                && view.terms().forSettings(member) != DataLossPolicy.WAIT
                && member.isThere();
        // Nothing can be moved from one that does not get ready: an upgrade that waited for it would never end.
        boolean inVain = fallen && view.isMoved(member.id()) && !isReplacedAtOnce(member);
        if (changes && !inVain) {
            settings(member);
        } else if (fallen && !goal().paused()) {
            // Its container is restarted by its kubelet. The step gives it the time of one, after which the upgrade has
            // failed.
            add(member.id(), StepKind.RESTART, goal().because(), true);
        }
    }

    private ImageGoal goal() {
        return goals.image().orElseThrow();
    }

    /** One for which no pod can be created, where the upgrade would wait for it. */
    private void uncreatable() {
        if (!goal().back() && !goal().paused()) {
            steps.inTheWay().stream()
                    .filter(id -> steps.of(id).isEmpty())
                    .forEach(id -> add(id, StepKind.REPLACE, goal().because(), true));
        }
    }

    private boolean isFree(Member member) {
        String id = member.id();
        boolean failed = steps.is(id, step -> step.state() == StepState.FAILED);
        if (members.handsOver(member) && member.ready() && !failed && isRequested(id)) {
            return false;
        }
        // Nothing can be moved from one that is not ready: it is brought back first.
        boolean emptiedNow = view.isCordoned(id, Cordon::empties)
                && member.ready()
                && steps.of(id).isEmpty()
                && before.stream().noneMatch(step -> step.of().equals(id) && lets(step));
        return !emptiedNow && isLeftAlone(member);
    }

    /** What has waited in vain keeps nothing else from its storage node, but for a cordon that evicts a person waits. */
    private boolean lets(StepStatus step) {
        return switch (step.state()) {
            case KEPT -> view.isCordoned(step.of(), Cordon::keeps);
            case WAITING ->
                (step.because() == StepCause.REQUEST || !view.isCordoned(step.of(), Cordon::evicts))
                        && view.idle(step).compareTo(view.terms().drainTimeout()) >= 0;
            default -> false;
        };
    }

    /** No step is about it, but maybe one that gives way to another one. */
    private boolean isLeftAlone(Member member) {
        return steps.of(member.id()).filter(step -> !isPassed(step)).isEmpty();
    }

    private boolean isPassed(StepStatus step) {
        if (step.state() == StepState.FAILED) {
            // One that gave its leadership away for nothing does so again after a while.
            return step.kind() != StepKind.HAND_OVER
                    || step.because() == StepCause.REQUEST
                    || view.idle(step).compareTo(view.stepTimeout().plus(Duration.ofSeconds(1))) > 0;
        }
        return step.because().isOfPlace() && AT_REST.contains(step.state());
    }

    private void image(Member member, Behind those) {
        boolean mends = !member.ready();
        boolean emptied = goal().emptied() && !member.master();
        StepKind kind = StepKind.RESTART;
        if (emptied && mends && those.isFull(member)) {
            kind = StepKind.REPLACE;
        } else if (emptied && !mends) {
            kind = StepKind.EMPTY;
        } else if (!mends && members.handsOver(member)) {
            kind = StepKind.HAND_OVER;
        }
        if (!goal().paused()) {
            add(member.id(), kind, goal().because(), mends);
        }
    }

    /**
     * What is emptied for its place is not emptied once more: once nothing is left there, it is replaced at once. So is one that is not
     * there and holds nothing, of which nothing can be moved.
     */
    private void settings(Member member) {
        String id = member.id();
        if (!view.isMoved(id)) {
            boolean handsOver = member.ready() && members.handsOver(member);
            add(id, handsOver ? StepKind.HAND_OVER : StepKind.REPLACE, StepCause.SETTINGS, !member.ready());
        } else if (isReplacedAtOnce(member)) {
            add(id, StepKind.REPLACE, StepCause.SETTINGS, true);
        } else if (view.cordon(id).isEmpty()) {
            add(id, StepKind.EMPTY, StepCause.SETTINGS, false);
        } else if (steps.is(id, step -> step.state() == StepState.EMPTY)) {
            add(id, StepKind.REPLACE, StepCause.SETTINGS, false);
        }
    }

    private boolean isReplacedAtOnce(Member member) {
        return steps.is(member.id(), step -> Facts.isReplacedInVain(step, member))
                || (!member.ready() && member.holdsNothing());
    }
}
