// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.api.v1alpha1.status.VersionStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.blueprint.Requests;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.ObservedPull;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.PreflightAnswer;
import dev.kvpool.operator.pool.observation.PreflightSeen;
import dev.kvpool.operator.pool.observation.Refusal;
import dev.kvpool.operator.pool.roll.RollView;
import dev.kvpool.operator.pool.transition.StepJudge;
import dev.kvpool.operator.pool.transition.TransitionView;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What of an observation concerns an upgrade. Pure. */
public final class RollViews {
    private RollViews() {}

    static RollView of(
            PoolObservation seen, TransitionView transitions, StepJudge.Judged steps, OperatorSettings settings) {
        Optional<String> stable = stableImage(seen);
        String wanted = PoolImage.reference(seen.spec(), settings, stable);
        return new RollView(
                Optional.ofNullable(seen.status().roll()),
                Optional.ofNullable(seen.status().version()).map(VersionStatus::pending),
                new RollView.Images(
                        wanted,
                        stable.orElse(wanted),
                        PoolImage.offered(seen.spec(), settings, stable),
                        PullSecrets.lacking(seen, wanted)),
                Requests.of(seen.pool().getMetadata().getAnnotations()).retry(),
                everLed(seen),
                transitions,
                steps,
                preflight(seen),
                new RollView.Pulls(
                        machines(seen),
                        ObservedPull.jobs(seen).stream()
                                .map(job -> ObservedPull.of(job, seen))
                                .toList()));
    }

    /** Who leads is written down in the Lease, and what a leader said is kept in the status. */
    static boolean everLed(PoolObservation seen) {
        return seen.leadership().isPresent()
                || Leadership.wasTaken(seen.children(), seen.pool())
                || seen.status().leader() != null
                || seen.status().capacity() != null
                || seen.reports().stream().anyMatch(PoolReport::holdsTheLease);
    }

    /** Kept where it has its effect, in the masters' template: what a master that is recreated runs. */
    public static Optional<String> stableImage(PoolObservation seen) {
        return seen.mastersSet()
                .map(set -> OwnContainer.wishedImage(set.getSpec().getTemplate()));
    }

    private static List<String> machines(PoolObservation seen) {
        Set<String> withPods = Stream.of(PoolLabels.ROLE_MASTER, PoolLabels.ROLE_STORAGE)
                .flatMap(role -> seen.pods(role).stream())
                .map(ObservedPod::node)
                .collect(Collectors.toSet());
        return seen.nodes().stream()
                .filter(node -> node.ready() && withPods.contains(node.name()))
                .map(ObservedNode::name)
                .sorted()
                .toList();
    }

    private static Optional<PreflightSeen> preflight(PoolObservation seen) {
        return seen.children().stream()
                .filter(Job.class::isInstance)
                .map(Job.class::cast)
                .filter(job -> job.getMetadata().getName().equals(seen.names().preflight()))
                .filter(job -> job.getMetadata().getDeletionTimestamp() == null)
                .findFirst()
                .map(job -> PreflightAnswer.of(
                        job,
                        seen.pods(PoolLabels.ROLE_PREFLIGHT),
                        seen.refusals().stream()
                                .filter(refusal -> refusal.workload().equals(ObjectTitle.of(job)))
                                .map(Refusal::why)
                                .findFirst()));
    }
}
