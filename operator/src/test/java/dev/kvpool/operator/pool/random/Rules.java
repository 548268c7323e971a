// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.random;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.api.v1alpha1.storage.LeftoverPolicy;
import dev.kvpool.api.v1alpha1.storage.RollMode;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.random.RandomCluster.End;
import dev.kvpool.operator.pool.random.RandomCluster.Host;
import dev.kvpool.operator.pool.random.RandomCluster.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What must hold whatever happens, judged by what is there and not by what the operator thinks: it takes away no more than the budget, nor
 * the only copy of an object, nor a master that leads while another could, and nothing of which no step in the status says so.
 */
final class Rules {
    private static final Set<StepState> BEGUN = EnumSet.of(StepState.UNDER_WAY, StepState.LEFTOVERS, StepState.DROPPED);

    private static final Set<StepKind> STOPPING = EnumSet.of(StepKind.RESTART, StepKind.REPLACE, StepKind.REMOVE);

    private final RandomPool pool;
    private KvCachePoolStatus status = KvCachePoolStatus.EMPTY;
    private Set<String> wanted = Set.of();

    /** Whom the operator has taken away and who is not back yet. */
    private final Set<String> stopped = new TreeSet<>();

    /** When the operator first saw that machines are cordoned, by name. */
    private final Map<String, Instant> cordoned = new TreeMap<>();

    Rules(RandomPool pool) {
        this.pool = pool;
    }

    /** Something does not hold. */
    static final class Broken extends AssertionError {
        private static final long serialVersionUID = 1;

        Broken(String what) {
            super(what);
        }
    }

    /**
     * Judges what begins in a look.
     *
     * @param from what the status said before it
     * @param next what it will say
     */
    void look(KvCachePoolStatus from, List<StepStatus> next) {
        status = from;
        wanted = pool.wanted();
        pool.cluster.hosts.forEach((name, host) -> {
            if (host.cordoned) {
                cordoned.putIfAbsent(name, pool.now());
            } else {
                cordoned.remove(name);
            }
        });
        next.stream()
                .filter(step -> stops(step)
                        && from.steps().stream().noneMatch(old -> old.of().equals(step.of()) && stops(old)))
                .forEach(this::begins);
    }

    private static boolean stops(StepStatus step) {
        return step.kind() != StepKind.TAKE_BACK
                && step.because() != StepCause.SCALE_DOWN
                && !(step.because().isOfPlace() && step.kind() == StepKind.EMPTY)
                && BEGUN.contains(step.state());
    }

    private void begins(StepStatus step) {
        boolean leads = step.kind() == StepKind.HAND_OVER;
        if (!leads && !pool.data.serves(step.of())) {
            return;
        }
        boolean back = goesBack();
        List<String> away = pool.cluster.pods().stream()
                .filter(pod ->
                        !pod.master() && wanted.contains(pod.id()) && !pod.id().equals(step.of()))
                .filter(pod -> !pool.data.serves(pod.id()) && !goes(pod.id()))
                .filter(pod -> pod.started() || !pod.host.isEmpty() || (pod.outlives && pool.data.isMet(pod.id())))
                .filter(pod -> !back || isReachable(pod))
                .map(Pod::id)
                .toList();
        if (away.size() >= pool.maxUnavailable) {
            throw new Broken("%s begins while %s are away".formatted(step, away));
        }
    }

    /** Its set has other claims now, so that it is made again once it has gone; where it is away for good nothing waits for that. */
    private boolean goes(String id) {
        return step(id).filter(step -> step.because() == StepCause.SCALE_DOWN).isPresent();
    }

    private boolean goesBack() {
        return Optional.ofNullable(status.roll())
                .filter(roll -> roll.phase() == RollPhase.GOING_BACK)
                .isPresent();
    }

    private boolean isReachable(Pod pod) {
        Host host = pool.cluster.hosts.get(pod.host);
        return host != null && host.ready;
    }

    /** A leader is told to hand over. */
    void handOver(String name) {
        StepStatus step = step(name)
                .filter(it -> it.kind() == StepKind.HAND_OVER && BEGUN.contains(it.state()))
                .orElseThrow(() -> new Broken("%s is to hand over, and no step says so".formatted(name)));
        String epoch = pool.annotations.get(PoolLabels.FAILOVER);
        if (step.because() == StepCause.REQUEST && !Long.toString(pool.epoch()).equals(epoch)) {
            throw new Broken("%s is to hand over epoch %d for a request of %s".formatted(name, pool.epoch(), epoch));
        }
    }

    /** A leader is told to empty a storage node. */
    void empty(String id) {
        StepStatus step = step(id).filter(it -> it.kind() == StepKind.EMPTY && it.state() != StepState.WAITING)
                .orElseThrow(() -> new Broken("%s is to be emptied, and no step says so".formatted(id)));
        boolean meant = pool.cluster.pods().stream()
                .filter(pod -> !pod.master() && pod.id().equals(id))
                .anyMatch(pod ->
                        pool.annotations.getOrDefault(PoolLabels.DRAIN, "").contains(id + "=" + pod.uid)
                                || pool.cluster.hosts.get(pod.host).cordoned);
        if (step.because() == StepCause.REQUEST && !meant) {
            throw new Broken("%s is to be emptied, which no request asks for".formatted(id));
        }
    }

    void setImage(Pod pod, String image) {
        if (pod.wished.equals(image) || !pod.started()) {
            return;
        }
        if (!pod.master() && isDrained() && !pool.data.held(pod.id()).isEmpty() && !mayLose(pod.id())) {
            throw new Broken("%s is given an image that cannot read what it holds".formatted(pod.id()));
        }
        takenAway(pod);
    }

    private boolean isDrained() {
        return Optional.ofNullable(status.roll())
                .filter(roll -> roll.mode() == RollMode.DRAINED)
                .map(RollStatus::phase)
                .filter(EnumSet.of(RollPhase.ROLLING, RollPhase.GOING_BACK)::contains)
                .isPresent();
    }

    /** Of a pod whose end has been asked for. */
    void ends(Pod pod, End why) {
        if (!pod.started()) {
            return;
        }
        if (!pod.master() && !pool.data.onlyAt(pod.id()).isEmpty() && !mayLose(pod.id()) && loses(pod, why)) {
            throw new Broken("%s is %s with %s".formatted(pod.id(), why, pool.data.onlyAt(pod.id())));
        }
        if (why == End.DELETED) {
            takenAway(pod);
        } else if (why == End.RELEASED && pod.master()) {
            takenAway(pod);
        }
    }

    private static boolean loses(Pod pod, End why) {
        return switch (why) {
            case DELETED -> !pod.outlives;
            case RELEASED -> true;
            // Whether it may be was judged when it was labelled.
            case EVICTED -> false;
        };
    }

    void evictable(Pod pod) {
        if (pod.started()
                && !pod.leaving
                && !pod.outlives
                && !pool.data.onlyAt(pod.id()).isEmpty()
                && !mayLose(pod.id())) {
            throw new Broken("%s may be evicted with %s".formatted(pod.id(), pool.data.onlyAt(pod.id())));
        }
    }

    /** Of storage nodes that may go. */
    void released(Set<String> ids) {
        for (String id : ids) {
            Optional<Pod> pod = pool.cluster.pods().stream()
                    .filter(it -> !it.master() && it.id().equals(id))
                    .findFirst();
            boolean holds = pod.map(it -> it.outlives || !it.leaving).orElse(true);
            if (holds && !pool.data.onlyAt(id).isEmpty() && !mayLose(id)) {
                throw new Broken("%s may go with %s".formatted(id, pool.data.onlyAt(id)));
            }
        }
    }

    private void takenAway(Pod pod) {
        boolean works = pod.ready && pool.cluster.works(pod);
        if (works) {
            if (step(pod.id())
                    .filter(step -> BEGUN.contains(step.state()))
                    .filter(step -> STOPPING.contains(step.kind()))
                    .isEmpty()) {
                throw new Broken("%s is stopped, and no step says so".formatted(pod.id()));
            }
            if (pod.master()) {
                master(pod);
            } else if (stoppedStorage(pod.id()) >= pool.maxUnavailable) {
                throw new Broken("%s is stopped beside %s".formatted(pod.id(), stopped));
            }
        }
        boolean comesBack = !pod.master() || pod.ordinal() < pool.masters;
        if (comesBack && works) {
            stopped.add(pod.id());
        }
    }

    private long stoppedStorage(String but) {
        return stopped.stream().filter(id -> isWaitedFor(id, but)).count();
    }

    /** The way back goes on beside those for which no pod can be created. */
    private boolean isWaitedFor(String id, String but) {
        return !id.equals(but) && wanted.contains(id) && !(goesBack() && pool.cluster.isRefused(id));
    }

    private void master(Pod pod) {
        // One that does not come back, as the spec does not want it any more, is not waited for.
        boolean others = stopped.stream().anyMatch(id -> isWaitedFor(id, pod.id()));
        boolean couldLead = pool.cluster.pods().stream()
                .anyMatch(it -> it.master() && it != pod && it.ready && pool.cluster.works(it));
        if (others || (couldLead && pool.data.leads(pod))) {
            throw new Broken("%s is stopped%s beside %s"
                    .formatted(pod.id(), pool.data.leads(pod) ? ", which leads," : "", stopped));
        }
    }

    /** What happens to it now is not the operator's doing. */
    void fault(Pod pod) {
        stopped.remove(pod.id());
    }

    void tick() {
        stopped.removeIf(id -> {
            Optional<Pod> pod = pool.cluster.pods().stream()
                    .filter(any -> any.id().equals(id) && !any.leaving)
                    .findFirst();
            boolean back = pod.filter(any -> any.ready && any.wished.equals(any.running))
                    .isPresent();
            boolean released = pod.isEmpty() && !wanted.contains(id);
            return back || released || pod.filter(any -> !isReachable(any)).isPresent();
        });
    }

    private Optional<StepStatus> step(String id) {
        return status.steps().stream().filter(step -> step.of().equals(id)).findFirst();
    }

    /** The spec allows it, or the time is over after which it does. */
    private boolean mayLose(String id) {
        return pool.onDataLoss == DataLossPolicy.REPLACE
                || step(id).filter(step -> step.state() == StepState.DROPPED)
                        .filter(step -> (step.machine() != null
                                        && cordoned.containsKey(step.machine())
                                        && isSince(cordoned.get(step.machine()), RandomPool.NODE_TIMEOUT)
                                        && isSince(step, RandomPool.NODE_TIMEOUT))
                                || (pool.onLeftovers == LeftoverPolicy.DROP
                                        && !step.because().isImage()
                                        && isSince(step, RandomPool.DRAIN_TIMEOUT)))
                        .isPresent();
    }

    private boolean isSince(StepStatus step, Duration time) {
        // A step that was emptying becomes one that replaces, and begins again.
        return step.kind() == StepKind.REPLACE || isSince(Instant.parse(step.since()), time);
    }

    private boolean isSince(Instant at, Duration time) {
        return !Duration.between(at, pool.now()).minus(time).isNegative();
    }
}
