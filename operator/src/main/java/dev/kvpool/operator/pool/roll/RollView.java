// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.status.PendingVersions;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.observation.ImagePull;
import dev.kvpool.operator.pool.observation.PreflightSeen;
import dev.kvpool.operator.pool.transition.Behind;
import dev.kvpool.operator.pool.transition.ImageGoal;
import dev.kvpool.operator.pool.transition.StepJudge;
import dev.kvpool.operator.pool.transition.TransitionView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * All that an upgrade is decided from.
 *
 * @param status what the status says of the upgrade; empty when there is none
 * @param pending what the status says that the pool is about to change to
 * @param images which images concern it
 * @param retry text by which a person asks to try a failed or refused upgrade again; empty without such a request
 * @param everLed false while no master has ever led the pool, so that nothing was ever put there
 * @param transitions what the steps are decided from
 * @param steps how the steps stand that are under way
 * @param preflight the preflight Job; empty when there is none
 * @param pulls how far images are on the Kubernetes nodes of the pool
 */
public record RollView(
        Optional<RollStatus> status,
        Optional<PendingVersions> pending,
        Images images,
        Optional<String> retry,
        boolean everLed,
        TransitionView transitions,
        StepJudge.Judged steps,
        Optional<PreflightSeen> preflight,
        Pulls pulls) {

    /**
     * The images of a pool.
     *
     * @param wanted the one the spec asks for
     * @param stable the one that all of the pool ran last
     * @param offered the operator's own, where the spec names none and the pool keeps another one
     * @param unpullable pods that could not pull another one as the spec says, as a part of a sentence; empty when there are none
     */
    public record Images(String wanted, String stable, Optional<String> offered, Optional<String> unpullable) {}

    /**
     * How far images are on Kubernetes nodes.
     *
     * @param machines those on which the pool has pods, those left out of which nothing is heard, by name
     * @param jobs Jobs that bring images to them
     */
    public record Pulls(List<String> machines, List<ImagePull> jobs) {
        public Pulls {
            machines = List.copyOf(machines);
            jobs = List.copyOf(jobs);
        }
    }

    /**
     * Whether what began at {@code since} has had more than the time of a step. The time before this operator came does not count:
     * while the one before it was gone, nothing was done for the step.
     */
    boolean isOverdue(String since) {
        return Duration.between(counted(since), now()).compareTo(transitions.stepTimeout()) > 0;
    }

    /** A time that was written down, or when this operator came where that was later. */
    private Instant counted(String since) {
        Instant begun = Instant.parse(since);
        return begun.isBefore(transitions.watchedSince()) ? transitions.watchedSince() : begun;
    }

    /** When the pool changes to what is pending. Which clients came and went while no operator looked is not known, so that time does not count. */
    Instant changesAt(PendingVersions next) {
        return counted(next.since()).plus(ApiDuration.of(options().finaliseAfter()));
    }

    Instant now() {
        return transitions.now();
    }

    Members members() {
        return transitions.members();
    }

    /** How the spec wants it done. */
    UpgradeSpec options() {
        return transitions.terms().upgrade();
    }

    /** In a phase with steps. */
    ImageGoal goal() {
        return transitions.goals().image().orElseThrow();
    }

    /** Those that do not run an image yet. */
    Behind behind(ImageGoal goal) {
        return new Behind(transitions, goal);
    }

    boolean isAnyMaster(Predicate<Member> so) {
        return members().masters().stream().anyMatch(so);
    }

    /**
     * Masters that a preflight asks. One that does not run, or whose machine is dead, knows no node and no client that others could not
     * know, and would never answer.
     */
    List<Member> asked() {
        List<Member> there = members().masters().stream()
                .filter(master -> master.alive() && !master.isGone())
                .toList();
        return there.isEmpty() ? members().masters() : there;
    }
}
