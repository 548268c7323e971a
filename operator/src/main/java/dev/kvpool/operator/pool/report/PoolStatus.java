// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.BindingStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.LeaderStatus;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.api.v1alpha1.status.ReadyCount;
import dev.kvpool.api.v1alpha1.status.ScaleStatus;
import dev.kvpool.api.v1alpha1.status.VersionStatus;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.child.AgentDaemonSet;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.Rounding;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.plan.PoolImage;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.plan.RollViews;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Conditions;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes the next status of a pool. Pure: the same observation, plan and outcome give the same status, and a
 * pool in which nothing of interest changed gets an equal one, which is not written.
 */
public final class PoolStatus {
    private final OperatorSettings settings;

    public PoolStatus(OperatorSettings settings) {
        this.settings = settings;
    }

    public KvCachePoolStatus next(PoolObservation seen, List<Finding> problems, PoolPlan plan, Outcome outcome) {
        KvCachePoolStatus old = seen.status();
        List<Finding> findings = new PoolFindings(seen, plan, settings).all(problems, outcome);
        Long generation = seen.pool().getMetadata().getGeneration();
        List<Condition> conditions =
                Conditions.merge(old.conditions(), findings, generation == null ? 0 : generation, seen.now());
        PoolPhase phase = phase(findings);
        Optional<PoolReport> report = seen.leaderReport();
        ObjectCounts objects = ObjectCounts.next(old, report);
        return new KvCachePoolStatus(
                generation,
                phase,
                message(phase, findings),
                conditions,
                seen.leadership()
                        .map(leader -> new LeaderStatus(leader.pod(), leader.epoch()))
                        .orElse(null),
                LastFailover.next(old.lastFailover(), report),
                ReadyCount.of(
                        readyPods(seen, PoolLabels.ROLE_MASTER),
                        seen.spec().masters().replicas()),
                storage(seen, plan),
                agents(seen).orElse(null),
                report.map(r -> ByteAmount.rounded(r.totals().capacityBytes())).orElse(old.capacity()),
                report.map(r -> used(old, r)).orElse(old.used()),
                objects.all(),
                objects.unavailable(),
                objects.underReplicated(),
                version(seen, plan, old),
                plan.roll().next().orElse(null),
                plan.transitions().steps(),
                null, // made from the steps
                scale(seen).orElse(null),
                report.map(says -> protocols(says, seen.spec().storage().isEmpty()))
                        .orElse(old.protocols()),
                outcome.binding().map(BindingStatus::new).orElse(old.binding()),
                plan.sizing().map(sizing -> sizing.status(seen.spec())).orElse(old.sizing()),
                EngineUses.of(seen, plan.expectedNodes()));
    }

    private static PoolPhase phase(List<Finding> findings) {
        List<Reason> reasons = findings.stream().map(Finding::reason).toList();
        if (reasons.contains(Reason.SPEC_INVALID)) {
            return PoolPhase.INVALID;
        }
        if (reasons.contains(Reason.PAUSED)) {
            return PoolPhase.PAUSED;
        }
        if (reasons.contains(Reason.UPGRADING) || reasons.contains(Reason.GOING_BACK)) {
            return available(findings).reason() == Reason.NOT_SERVING ? PoolPhase.UNAVAILABLE : PoolPhase.UPGRADING;
        }
        return switch (available(findings).reason()) {
            case STARTING -> PoolPhase.STARTING;
            case NOT_SERVING -> PoolPhase.UNAVAILABLE;
            case STORAGE_INCOMPLETE, SERVING_WITHOUT_STANDBY -> PoolPhase.DEGRADED;
            case SERVING -> reasons.contains(Reason.APPLIED) ? PoolPhase.READY : PoolPhase.WAITING;
            default ->
                throw new IllegalStateException("no reason of condition Available: "
                        + available(findings).reason());
        };
    }

    private static Finding available(List<Finding> findings) {
        return findings.stream()
                .filter(finding -> finding.reason().type() == ConditionType.AVAILABLE)
                .findFirst()
                .orElseThrow();
    }

    /** The sentence that explains the phase. */
    private static String message(PoolPhase phase, List<Finding> findings) {
        return switch (phase) {
            case INVALID, PAUSED, WAITING ->
                message(findings, Reason.APPLIED.type().text());
            case STARTING, READY, DEGRADED, UNAVAILABLE -> available(findings).message();
            case UPGRADING -> message(findings, ConditionType.UPGRADE_BLOCKED.text());
        };
    }

    private static String message(List<Finding> findings, String type) {
        return findings.stream()
                .filter(finding -> finding.reason().type().text().equals(type))
                .findFirst()
                .orElseThrow()
                .message();
    }

    private static int readyPods(PoolObservation seen, String role) {
        return (int) seen.pods(role).stream().filter(ObservedPod::ready).count();
    }

    /** As their DaemonSet counts them, which knows how many nodes it selects. */
    private static Optional<ReadyCount> agents(PoolObservation seen) {
        return seen.engine()
                .filter(engine -> engine.getSpec().agents() != null)
                .map(engine -> seen.children().stream()
                        .filter(AgentDaemonSet::is)
                        .map(child -> ((DaemonSet) child).getStatus())
                        .filter(Objects::nonNull)
                        .findFirst()
                        .map(status -> ReadyCount.of(
                                Objects.requireNonNullElse(status.getNumberReady(), 0),
                                Objects.requireNonNullElse(status.getDesiredNumberScheduled(), 0)))
                        .orElse(ReadyCount.of(0, 0)));
    }

    /** Engines count where they are all there is, and no number of them is wanted. */
    private static ReadyCount storage(PoolObservation seen, PoolPlan plan) {
        if (!PoolFindings.isOfEngines(seen, plan)) {
            return ReadyCount.of(readyNodes(seen, plan), plan.storageNodes());
        }
        int engines = (int) seen.leaderReport().stream()
                .flatMap(report -> report.nodes().stream())
                .filter(node -> node.isTransient() && node.serves())
                .count();
        return new ReadyCount(engines, engines, engines + (engines == 1 ? " engine" : " engines"));
    }

    /** Of those that are expected: as the leader sees them; while no leader can be asked, as Kubernetes does. */
    private static int readyNodes(PoolObservation seen, PoolPlan plan) {
        Stream<String> ready = seen.leaderReport()
                .map(report ->
                        report.nodes().stream().filter(PoolReport.Node::serves).map(PoolReport.Node::id))
                .orElseGet(() -> seen.pods(PoolLabels.ROLE_STORAGE).stream()
                        .filter(ObservedPod::ready)
                        .map(ObservedPod::nodeId));
        return (int) ready.filter(plan.expectedNodes()::contains).count();
    }

    private static Quantity used(KvCachePoolStatus old, PoolReport report) {
        boolean calm = old.used() != null
                && Rounding.calm(
                        ByteAmount.bytes(old.used()),
                        report.totals().usedBytes(),
                        report.totals().capacityBytes());
        return calm ? old.used() : ByteAmount.rounded(report.totals().usedBytes());
    }

    private VersionStatus version(PoolObservation seen, PoolPlan plan, KvCachePoolStatus old) {
        Set<String> running = PoolFindings.versions(seen.reports().stream().map(PoolFindings::product));
        String before = old.version() == null ? null : old.version().running();
        Optional<PoolReport.Active> active =
                seen.leaderReport().map(report -> report.builds().active());
        return new VersionStatus(
                running.isEmpty() ? before : String.join(",", running),
                PoolImage.version(seen.spec(), settings, RollViews.stableImage(seen))
                        .orElse(null),
                plan.roll().mastersImage(),
                active.map(PoolReport.Active::wire)
                        .orElse(old.version() == null ? null : old.version().activeWire()),
                active.map(PoolReport.Active::layout)
                        .orElse(old.version() == null ? null : old.version().activeLayout()),
                plan.roll().pending().orElse(null));
    }

    private static Optional<ScaleStatus> scale(PoolObservation seen) {
        List<StorageSetSpec> scaled = seen.spec().storage().stream()
                .filter(set -> set.replicas() == null && set.perNode() == null)
                .toList();
        if (scaled.size() != 1) {
            return Optional.empty();
        }
        String set = scaled.getFirst().name();
        String selector = PoolLabels.selectSet(seen.names().pool(), set).entrySet().stream()
                .map(label -> label.getKey() + "=" + label.getValue())
                .collect(Collectors.joining(","));
        return Optional.of(new ScaleStatus(set, seen.podsOfSet(set, false).size(), selector));
    }

    private static List<String> protocols(PoolReport report, boolean ofEngines) {
        List<PoolReport.Node> ready = report.nodes().stream()
                .filter(node -> node.serves() && (ofEngines || !node.isTransient()))
                .toList();
        if (ready.isEmpty()) {
            return List.of();
        }
        Set<String> common = new TreeSet<>(ready.getFirst().build().protocols());
        ready.forEach(node -> common.retainAll(node.build().protocols()));
        return List.copyOf(common);
    }
}
