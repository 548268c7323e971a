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
    private final List<StepStatus> steps;
    private final List<StepStatus> before;
    private final Optional<Behind> behind;
    private final List<Transition> needs = new ArrayList<>();
    private int place;

    private Needs(TransitionView view, List<StepStatus> steps, List<StepStatus> before, Optional<Behind> behind) {
        this.view = view;
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
    static List<Transition> of(
            TransitionView view, List<StepStatus> steps, List<StepStatus> before, Optional<Behind> behind) {
        Needs needs = new Needs(view, steps, before, behind);
        view.goals().surplus().forEach(needs::surplus);
        view.goals().unwanted().keySet().forEach(needs::unwanted);
        view.members().storage().stream().map(Member::id).distinct().forEach(needs::cordoned);
        view.members().leader().ifPresent(needs::requested);
        Comparator<Member> turn = Comparator.comparing(
                        (Member it) -> view.members().leads(it.pod()))
                .thenComparing(Member::id, Comparator.reverseOrder());
        view.members().all().sorted(turn).forEach(needs::member);
        behind.filter(those -> !those.steppable().isEmpty()).ifPresent(any -> needs.uncreatable());
        return needs.needs.stream().sorted(Transition.ORDER).toList();
    }

    private void add(String of, StepKind kind, StepCause because, boolean master, boolean mends) {
        needs.add(new Transition(of, kind, because, master, mends, place++));
    }

    private Optional<StepStatus> step(String id) {
        return steps.stream().filter(step -> step.of().equals(id)).findFirst();
    }

    private void surplus(String pod) {
        Optional<Member> member = view.members().get(pod).filter(Member::started);
        if (member.isPresent() && step(pod).filter(step -> !isPassed(step)).isEmpty()) {
            boolean leads = view.members().handsOver(member.get());
            boolean first = view.goals().surplus().getFirst().equals(pod);
            add(
                    pod,
                    leads ? StepKind.HAND_OVER : StepKind.REMOVE,
                    StepCause.SCALE_DOWN,
                    true,
                    first && !leads && !member.get().ready());
        }
    }

    private void unwanted(String id) {
        boolean holds = view.goals().unwanted().get(id) && !view.terms().mayLoseBytes();
        if (holds && step(id).isEmpty()) {
            add(id, StepKind.EMPTY, StepCause.SCALE_DOWN, false, false);
        }
    }

    private void cordoned(String id) {
        boolean holds = view.members()
                .get(id)
                .filter(member -> member.started() && !member.leaving())
                .isPresent();
        if (holds && view.goals().wanted().contains(id) && isEmptied(id) && step(id).isEmpty()) {
            add(id, StepKind.EMPTY, view.cordon(id).orElseThrow().because(), false, false);
        }
    }

    /** A leader that goes hands over anyway. One that gave its leadership away for nothing does so for another request only. */
    private void requested(PoolReport leader) {
        if (isRequested(leader.name()) && step(leader.name()).isEmpty()) {
            add(leader.name(), StepKind.HAND_OVER, StepCause.REQUEST, true, false);
        }
    }

    private boolean isRequested(String pod) {
        return view.members().leads(pod)
                && !view.goals().surplus().contains(pod)
                && view.goals().isToHandOver(pod, view.members().leader());
    }

    private boolean isEmptied(String id) {
        return view.cordon(id).filter(Cordon::empties).isPresent();
    }

    private void member(Member member) {
        boolean current = view.members().get(member.id()).filter(member::equals).isPresent();
        if (!current || !view.goals().want(member.id()) || !isFree(member)) {
            return;
        }
        if (behind.filter(those -> those.steppable().contains(member)).isPresent()) {
            image(member, behind.get());
            return;
        }
        boolean fallen = behind.filter(those -> those.fallen().contains(member)).isPresent();
        // Nothing can be moved from one that does not get ready: an upgrade that waited for it would never end.
        if (isToBeChanged(member) && !(fallen && isEmptiedFirst(member))) {
            settings(member);
        } else if (fallen) {
            fallen(member);
        }
    }

    private boolean isEmptiedFirst(Member member) {
        return view.terms().forSettings(member) == DataLossPolicy.MOVE && !isReplacedAtOnce(member);
    }

    private boolean isToBeChanged(Member member) {
        return view.goals().outdated().contains(member.id())
                && view.terms().forSettings(member) != DataLossPolicy.WAIT
                && member.started()
                && !member.leaving();
    }

    /** Its container is restarted by its kubelet. The step gives it the time of one, after which the upgrade has failed. */
    private void fallen(Member member) {
        ImageGoal goal = view.goals().image().orElseThrow();
        if (!goal.paused()) {
            add(member.id(), StepKind.RESTART, goal.because(), member.master(), true);
        }
    }

    /** The same of one for which no pod can be created, where the upgrade would wait for it. */
    private void uncreatable() {
        ImageGoal goal = view.goals().image().orElseThrow();
        if (!goal.back() && !goal.paused()) {
            new Budget(view, steps)
                    .inTheWay().stream()
                            .filter(id -> step(id).isEmpty())
                            .forEach(id -> add(
                                    id,
                                    StepKind.REPLACE,
                                    goal.because(),
                                    view.members().isMaster(id),
                                    true));
        }
    }

    private boolean isFree(Member member) {
        boolean failed = step(member.id())
                .filter(step -> step.state() == StepState.FAILED)
                .isPresent();
        if (view.members().handsOver(member) && member.ready() && !failed && isRequested(member.pod())) {
            return false;
        }
        // Nothing can be moved from one that is not ready: it is brought back first.
        boolean emptiedNow = isEmptied(member.id())
                && member.ready()
                && step(member.id()).isEmpty()
                && before.stream().noneMatch(step -> step.of().equals(member.id()) && lets(step));
        return !emptiedNow && step(member.id()).filter(step -> !isPassed(step)).isEmpty();
    }

    /** A request that has waited in vain keeps nothing else from its storage node. For a cordon that evicts a person waits. */
    private boolean lets(StepStatus step) {
        boolean kept = step.state() == StepState.KEPT
                && view.cordon(step.of()).filter(Cordon::keeps).isPresent();
        return kept
                || (step.state() == StepState.WAITING
                        && step.because() == StepCause.REQUEST
                        && view.idle(step).compareTo(view.terms().drainTimeout()) >= 0);
    }

    /** A step that gives way to another one. */
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
        if (view.goals().image().orElseThrow().paused()) {
            return;
        }
        StepCause because = view.goals().image().orElseThrow().because();
        boolean mends = !member.ready();
        boolean emptied = view.goals().image().orElseThrow().emptied() && !member.master();
        StepKind kind = StepKind.RESTART;
        if (mends) {
            kind = emptied && those.isFull(member) ? StepKind.REPLACE : StepKind.RESTART;
        } else if (emptied) {
            kind = StepKind.EMPTY;
        } else if (view.members().handsOver(member)) {
            kind = StepKind.HAND_OVER;
        }
        add(member.id(), kind, because, member.master(), mends);
    }

    private void settings(Member member) {
        switch (view.terms().forSettings(member)) {
            case REPLACE -> {
                boolean mends = !member.ready();
                StepKind kind = !mends && view.members().handsOver(member) ? StepKind.HAND_OVER : StepKind.REPLACE;
                add(member.id(), kind, StepCause.SETTINGS, member.master(), mends);
            }
            case MOVE -> moved(member);
            case WAIT -> {}
        }
    }

    /**
     * What is emptied for its place is not emptied once more: once nothing is left there, it is replaced at once. So is one that is not
     * there and holds nothing, of which nothing can be moved.
     */
    private void moved(Member member) {
        if (isReplacedAtOnce(member)) {
            add(member.id(), StepKind.REPLACE, StepCause.SETTINGS, false, true);
            return;
        }
        if (view.cordon(member.id()).isEmpty()) {
            add(member.id(), StepKind.EMPTY, StepCause.SETTINGS, false, false);
        } else if (step(member.id())
                .filter(step -> step.state() == StepState.EMPTY)
                .isPresent()) {
            add(member.id(), StepKind.REPLACE, StepCause.SETTINGS, false, false);
        }
    }

    private boolean isReplacedAtOnce(Member member) {
        boolean inVain = step(member.id())
                .filter(step -> Facts.isReplacedInVain(step, member))
                .isPresent();
        return inVain || (!member.ready() && member.holdsNothing());
    }
}
