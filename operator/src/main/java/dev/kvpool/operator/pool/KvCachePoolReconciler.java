// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.event.recorder.EventRecorder;
import dev.kvpool.operator.master.MasterClient;
import dev.kvpool.operator.pool.cluster.AuthorityMaker;
import dev.kvpool.operator.pool.cluster.MatchedChildren;
import dev.kvpool.operator.pool.cluster.PoolEventSources;
import dev.kvpool.operator.pool.cluster.PoolExecutor;
import dev.kvpool.operator.pool.cluster.PoolObserver;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.AgentPods;
import dev.kvpool.operator.pool.plan.Foresight;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.plan.PoolPlanner;
import dev.kvpool.operator.pool.plan.Rotations;
import dev.kvpool.operator.pool.plan.SecurityStage;
import dev.kvpool.operator.pool.report.PollInterval;
import dev.kvpool.operator.pool.report.PoolNotices;
import dev.kvpool.operator.pool.report.PoolStatus;
import dev.kvpool.operator.pool.security.AuthorityRotation;
import dev.kvpool.operator.pool.transition.TransitionPlan;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.MaxReconciliationInterval;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Brings pools to what their specs want: observe, validate, plan, execute, status. */
@ApplicationScoped
@ControllerConfiguration(
        name = "kvcachepool",
        fieldManager = PoolLabels.OPERATOR,
        // Off, because Java Operator SDK 5.3.0 to 5.3.4 loses changes otherwise; SpecChangesAreNotLostTest measures it.
        informer = @Informer(comparableResourceVersions = false, onUpdateFilter = ChangesOfUsers.class),
        generationAwareEventProcessing = false,
        maxReconciliationInterval = @MaxReconciliationInterval(interval = 5, timeUnit = TimeUnit.MINUTES))
@GradualRetry(maxAttempts = Integer.MAX_VALUE, initialInterval = 1_000, intervalMultiplier = 2, maxInterval = 30_000)
public class KvCachePoolReconciler implements Reconciler<KvCachePool> {
    private final MasterClient masters;
    private final PoolObserver observer;
    private final OperatorSettings settings;
    private final PoolPlanner planner;
    private final Rollout rollout;
    private final PoolStatus status;
    private final EventRecorder events;
    private final PollInterval interval;
    private final MatchedChildren matched = new MatchedChildren();

    public KvCachePoolReconciler(
            MasterClient masters,
            OperatorSettings settings,
            EventRecorder events,
            InstantSource clock,
            PollInterval interval,
            MeterRegistry registry) {
        this.masters = masters;
        this.observer = new PoolObserver(masters, clock, settings.deviceHealth());
        this.settings = settings;
        this.planner = new PoolPlanner(settings);
        this.rollout = new Rollout(settings.rollout().pools(), clock, registry);
        this.status = new PoolStatus(settings);
        this.events = events;
        this.interval = interval;
    }

    @Override
    public List<EventSource<?, KvCachePool>> prepareEventSources(EventSourceContext<KvCachePool> context) {
        return PoolEventSources.of(context);
    }

    @Override
    public UpdateControl<KvCachePool> reconcile(KvCachePool pool, Context<KvCachePool> context) {
        PoolObservation seen = observer.observe(pool, context);
        if (!PoolEventSources.areRunning(context)) {
            return UpdateControl.noUpdate();
        }
        List<Finding> problems = PoolValidator.validate(seen, settings);
        AuthorityMaker.Done authority = authority(seen, problems, context);
        seen = authority.seen();
        PoolPlan plan = plan(seen, problems, context);
        Outcome outcome = PoolExecutor.execute(plan, seen, masters, matched, context)
                .after(authority.changes(), authority.failure());
        KvCachePoolStatus next = status.next(seen, problems, plan, outcome);
        PoolNotices.of(seen.status(), next, outcome).forEach(notice -> events.publish(pool, notice));
        return write(pool, seen.status(), next).rescheduleAfter(interval.of(next));
    }

    /** Pods cannot be made before there is one. Later it is followed by the next one in time. */
    private AuthorityMaker.Done authority(PoolObservation seen, List<Finding> problems, Context<KvCachePool> context) {
        Duration life = settings.rotation().life();
        boolean rests = seen.rests(problems);
        if (!rests && SecurityStage.of(seen, settings).awaitsAuthority()) {
            return AuthorityMaker.make(seen, context.getClient(), life);
        }
        AuthorityRotation.Step step = rests ? AuthorityRotation.Step.WAIT : Rotations.step(seen, settings);
        return step == AuthorityRotation.Step.WAIT
                ? new AuthorityMaker.Done(seen, List.of(), Optional.empty())
                : AuthorityMaker.rotate(seen, context.getClient(), life, step);
    }

    /** A pool takes its turn only when something can be done with it, so that one that waits for something else keeps no others waiting. */
    private PoolPlan plan(PoolObservation seen, List<Finding> problems, Context<KvCachePool> context) {
        ResourceID id = ResourceID.fromResource(seen.pool());
        PoolPlan without = planner.plan(seen, problems, false);
        if (without.defers()) {
            PoolPlan turn = planner.plan(seen, problems, true);
            if (!turn.equals(without)) {
                return canBegin(seen, problems, turn)
                                && rollout.takes(
                                        id,
                                        context.getPrimaryCache().list(),
                                        notice -> events.publish(seen.pool(), notice))
                        ? turn
                        : without;
            }
        }
        boolean underWay = without.transitions().changesSettings()
                || TransitionPlan.isChangingSettings(seen.status().steps())
                || AgentPods.areReplaced(seen);
        if (underWay) {
            rollout.goesOn(id);
        } else {
            rollout.ends(id);
        }
        return without;
    }

    /** Whether anything begins then, or is needed, once the templates of its pods have changed. */
    private boolean canBegin(PoolObservation seen, List<Finding> problems, PoolPlan turn) {
        return planner.plan(Foresight.afterwards(seen, turn), problems, true)
                .transitions()
                .takesTurn();
    }

    private static UpdateControl<KvCachePool> write(KvCachePool pool, KvCachePoolStatus old, KvCachePoolStatus next) {
        if (next.equals(old)) {
            return UpdateControl.noUpdate();
        }
        // A step is decided from the status before it. Were that older than the stored one, a
        // step might be begun beside another one, or one that has ended be written down as still under way, so the API
        // server must refuse it then; the next round sees what is stored.
        boolean hasSteps = hasSteps(old) || hasSteps(next);
        // A fresh object: a copy of the cached one would make this field manager the owner of the user's spec.
        KvCachePool patch = new KvCachePool();
        patch.setMetadata(new ObjectMetaBuilder()
                .withName(pool.getMetadata().getName())
                .withNamespace(pool.getMetadata().getNamespace())
                .withResourceVersion(hasSteps ? pool.getMetadata().getResourceVersion() : null)
                .build());
        patch.setStatus(next);
        return UpdateControl.patchStatus(patch);
    }

    private static boolean hasSteps(KvCachePoolStatus status) {
        return status.roll() != null || !status.steps().isEmpty();
    }
}
