// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainProgress;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.master.PoolReport;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What the deadlines of drains count: time in which an operator watched and nothing was moved. A large storage node takes its time, and
 * what was done while no operator ran is not known. Pure.
 */
final class Progress {
    /** Of the shorter deadline: progress is written down at most so often. */
    private static final int NOTES_A_DEADLINE = 20;

    private static final Set<DrainPhase> COUNTED =
            Set.of(DrainPhase.WAITING, DrainPhase.EMPTYING, DrainPhase.LEFTOVERS);

    private final DrainView view;
    private final Duration between;

    private Progress(DrainView view) {
        this.view = view;
        Duration timeout = ApiDuration.of(view.options().timeout());
        Duration nodeTimeout = ApiDuration.of(view.options().nodeTimeout());
        this.between = (timeout.compareTo(nodeTimeout) < 0 ? timeout : nodeTimeout).dividedBy(NOTES_A_DEADLINE);
    }

    /** The drains of the status with what the leader says now. One that waits for its turn waits for what the others do. */
    static List<DrainStatus> noted(DrainView view) {
        Progress progress = new Progress(view);
        List<DrainStatus> noted = view.status().stream().map(progress::note).toList();
        Optional<Instant> latest = noted.stream()
                .filter(drain -> drain.phase() == DrainPhase.EMPTYING || drain.phase() == DrainPhase.LEFTOVERS)
                .map(Progress::at)
                .max(Comparator.naturalOrder());
        return noted.stream()
                .map(drain -> drain.phase() == DrainPhase.WAITING
                                && latest.filter(at(drain)::isBefore).isPresent()
                        ? drain.with(new DrainProgress(latest.get().toString(), null))
                        : drain)
                .toList();
    }

    /** The drains of the status of a pool in which nothing is decided: that time does not count. */
    static List<DrainStatus> resting(DrainView view) {
        Progress progress = new Progress(view);
        return view.status().stream()
                .map(drain -> COUNTED.contains(drain.phase()) && progress.isDue(drain)
                        ? drain.with(new DrainProgress(view.now().toString(), null))
                        : drain)
                .toList();
    }

    /** For how long nothing was moved, as far as an operator watched. */
    static Duration idle(DrainStatus drain, DrainView view) {
        Instant since = at(drain).isBefore(view.watchedSince()) ? view.watchedSince() : at(drain);
        return Duration.between(since, view.now());
    }

    private static Instant at(DrainStatus drain) {
        return Instant.parse(
                drain.progress() == null ? drain.since() : drain.progress().at());
    }

    private boolean isDue(DrainStatus drain) {
        return Duration.between(at(drain), view.now()).compareTo(between) >= 0;
    }

    private DrainStatus note(DrainStatus drain) {
        if (drain.phase() != DrainPhase.EMPTYING && drain.phase() != DrainPhase.LEFTOVERS) {
            return drain;
        }
        Long before = drain.progress() == null ? null : drain.progress().objectsLeft();
        if (view.leader().isEmpty()) {
            // Time without a leader does not count either once there is one again: it begins again then.
            return before == null
                    ? drain
                    : drain.with(new DrainProgress(at(drain).toString(), null));
        }
        Long left = view.node(drain.node()).map(PoolReport.Node::objectsLeft).orElse(null);
        if (left == null) {
            return drain;
        }
        if (before != null && left > before) {
            // Another leader counts otherwise: no progress, but what it does from here on is.
            return drain.with(new DrainProgress(at(drain).toString(), left));
        }
        boolean moved = before == null || left < before;
        boolean again = before == null || left == 0 || isDue(drain);
        return moved && again ? drain.with(new DrainProgress(view.now().toString(), left)) : drain;
    }
}
