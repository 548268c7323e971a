// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.operator.pool.child.AgentDaemonSet;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings.RolloutTerms;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.transition.Deferred;
import dev.kvpool.operator.pool.transition.TransitionPlan;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Whether the spec is carried out, and whether the pool is ready with that: what those wait for who have changed the spec. From what
 * was found otherwise. Pure.
 */
final class Completeness {
    private static final Set<Reason> CARRIED_OUT = EnumSet.of(Reason.UP_TO_DATE, Reason.OF_EARLIER_OPERATOR);

    private Completeness() {}

    /**
     * Condition Progressing.
     *
     * @param applied what was found of the pool's objects
     * @param outcome what this look has changed: nothing else shows yet that an object has another template than its pods
     * @param plan what is done with its pods, and was found of an upgrade
     */
    static Finding progressing(
            PoolObservation seen, Finding applied, Outcome outcome, PoolPlan plan, RolloutTerms rollout) {
        Deferred deferred = plan.deferred();
        return ofFailure(plan.transitions())
                .or(() -> ofObjects(applied))
                .or(() -> ofUpgrade(plan.roll().finding()))
                .or(() -> ofChanges(outcome))
                .or(() -> ofMissingPods(seen))
                .or(() -> ofPods(seen, deferred))
                .or(() -> ofAgents(seen))
                .orElse(
                        deferred.isEmpty()
                                ? new Finding(Reason.UP_TO_DATE, "The spec is carried out.")
                                : new Finding(
                                        Reason.OF_EARLIER_OPERATOR,
                                        "The spec is carried out. "
                                                + String.join(
                                                        " ",
                                                        deferred.sentences(
                                                                seen.names().pool(), rollout))));
    }

    /** Condition Ready. A paused pool is what its spec wants: one that is left alone. */
    static Finding ready(Finding available, Finding progressing, Finding applied) {
        if (available.reason() != Reason.SERVING) {
            return new Finding(Reason.PARTS_MISSING, available.message());
        }
        return CARRIED_OUT.contains(progressing.reason()) || applied.reason() == Reason.PAUSED
                ? new Finding(Reason.COMPLETE, available.message())
                : new Finding(Reason.NOT_CARRIED_OUT, progressing.message());
    }

    /** Nothing goes on before a user has looked. */
    private static Optional<Finding> ofFailure(TransitionPlan transitions) {
        List<String> failed = transitions.failed();
        return failed.isEmpty()
                ? Optional.empty()
                : Optional.of(new Finding(
                        Reason.HELD,
                        "Changed settings do not work: %s. Correct the spec, or delete the pod where the reason lies elsewhere."
                                .formatted(String.join("; ", failed))));
    }

    private static Optional<Finding> ofObjects(Finding applied) {
        return switch (applied.reason()) {
            case APPLIED -> Optional.empty();
            case WAITS_FOR_DRAIN,
                    REPLACES_PODS,
                    REMOVES_MASTERS,
                    REMOVES_DIRECTORIES,
                    MASTERS_READ_RULES,
                    APPLY_FAILED -> Optional.of(new Finding(Reason.CARRYING_OUT, applied.message()));
            case PAUSED, SPEC_INVALID, WOULD_LOSE_BYTES, REQUEST_NOT_UNDERSTOOD, NODE_LEFT_OUT, NAME_TAKEN ->
                Optional.of(new Finding(Reason.HELD, applied.message()));
            default -> throw new IllegalStateException("no reason of condition SpecApplied: " + applied.reason());
        };
    }

    private static Optional<Finding> ofUpgrade(Finding upgrade) {
        return switch (upgrade.reason()) {
            case NO_UPGRADE -> Optional.empty();
            case UPGRADING, GOING_BACK -> Optional.of(new Finding(Reason.CARRYING_OUT, upgrade.message()));
            case UPGRADE_PAUSED, VERSION_REFUSED, UPGRADE_FAILED ->
                Optional.of(new Finding(Reason.HELD, upgrade.message()));
            default -> throw new IllegalStateException("no reason of condition UpgradeBlocked: " + upgrade.reason());
        };
    }

    private static Optional<Finding> ofChanges(Outcome outcome) {
        List<String> objects = outcome.changes().stream()
                .filter(change -> change.startsWith("StatefulSet ") || change.startsWith("DaemonSet "))
                .toList();
        return objects.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new Finding(Reason.CARRYING_OUT, "Changed just now: %s.".formatted(NameList.of(objects))));
    }

    private static Optional<Finding> ofMissingPods(PoolObservation seen) {
        return seen.refusals().isEmpty()
                ? Optional.empty()
                : Optional.of(new Finding(
                        Reason.CARRYING_OUT, PodRefusalWords.sentences(seen).strip()));
    }

    /** Pods that were made from another template than their set has, and masters of which there are too many. */
    private static Optional<Finding> ofPods(PoolObservation seen, Deferred deferred) {
        List<String> names = seen.outdated().stream()
                .filter(pod -> !deferred.contains(pod))
                .map(ObservedPod::name)
                .toList();
        List<ObservedPod> masters = seen.pods(PoolLabels.ROLE_MASTER);
        if (masters.size() > seen.spec().masters().replicas()) {
            return Optional.of(new Finding(
                    Reason.CARRYING_OUT,
                    "%d masters end."
                            .formatted(masters.size() - seen.spec().masters().replicas())));
        }
        return names.isEmpty()
                ? Optional.empty()
                : Optional.of(new Finding(
                        Reason.CARRYING_OUT,
                        "Pods with earlier settings are replaced in their turn: %s.".formatted(NameList.of(names))));
    }

    /** Kubernetes replaces them and counts. */
    private static Optional<Finding> ofAgents(PoolObservation seen) {
        return seen.children().stream()
                .filter(AgentDaemonSet::is)
                .map(DaemonSet.class::cast)
                .filter(agents -> agents.getStatus() != null
                        && Objects.requireNonNullElse(agents.getStatus().getUpdatedNumberScheduled(), 0)
                                < Objects.requireNonNullElse(agents.getStatus().getDesiredNumberScheduled(), 0))
                .findFirst()
                .map(agents -> new Finding(
                        Reason.CARRYING_OUT,
                        "%d of %d agents run with the present settings."
                                .formatted(
                                        Objects.requireNonNullElse(
                                                agents.getStatus().getUpdatedNumberScheduled(), 0),
                                        agents.getStatus().getDesiredNumberScheduled())));
    }
}
