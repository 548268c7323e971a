// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.api.v1alpha1.storage.DrainSpec;
import dev.kvpool.api.v1alpha1.storage.LeftoverPolicy;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.OperatorSettings.RolloutTerms;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * All that transitions are decided from.
 *
 * @param members masters and storage nodes
 * @param goals what they shall be
 * @param steps what the status says is under way
 * @param terms how the spec wants it done
 * @param watchedSince since when this operator sees what happens, without a break: unobserved time does not count
 * @param ledSince since when it sees what this leader does: before, nothing may have been moved
 * @param now the time
 */
public record TransitionView(
        Members members,
        Goals goals,
        List<StepStatus> steps,
        Terms terms,
        Instant watchedSince,
        Instant ledSince,
        Instant now) {

    /** Kubelets watch their pods, so that it takes a second; more where the API server is busy. */
    private static final Duration NOTICED = Duration.ofSeconds(30);

    public TransitionView {
        steps = List.copyOf(steps);
    }

    /**
     * How the spec wants it done.
     *
     * @param upgrade its part that is about upgrades, and other steps
     * @param drain its part that is about storage nodes that are emptied
     * @param onDataLoss what becomes of a change that would lose bytes
     * @param paused causes for which nothing is done
     */
    public record Terms(UpgradeSpec upgrade, DrainSpec drain, DataLossPolicy onDataLoss, Set<StepCause> paused) {
        public static Terms of(KvCachePoolSpec spec, Set<StepCause> paused) {
            return new Terms(spec.upgrade(), spec.drain(), spec.onDataLoss(), paused);
        }

        /** How many storage nodes may be away at a time. */
        int maxUnavailable() {
            return upgrade.maxUnavailable();
        }

        /** How long emptying a storage node may go on without any progress. */
        Duration drainTimeout() {
            return ApiDuration.of(drain.timeout());
        }

        /** After how long without progress a pod may be evicted from a cordoned Kubernetes node as it is. */
        Duration nodeTimeout() {
            return ApiDuration.of(drain.nodeTimeout());
        }

        /** What cannot be moved in time may be lost. */
        boolean dropsLeftovers() {
            return drain.onLeftovers() == LeftoverPolicy.DROP;
        }

        public boolean mayLoseBytes() {
            return onDataLoss.mayLoseBytes();
        }

        /**
         * How a member comes to other settings. With one that holds nothing only what is put there meanwhile could be lost: what is emptied
         * first takes no objects.
         */
        public DataLossPolicy forSettings(Member member) {
            DataLossPolicy policy = onDataLoss.unless(member.master() || member.outlives());
            return policy == DataLossPolicy.WAIT && member.isThereWithNothing() ? DataLossPolicy.MOVE : policy;
        }

        /**
         * Whether pods that an earlier operator made otherwise are replaced only when a user asks for it.
         *
         * @param outlives whether what they hold is there again afterwards
         */
        public boolean isLeftToUsers(String role, boolean outlives, RolloutTerms rollout) {
            return role.equals(PoolLabels.ROLE_STORAGE)
                    && (outlives ? !rollout.storageVolumes() : onDataLoss == DataLossPolicy.WAIT);
        }
    }

    /** The same, in a pool that is brought to these images. */
    public TransitionView towards(Optional<ImageGoal> image) {
        return new TransitionView(members, goals.with(image), steps, terms, watchedSince, ledSince, now);
    }

    /** Whether nothing is done about it. A cordon counts also where the spec cannot be carried out. */
    boolean isPaused(String of, StepCause because) {
        boolean cordoned = because == StepCause.SCALE_DOWN && goals.cordons().containsKey(of);
        return terms.paused().contains(cordoned ? StepCause.CORDON : because);
    }

    /**
     * For how long nothing was moved, or nothing came of a step, as far as it was watched. What is emptied depends on its leader; a pod
     * gets ready under any, and leaders that change all the time may be what is wrong with an image.
     */
    Duration idle(StepStatus step) {
        Instant since = Progress.at(step);
        boolean ofLeader = step.kind() == StepKind.EMPTY && !isWithoutPod(step);
        Instant counted = ofLeader ? ledSince : watchedSince;
        return Duration.between(since.isBefore(counted) ? counted : since, now);
    }

    /**
     * Its pod ended while it was emptied, or is about to end, and an upgrade waits for the next one as for one that a step has stopped.
     */
    boolean isWithoutPod(StepStatus step) {
        return step.kind() == StepKind.EMPTY
                && step.because().isImage()
                && !members.is(step.of(), member -> !member.leaving());
    }

    /** How long a pod may take until it is ready again. */
    public Duration stepTimeout() {
        return ApiDuration.of(terms.upgrade().stepTimeout());
    }

    /** It has had more than the time of a step. */
    boolean isOverdue(StepStatus step) {
        return idle(step).compareTo(stepTimeout()) > 0;
    }

    /** Whether a kubelet knows by now what a pod was told when the step began. */
    boolean isNoticed(StepStatus step) {
        Duration half = stepTimeout().dividedBy(2);
        return idle(step).compareTo(half.compareTo(NOTICED) < 0 ? half : NOTICED) > 0;
    }

    /** A step as it begins, with what must differ when it is done. */
    StepStatus begin(String of, StepKind kind, StepCause because) {
        StepStatus step = step(of, kind, because);
        return members.get(of).map(member -> Facts.noted(step, member, this)).orElse(step);
    }

    /** The same, with nothing noted. */
    StepStatus step(String of, StepKind kind, StepCause because) {
        return new StepStatus(of, kind, because, StepState.UNDER_WAY, now.toString());
    }

    /** Whether the pool goes back to an earlier image. */
    boolean goesBack() {
        return goals.image().filter(ImageGoal::back).isPresent();
    }

    /** For other settings it is emptied first. */
    boolean isMoved(String id) {
        return members.is(id, member -> terms.forSettings(member) == DataLossPolicy.MOVE);
    }

    /** It runs the image to which an upgrade brings it. */
    boolean runsTarget(Member member) {
        return member.runs(target(member));
    }

    /** The image to which an upgrade brings it. */
    String target(Member member) {
        return goals.image().orElseThrow().of(member.master());
    }

    Optional<Cordon> cordon(String id) {
        return Optional.ofNullable(goals.cordons().get(id));
    }

    /** It is not to stay where it is, and that is so. */
    boolean isCordoned(String id, Predicate<Cordon> so) {
        return cordon(id).filter(so).isPresent();
    }

    /**
     * The Kubernetes node that a storage node is emptied for as well, or only for; null where there is none. One that goes for good goes
     * wherever a user asked that it be empty.
     */
    String host(String id, StepCause because) {
        return cordon(id)
                .filter(cordon -> because != StepCause.SCALE_DOWN || !cordon.requested())
                .map(Cordon::host)
                .orElse(null);
    }
}
