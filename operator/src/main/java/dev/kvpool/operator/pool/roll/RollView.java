// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.PendingVersions;
import dev.kvpool.api.v1alpha1.RollStatus;
import dev.kvpool.api.v1alpha1.RollStepKind;
import dev.kvpool.api.v1alpha1.RollStepStatus;
import dev.kvpool.api.v1alpha1.UpgradeSpec;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.observation.ImagePull;
import dev.kvpool.operator.pool.observation.PreflightSeen;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * All that an upgrade is decided from.
 *
 * @param status what the status says of the upgrade; empty when there is none
 * @param pending what the status says that the pool is about to go over to
 * @param wanted the image the spec asks for
 * @param stable the image that all of the pool ran last
 * @param offered the operator's own image, where the spec names none and the pool keeps another one
 * @param options how the spec wants it done
 * @param drainTimeout how long emptying a storage node may go on without any progress
 * @param mayLoseBytes whether the spec allows to lose what a storage node could not hand over
 * @param everLed false while no master has ever led the pool, so that nobody has ever put anything there
 * @param masters masters there are, by name
 * @param storage storage nodes there are, by id
 * @param answering pods of masters that answered
 * @param reports what each master that answered says
 * @param leader what the leader says, when it leads, serves and answers
 * @param emptiedFirst ids of storage nodes whose nodes of the cluster are cordoned, and for whose pods somebody waits: no
 *     further step is begun before they are empty
 * @param unpullable pods that could not pull another image as the spec says, as a part of a sentence; empty when there are none
 * @param preflight the preflight Job; empty when there is none
 * @param machines nodes of the cluster on which the pool has pods, those left out that nobody hears of, by name
 * @param pulls Jobs that bring images to them
 * @param watchedSince since when the operator that decides looks at the pool
 * @param now the time
 */
public record RollView(
        Optional<RollStatus> status,
        Optional<PendingVersions> pending,
        String wanted,
        String stable,
        Optional<String> offered,
        UpgradeSpec options,
        Duration drainTimeout,
        boolean mayLoseBytes,
        boolean everLed,
        List<Instance> masters,
        List<Instance> storage,
        Set<String> answering,
        List<PoolReport> reports,
        Optional<PoolReport> leader,
        List<String> emptiedFirst,
        Optional<String> unpullable,
        Optional<PreflightSeen> preflight,
        List<String> machines,
        List<ImagePull> pulls,
        Instant watchedSince,
        Instant now) {

    /** Progress of a drain is written down at most so often. */
    private static final int NOTES_A_DEADLINE = 20;

    /** Kubelets watch their pods, so that it takes a second; more where the API server is busy. */
    private static final Duration NOTICED = Duration.ofSeconds(30);

    public RollView {
        masters = List.copyOf(masters);
        storage = List.copyOf(storage);
        answering = Set.copyOf(answering);
        reports = List.copyOf(reports);
        emptiedFirst = List.copyOf(emptiedFirst);
        machines = List.copyOf(machines);
        pulls = List.copyOf(pulls);
    }

    /**
     * Whether what began at {@code since} has had more than the time of a step. The time before this operator came does not count:
     * while the one before it was gone, nobody did what the step waits for.
     */
    boolean isOverdue(String since) {
        return isOver(since, stepTimeout());
    }

    /**
     * Whether a step has had more than its time. One that empties a storage node begins again with each progress.
     */
    boolean isOverdue(RollStepStatus step) {
        return isOver(step.since(), timeOf(step));
    }

    /** Whether emptying a storage node has moved something, and this has not been written down just before. */
    boolean isProgress(RollStepStatus step, long left) {
        return (step.objects() == null || left < step.objects()) && isNoteDue(step);
    }

    /** Whether its last progress was written down long enough ago for another note. */
    boolean isNoteDue(RollStepStatus step) {
        return isOver(step.since(), drainTimeout.dividedBy(NOTES_A_DEADLINE));
    }

    /** Whether nothing was moved for as long as it may be. */
    boolean isStuck(RollStepStatus step) {
        return isOver(step.since(), drainTimeout);
    }

    /** Whether a kubelet knows by now what a pod was told when the step began. */
    boolean isNoticed(RollStepStatus step) {
        Duration half = stepTimeout().dividedBy(2);
        return isOver(step.since(), half.compareTo(NOTICED) < 0 ? half : NOTICED);
    }

    Duration timeOf(RollStepStatus step) {
        return step.kind() == RollStepKind.DRAIN ? drainTimeout.plus(stepTimeout()) : stepTimeout();
    }

    private Duration stepTimeout() {
        return ApiDuration.of(options.stepTimeout());
    }

    private boolean isOver(String since, Duration time) {
        return Duration.between(counted(since), now).compareTo(time) > 0;
    }

    /** A time that was written down, or when this operator came where that was later. */
    private Instant counted(String since) {
        Instant begun = Instant.parse(since);
        return begun.isBefore(watchedSince) ? watchedSince : begun;
    }

    /** When the pool goes over to what is pending. Who came and went while no operator looked is not known, so that time does not count. */
    Instant goesOverAt(PendingVersions next) {
        return counted(next.since()).plus(ApiDuration.of(options.finaliseAfter()));
    }

    Stream<Instance> all() {
        return Stream.concat(masters.stream(), storage.stream());
    }

    /** Whom a step is about. A storage node that is made anew may have a pod of another name, beside the one that leaves. */
    Optional<Instance> instance(RollStepStatus step) {
        return all().filter(instance -> instance.isSubjectOf(step)).min(Comparator.comparing(Instance::leaving));
    }

    boolean isMaster(String pod) {
        return masters.stream().anyMatch(master -> master.pod().equals(pod));
    }

    boolean leads(String pod) {
        return leader.filter(report -> report.name().equals(pod)).isPresent();
    }

    /** A storage node as the leader sees it. */
    Optional<PoolReport.Node> node(Instance instance) {
        return node(instance.id());
    }

    Optional<PoolReport.Node> node(String id) {
        return leader.flatMap(report ->
                report.nodes().stream().filter(node -> node.id().equals(id)).findFirst());
    }
}
