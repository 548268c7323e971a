// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.api.v1alpha1.status.BindingStatus;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.blueprint.Requests;
import dev.kvpool.operator.pool.child.BindingSecret;
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedJob;
import dev.kvpool.operator.pool.observation.ObservedPull;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.PreflightAnswer;
import dev.kvpool.operator.pool.roll.Roll;
import dev.kvpool.operator.pool.roll.RollPlan;
import dev.kvpool.operator.pool.roll.RollView;
import dev.kvpool.operator.pool.sizing.PoolEngines;
import dev.kvpool.operator.pool.sizing.Sizing;
import dev.kvpool.operator.pool.storage.ExpectedNodes;
import dev.kvpool.operator.pool.storage.HostDirectories;
import dev.kvpool.operator.pool.storage.StoragePlan;
import dev.kvpool.operator.pool.transition.Deferred;
import dev.kvpool.operator.pool.transition.Goals;
import dev.kvpool.operator.pool.transition.StepJudge;
import dev.kvpool.operator.pool.transition.TransitionPlan;
import dev.kvpool.operator.pool.transition.TransitionView;
import dev.kvpool.operator.pool.transition.Transitions;
import dev.kvpool.operator.pool.validate.PortPlan;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Decides what shall be done for a pool, from one observation. Pure: the same observation gives the same plan.
 *
 * <p>With a paused pool, or a spec that cannot be carried out, no object is touched; only the leader label still
 * follows the leader, and masters are told of a dead one, because a pool must survive the death of a master also then.
 */
public final class PoolPlanner {
    private final OperatorSettings settings;
    private final MadeTemplates made = new MadeTemplates();

    public PoolPlanner(OperatorSettings settings) {
        this.settings = settings;
    }

    /**
     * Decides, for a pool to which the turn has come if it changes settings already.
     *
     * @param problems why the spec cannot be carried out; empty when it can
     */
    public PoolPlan plan(PoolObservation seen, List<Finding> problems) {
        return plan(
                seen, problems, TransitionPlan.isChangingSettings(seen.status().steps()));
    }

    /**
     * Decides.
     *
     * @param problems why the spec cannot be carried out; empty when it can
     * @param turn whether the pool may be brought to what this operator makes of its spec, where an earlier one made other pods of it
     */
    public PoolPlan plan(PoolObservation seen, List<Finding> problems, boolean turn) {
        StoragePlan wish = StoragePlan.of(seen, Set.of());
        boolean rests = seen.rests(problems) || SecurityStage.of(seen, settings).awaitsAuthority();
        TransitionView.Terms terms = TransitionView.Terms.of(seen.spec(), rests ? paused(seen) : Set.of());
        Members members = Members.of(seen);
        Goals goals = Goals.of(seen, members, wish, terms, settings, turn);
        TransitionView view = view(seen, members, goals, terms);
        StepJudge.Judged judged = StepJudge.look(view);
        RollView upgrade = RollViews.of(seen, view, judged, settings);
        if (rests) {
            TransitionPlan transitions = Transitions.plan(view.towards(Optional.empty()), judged);
            return new PoolPlan(
                    Optional.empty(),
                    Optional.empty(),
                    List.of(),
                    LeaderPlan.of(seen),
                    Set.copyOf(wish.expectedNodes()),
                    PoolPlan.Outstanding.NOTHING,
                    Roll.rest(upgrade),
                    transitions,
                    Deferred.NONE);
        }
        RollPlan roll = Roll.plan(upgrade);
        TransitionPlan transitions = Transitions.plan(view.towards(roll.goal()), judged);
        StoragePlan storage = StoragePlan.of(seen, transitions.released());
        PoolBlueprint blueprint = blueprint(seen, storage, roll, masters(view, transitions.released()));
        HostDirectories directories = HostDirectories.of(seen, storage);
        PlannedChildren wanted = PlannedChildren.of(seen, blueprint, storage, directories, roll);
        KeptTemplates kept = KeptTemplates.of(seen, view, made.of(wanted), settings.rollout(), turn);
        PlannedChildren children = wanted.keeping(kept.templates());
        return new PoolPlan(
                Optional.of(children),
                binding(seen, blueprint),
                delete(seen, children, storage, directories, roll),
                LeaderPlan.of(seen),
                Set.copyOf(storage.expectedNodes()),
                new PoolPlan.Outstanding(
                        waiting(storage, roll, transitions),
                        storage.leftOut(),
                        directories.cleanings().stream()
                                .map(HostDirectories.Cleaning::sentence)
                                .toList()),
                roll.told(transitions.words().upgrade()),
                transitions,
                goals.deferred().and(kept.deferred()));
    }

    /** A cordon, and what a user asks for, count also where the spec cannot be carried out. */
    private static Set<StepCause> paused(PoolObservation seen) {
        return seen.spec().paused()
                ? EnumSet.allOf(StepCause.class)
                : EnumSet.complementOf(EnumSet.of(StepCause.CORDON, StepCause.REQUEST));
    }

    private static TransitionView view(PoolObservation seen, Members members, Goals goals, TransitionView.Terms terms) {
        return new TransitionView(
                members,
                goals.with(
                        Optional.ofNullable(seen.status().roll()).flatMap(roll -> Roll.goalOf(roll, terms.upgrade()))),
                seen.status().steps(),
                terms,
                seen.watchedSince(),
                ledSince(seen),
                seen.now());
    }

    /** The status says which one has been made; Secrets are not read. */
    private static Optional<Secret> binding(PoolObservation seen, PoolBlueprint blueprint) {
        BindingStatus made = seen.status().binding();
        return Optional.of(BindingSecret.of(blueprint))
                .filter(secret ->
                        made == null || !secret.getMetadata().getName().equals(made.name()));
    }

    /** Since when this operator sees what this leader does: before, nothing may have been moved. */
    private static Instant ledSince(PoolObservation seen) {
        return seen.leadership()
                .flatMap(Leadership::since)
                .filter(seen.watchedSince()::isBefore)
                .orElse(seen.watchedSince());
    }

    /** A step of an upgrade comes before a storage node is emptied: what waits for it says so. */
    private static List<String> waiting(StoragePlan storage, RollPlan roll, TransitionPlan transitions) {
        List<String> waiting = new ArrayList<>(storage.waiting());
        if (!transitions.words().emptiedFirst().isEmpty()) {
            waiting.add(transitions.words().emptiedFirst());
        }
        boolean upgrades = transitions.steps().stream()
                .anyMatch(step -> step.because().isImage() && step.state() != StepState.WAITING);
        if (!waiting.isEmpty() && upgrades) {
            roll.next()
                    .map(upgrade ->
                            "No storage node is begun to be emptied before the step of the upgrade to %s ends that is under way."
                                    .formatted(upgrade.image()))
                    .ifPresent(waiting::add);
        }
        return waiting;
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
        seen.children().stream().filter(children::canDoWithout).forEach(delete::add);
        FormerAuthority.of(seen).ifPresent(delete::add);
        ObservedJob.withRole(seen.children(), PoolLabels.ROLE_PREFLIGHT).stream()
                .filter(job -> job.getMetadata().getDeletionTimestamp() == null
                        && !PreflightAnswer.image(job)
                                .equals(roll.preflightImage().orElse(null)))
                .forEach(delete::add);
        delete.addAll(ObservedPull.notNeeded(seen, roll.preflight()));
        return delete;
    }

    /** Kubernetes takes away the last one first. */
    private static int masters(TransitionView view, Set<String> released) {
        return view.members().masters().stream()
                .filter(master -> view.goals().surplus().contains(master.pod()) && !released.contains(master.pod()))
                .mapToInt(master -> master.observed().ordinal() + 1)
                .max()
                .orElse(view.members().mastersWanted());
    }

    private PoolBlueprint blueprint(PoolObservation seen, StoragePlan storage, RollPlan roll, int masters) {
        PoolEngines engines = seen.engineSpecs();
        return new PoolBlueprint(
                seen.identity(),
                seen.spec(),
                Requests.of(seen.pool().getMetadata().getAnnotations()),
                new PoolBlueprint.Transport(engines, PortPlan.of(seen).ports()),
                new PoolBlueprint.Masters(masters, roll.mastersImage()),
                new PoolBlueprint.StorageNodes(ExpectedNodes.of(storage.expectedNodes(), seen), roll.storageImage()),
                sizing(seen, engines, storage),
                SecurityStage.of(seen, settings),
                new PoolBlueprint.Platform(settings.namespace(), settings.platformUser()));
    }

    private static Sizing sizing(PoolObservation seen, PoolEngines engines, StoragePlan storage) {
        return Sizing.of(
                seen.spec(),
                engines,
                set -> set.perNode() == null
                        ? seen.spec().replicas(set)
                        : storage.nodeIds(set).size(),
                seen.leaderReport().map(report -> report.totals().objects()).orElse(0L),
                Optional.ofNullable(seen.status().sizing()));
    }
}
