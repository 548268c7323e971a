// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepFacts;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepProgress;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What the deadlines of emptying count: time in which it was watched and nothing was moved. A large storage node takes its time, and
 * what was done while no operator ran is not known. Pure.
 */
final class Progress {
    /** Of the shorter deadline: progress is written down at most so often. */
    private static final int NOTES_A_DEADLINE = 20;

    private final TransitionView view;
    private final Duration between;

    private Progress(TransitionView view) {
        this.view = view;
        Duration timeout = view.terms().drainTimeout();
        Duration nodeTimeout = view.terms().nodeTimeout();
        this.between = (timeout.compareTo(nodeTimeout) < 0 ? timeout : nodeTimeout).dividedBy(NOTES_A_DEADLINE);
    }

    /** The steps of the status with what the leader says now. One that waits for its turn waits for what the others do. */
    static List<StepStatus> noted(TransitionView view) {
        Progress progress = new Progress(view);
        List<StepStatus> noted = view.steps().stream()
                .map(step -> view.isPaused(step.of(), step.because()) ? progress.rest(step) : progress.note(step))
                .toList();
        Optional<Instant> latest =
                noted.stream().filter(Progress::isUnderWay).map(Progress::at).max(Comparator.naturalOrder());
        return noted.stream()
                .map(step -> step.state() == StepState.WAITING
                                && latest.filter(at(step)::isBefore).isPresent()
                        ? step.with(new StepProgress(latest.get().toString(), null))
                        : step)
                .toList();
    }

    static Instant at(StepStatus step) {
        return Instant.parse(
                step.progress() == null ? step.since() : step.progress().at());
    }

    /** It is being emptied. */
    static boolean isUnderWay(StepStatus step) {
        return step.kind() == StepKind.EMPTY
                && (step.state() == StepState.UNDER_WAY || step.state() == StepState.LEFTOVERS);
    }

    /** Of a pool in which nothing is decided: that time does not count. */
    private StepStatus rest(StepStatus step) {
        boolean counts = isUnderWay(step) || step.state() == StepState.WAITING || step.kind() == StepKind.HAND_OVER;
        boolean due =
                isDue(step) || view.idle(step).compareTo(view.stepTimeout().dividedBy(2)) > 0;
        return counts && due ? step.with(new StepProgress(view.now().toString(), null)) : step;
    }

    private boolean isDue(StepStatus step) {
        return Duration.between(at(step), view.now()).compareTo(between) >= 0;
    }

    private StepStatus note(StepStatus step) {
        if (!isUnderWay(step)) {
            return step;
        }
        if (view.isWithoutPod(step)) {
            return step.before() == null ? missed(step) : step;
        }
        if (step.before() != null) {
            return note(step.withoutFacts());
        }
        Long before = step.progress() == null ? null : step.progress().objectsLeft();
        if (!view.members().led()) {
            // Time without a leader does not count either once there is one again: it begins again then.
            return step.progress() != null && before == null
                    ? step
                    : step.with(new StepProgress(at(step).toString(), null));
        }
        Long left = left(step, view);
        if (left == null) {
            return step;
        }
        if (step.progress() == null || (before != null && left > before)) {
            // The first count, or that of a leader that counts otherwise: no progress, but what is moved from here on
            // is.
            return step.with(new StepProgress(at(step).toString(), left));
        }
        boolean moved = before == null || left < before;
        boolean again = before == null || left == 0 || isDue(step);
        return moved && again ? step.with(new StepProgress(view.now().toString(), left)) : step;
    }

    /** The time in which a pod has to be there again begins when it is first missed, which facts about none tell. */
    private StepStatus missed(StepStatus step) {
        return step.with(new StepFacts(step.of(), step.because(), null, null, null, null, null, null, null))
                .with(new StepProgress(view.now().toString(), null));
    }

    /** What has still to be moved; null while the leader does not say. Before another image nothing at all may be left. */
    static Long left(StepStatus step, TransitionView view) {
        return view.members().node(step.of()).map(node -> left(step, node)).orElse(null);
    }

    private static Long left(StepStatus step, PoolReport.Node node) {
        boolean copies =
                step.because().isImage() && node.objectsLeft() != null && node.objectsLeft() == 0 && node.objects() > 0;
        return copies ? Long.valueOf(node.objects()) : node.objectsLeft();
    }
}
