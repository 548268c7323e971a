// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A holder of the Lease whose process has ended, as the kubelet says. The other masters learn it from the storage nodes, unless
 * these died too; they are told here as well, look for themselves, and take no Lease that names another holder. So a wrong or late
 * word costs a look, or at worst a change of leaders. Pure.
 *
 * @param leadership what the Lease says
 * @param pod its pod, in which no container runs, or one that began after the Lease was taken
 * @param others the masters that are told: all others that run
 */
public record DeadLeader(Leadership leadership, ObservedPod pod, List<ObservedPod> others) {
    /** Kubelets cut off fractions of seconds. */
    private static final Duration CUT_OFF = Duration.ofSeconds(1);

    public DeadLeader {
        others = List.copyOf(others);
    }

    static Optional<DeadLeader> of(PoolObservation seen) {
        return seen.leadership()
                .filter(leadership -> !goesOn(seen, leadership))
                .flatMap(leadership -> seen.pods(PoolLabels.ROLE_MASTER).stream()
                        .filter(pod -> pod.name().equals(leadership.pod()))
                        .filter(pod -> hasEnded(pod, leadership))
                        .findFirst()
                        .map(pod -> new DeadLeader(leadership, pod, others(pod, seen))));
    }

    /** What the operator says of it. */
    public String sentence() {
        String how = pod.ended().map(ended -> " with exit code " + ended.code()).orElse("");
        return "The container of %s, the leader of epoch %d, has ended%s. %s"
                .formatted(
                        pod.name(),
                        leadership.epoch(),
                        how,
                        others.isEmpty()
                                ? "It leads again when it is back: there is no other master that runs."
                                : "The other masters were told, so that one takes over.");
    }

    private static List<ObservedPod> others(ObservedPod dead, PoolObservation seen) {
        return seen.pods(PoolLabels.ROLE_MASTER).stream()
                .filter(other -> !other.name().equals(dead.name()))
                .filter(other -> other.runningSince().isPresent() && !other.ip().isEmpty())
                .toList();
    }

    /** What the kubelet said may be older than what the process says of itself. */
    private static boolean goesOn(PoolObservation seen, Leadership leadership) {
        return seen.answers().get(leadership.pod()) instanceof MasterAnswer.Report(PoolReport report)
                && report.epoch() == leadership.epoch()
                && report.holdsTheLease();
    }

    private static boolean hasEnded(ObservedPod pod, Leadership leadership) {
        if (!pod.started() || pod.ip().isEmpty()) {
            return false;
        }
        Optional<Instant> since = pod.runningSince();
        return since.isEmpty()
                || leadership
                        .since()
                        .filter(taken -> since.get().plus(CUT_OFF).isAfter(taken))
                        .isPresent();
    }
}
