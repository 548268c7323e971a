// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.api.v1alpha1.DataLossPolicy;
import dev.kvpool.api.v1alpha1.VersionStatus;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
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
import dev.kvpool.operator.pool.roll.Instance;
import dev.kvpool.operator.pool.roll.RollView;
import dev.kvpool.operator.pool.storage.StoragePlan;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What of an observation concerns an upgrade. Pure. */
public final class RollViews {
    private RollViews() {}

    static RollView of(PoolObservation seen, List<String> emptiedFirst, OperatorSettings settings) {
        Optional<String> stable = stableImage(seen);
        String wanted = PoolImage.reference(seen.spec(), settings, stable);
        return new RollView(
                Optional.ofNullable(seen.status().roll()),
                Optional.ofNullable(seen.status().version()).map(VersionStatus::pending),
                wanted,
                stable.orElse(wanted),
                PoolImage.offered(seen.spec(), settings, stable),
                seen.spec().upgrade(),
                ApiDuration.of(seen.spec().drain().timeout()),
                seen.spec().onDataLoss() == DataLossPolicy.REPLACE,
                everLed(seen),
                instances(seen, PoolLabels.ROLE_MASTER),
                instances(seen, PoolLabels.ROLE_STORAGE),
                answering(seen),
                seen.reports(),
                seen.leaderReport(),
                emptiedFirst,
                PullSecrets.lacking(seen, wanted),
                preflight(seen),
                machines(seen),
                ObservedPull.jobs(seen).stream()
                        .map(job -> ObservedPull.of(job, seen))
                        .toList(),
                seen.watchedSince(),
                seen.now());
    }

    /** Who leads is written down in the Lease, and what a leader said is kept in the status. */
    private static boolean everLed(PoolObservation seen) {
        return seen.leadership().isPresent()
                || Leadership.wasTaken(seen.children(), seen.pool())
                || seen.status().leader() != null
                || seen.status().capacity() != null
                || seen.reports().stream().anyMatch(PoolReport::holdsTheLease);
    }

    /** Kept where it has its effect, in the masters' template: what a master that is made anew runs. */
    public static Optional<String> stableImage(PoolObservation seen) {
        return seen.children().stream()
                .filter(child -> child instanceof StatefulSet
                        && child.getMetadata().getName().equals(seen.names().masters()))
                .map(child ->
                        OwnContainer.wishedImage(((StatefulSet) child).getSpec().getTemplate()))
                .findFirst();
    }

    private static List<Instance> instances(PoolObservation seen, String role) {
        Set<String> lost = seen.nodes().stream()
                .filter(node -> !node.ready())
                .map(ObservedNode::name)
                .collect(Collectors.toSet());
        return seen.pods(role).stream()
                .map(pod -> new Instance(
                        pod.name(),
                        pod.uid(),
                        role.equals(PoolLabels.ROLE_STORAGE) ? pod.nodeId() : pod.name(),
                        pod.image(),
                        pod.specImage(),
                        pod.running(),
                        pod.restarts(),
                        pod.started(),
                        pod.ready() || pod.runningSince().isPresent(),
                        pod.ready(),
                        pod.leaving(),
                        where(pod, lost),
                        outlivesPods(pod, seen),
                        pod.trouble()))
                .sorted(Comparator.comparing(Instance::id))
                .toList();
    }

    private static Instance.Where where(ObservedPod pod, Set<String> lost) {
        if (lost.contains(pod.node())) {
            return Instance.Where.ON_LOST_NODE;
        }
        return pod.isWithoutNode() ? Instance.Where.WITHOUT_NODE : Instance.Where.PLACED;
    }

    private static boolean outlivesPods(ObservedPod pod, PoolObservation seen) {
        Class<? extends HasMetadata> kind = pod.perNode() ? DaemonSet.class : StatefulSet.class;
        return pod.role().equals(PoolLabels.ROLE_STORAGE)
                && seen.storageWorkloads(kind).stream()
                        .filter(workload -> PoolObservation.setName(workload).equals(pod.set()))
                        .anyMatch(StoragePlan::outlivesPods);
    }

    private static Set<String> answering(PoolObservation seen) {
        return seen.answers().entrySet().stream()
                .filter(answer -> answer.getValue() instanceof MasterAnswer.Report)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
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
                .map(job -> PreflightAnswer.of(job, seen.pods(PoolLabels.ROLE_PREFLIGHT)));
    }
}
