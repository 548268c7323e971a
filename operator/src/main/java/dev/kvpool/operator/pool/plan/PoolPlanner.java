// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.api.v1alpha1.BindingStatus;
import dev.kvpool.api.v1alpha1.DataLossPolicy;
import dev.kvpool.api.v1alpha1.RollStatus;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.child.AgentDaemonSet;
import dev.kvpool.operator.pool.child.BindingSecret;
import dev.kvpool.operator.pool.child.part.PoolBlueprint;
import dev.kvpool.operator.pool.drain.Departure;
import dev.kvpool.operator.pool.drain.DrainPlan;
import dev.kvpool.operator.pool.drain.DrainView;
import dev.kvpool.operator.pool.drain.Drains;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedJob;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.ObservedPull;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.PreflightAnswer;
import dev.kvpool.operator.pool.roll.Roll;
import dev.kvpool.operator.pool.roll.RollPlan;
import dev.kvpool.operator.pool.roll.RollView;
import dev.kvpool.operator.pool.sizing.Sizing;
import dev.kvpool.operator.pool.storage.ExpectedNodes;
import dev.kvpool.operator.pool.storage.HostDirectories;
import dev.kvpool.operator.pool.storage.StoragePlan;
import dev.kvpool.operator.pool.transition.Cordons;
import dev.kvpool.operator.pool.transition.Evictions;
import dev.kvpool.operator.pool.transition.OutdatedMasters;
import dev.kvpool.operator.pool.validate.PortPlan;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decides what shall be done for a pool, from one observation. Pure: the same observation gives the same plan.
 *
 * <p>With a paused pool, or a spec that cannot be carried out, no object is touched; only the leader label still
 * follows the leader, and masters are told of a dead one, because a pool must survive the death of a master also then.
 */
public final class PoolPlanner {
    private final OperatorSettings settings;

    public PoolPlanner(OperatorSettings settings) {
        this.settings = settings;
    }

    /**
     * Decides.
     *
     * @param problems why the spec cannot be carried out; empty when it can
     */
    public PoolPlan plan(PoolObservation seen, List<Finding> problems) {
        StoragePlan wish = StoragePlan.of(seen, Set.of());
        List<Departure> departures = Cordons.join(wish.departures(), seen, settings.drainTaints());
        RollView view = RollViews.of(
                seen, Cordons.emptiedFirst(departures, seen.status().drains()), settings);
        if (!problems.isEmpty() || seen.spec().paused()) {
            DrainView without = drainView(seen, wish, departures, false, isUnderWay(seen));
            DrainPlan drains = seen.spec().paused() ? Drains.rest(without) : Drains.plan(without);
            return new PoolPlan(
                    Optional.empty(),
                    Optional.empty(),
                    List.of(),
                    List.of(),
                    PodsOfGoneNodes.of(seen),
                    leaderPod(seen),
                    seen.spec().paused() ? Evictions.stillLet(seen, departures) : Evictions.let(seen, drains),
                    DeadLeader.of(seen),
                    Set.copyOf(wish.expectedNodes()),
                    Optional.empty(),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(),
                    Roll.rest(view),
                    drains);
        }
        RollPlan roll = Roll.plan(view);
        DrainPlan drains = Drains.plan(
                drainView(seen, wish, departures, true, underWay(seen, roll).isPresent()));
        StoragePlan storage = StoragePlan.of(seen, drains.released());
        PoolBlueprint blueprint = blueprint(seen, storage, roll);
        HostDirectories directories = HostDirectories.of(seen, storage);
        PlannedChildren children = PlannedChildren.of(seen, blueprint, storage, directories, roll);
        return new PoolPlan(
                Optional.of(children),
                binding(seen, blueprint),
                delete(seen, children, storage, directories, roll),
                replace(seen, storage, roll),
                PodsOfGoneNodes.of(seen),
                leaderPod(seen),
                Evictions.let(seen, drains),
                DeadLeader.of(seen),
                Set.copyOf(storage.expectedNodes()),
                Optional.of(blueprint.sizing()),
                waiting(seen, storage, roll),
                storage.heldBack(),
                storage.leftOut(),
                directories.cleanings().stream()
                        .map(HostDirectories.Cleaning::sentence)
                        .toList(),
                roll,
                drains);
    }

    /** The status says which one has been made; Secrets are not read. */
    private static Optional<Secret> binding(PoolObservation seen, PoolBlueprint blueprint) {
        BindingStatus made = seen.status().binding();
        return Optional.of(BindingSecret.of(blueprint))
                .filter(secret ->
                        made == null || !secret.getMetadata().getName().equals(made.name()));
    }

    private static DrainView drainView(
            PoolObservation seen, StoragePlan wish, List<Departure> departures, boolean specCounts, boolean upgrading) {
        Set<String> expected = new HashSet<>(wish.expectedNodes());
        departures.forEach(departure -> expected.remove(departure.node()));
        return new DrainView(
                seen.status().drains(),
                expected,
                departures,
                seen.pods(PoolLabels.ROLE_STORAGE).stream()
                        .collect(Collectors.toMap(ObservedPod::nodeId, ObservedPod::node, (a, b) -> a)),
                seen.spec().drain(),
                seen.spec().upgrade().maxUnavailable(),
                seen.spec().onDataLoss() == DataLossPolicy.REPLACE,
                specCounts,
                upgrading,
                seen.leaderReport(),
                watchedSince(seen),
                seen.now());
    }

    /** Since when this operator sees what this leader does: before, nothing may have been moved. */
    private static Instant watchedSince(PoolObservation seen) {
        return seen.leadership()
                .flatMap(Leadership::since)
                .filter(seen.watchedSince()::isBefore)
                .orElse(seen.watchedSince());
    }

    /** A step of an upgrade and a drain never begin beside each other: whoever waits for one is told of the other. */
    private static List<String> waiting(PoolObservation seen, StoragePlan storage, RollPlan roll) {
        List<String> waiting = new ArrayList<>(storage.waiting());
        if (!waiting.isEmpty()) {
            underWay(seen, roll)
                    .map(upgrade ->
                            "No storage node is begun to be emptied before the step of the upgrade to %s ends that is under way."
                                    .formatted(upgrade.image()))
                    .ifPresent(waiting::add);
        }
        return waiting;
    }

    private static boolean isUnderWay(PoolObservation seen) {
        return seen.status().roll() != null && !seen.status().roll().steps().isEmpty();
    }

    /** The upgrade that has a step under way, or begins one now. */
    private static Optional<RollStatus> underWay(PoolObservation seen, RollPlan roll) {
        return Stream.of(Optional.ofNullable(seen.status().roll()), roll.next())
                .flatMap(Optional::stream)
                .filter(upgrade -> !upgrade.steps().isEmpty())
                .findFirst();
    }

    private static List<HasMetadata> delete(
            PoolObservation seen,
            PlannedChildren children,
            StoragePlan storage,
            HostDirectories directories,
            RollPlan roll) {
        List<HasMetadata> delete = new ArrayList<>(storage.delete());
        directories.done().stream()
                .filter(job -> job.getMetadata().getDeletionTimestamp() == null)
                .forEach(delete::add);
        // What a spec can do without, and holds nothing.
        Set<String> kept = children.optional().stream()
                .map(child -> child.getKind() + child.getMetadata().getName())
                .collect(Collectors.toSet());
        seen.children().stream()
                .filter(PoolPlanner::isOptional)
                .filter(child ->
                        !kept.contains(child.getKind() + child.getMetadata().getName()))
                .forEach(delete::add);
        ObservedJob.withRole(seen.children(), PoolLabels.ROLE_PREFLIGHT).stream()
                .filter(job -> job.getMetadata().getDeletionTimestamp() == null
                        && !PreflightAnswer.image(job)
                                .equals(roll.preflightImage().orElse(null)))
                .forEach(delete::add);
        delete.addAll(ObservedPull.notNeeded(seen, roll.preflight()));
        return delete;
    }

    private static boolean isOptional(HasMetadata child) {
        return child instanceof NetworkPolicy || AgentDaemonSet.is(child);
    }

    /** While an upgrade brings pods to another image, their settings wait, so that one thing changes at a time. */
    private static List<ObservedPod> replace(PoolObservation seen, StoragePlan storage, RollPlan roll) {
        List<ObservedPod> replace = new ArrayList<>(storage.replace());
        boolean rolling =
                seen.status().roll() != null && !seen.status().roll().steps().isEmpty();
        if (!rolling && roll.actions().isEmpty()) {
            replace.addAll(OutdatedMasters.next(seen));
        } else {
            replace.removeIf(ObservedPod::started);
        }
        return replace;
    }

    private PoolBlueprint blueprint(PoolObservation seen, StoragePlan storage, RollPlan roll) {
        TransferEngineSpec engine = seen.engine().map(TransferEngine::getSpec).orElse(TransferEngineSpec.DEFAULTS);
        return new PoolBlueprint(
                seen.names(),
                seen.pool().getMetadata().getUid(),
                seen.poolId(),
                seen.spec(),
                engine,
                roll.mastersImage(),
                roll.storageImage(),
                sizing(seen, engine, storage),
                PortPlan.of(seen).ports(),
                ExpectedNodes.of(storage.expectedNodes(), seen),
                settings.namespace(),
                settings.platformUser());
    }

    private static Sizing sizing(PoolObservation seen, TransferEngineSpec engine, StoragePlan storage) {
        return Sizing.of(
                seen.spec(),
                engine,
                set -> set.perNode() == null
                        ? seen.spec().replicas(set)
                        : storage.nodeIds(set).size(),
                seen.leaderReport().map(PoolReport::objects).orElse(0L),
                Optional.ofNullable(seen.status().sizing()));
    }

    private static Optional<String> leaderPod(PoolObservation seen) {
        return seen.leadership()
                .map(Leadership::pod)
                .filter(pod -> seen.pods(PoolLabels.ROLE_MASTER).stream()
                        .anyMatch(master -> master.name().equals(pod)));
    }
}
