// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.storage.RollMode;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import dev.kvpool.operator.pool.child.part.PreflightQuestion;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.observation.PreflightSeen;
import dev.kvpool.operator.pool.transition.Behind;
import dev.kvpool.operator.pool.transition.ImageGoal;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The phases of an upgrade, and what leads from one to the next. */
public final class Roll {
    /** Clients that were in the way may have been upgraded meanwhile. */
    private static final Duration ASK_AGAIN = Duration.ofMinutes(5);

    private final RollView view;
    private final RollView.Images images;
    private final String now;
    private final RollWords words;

    private Roll(RollView view) {
        this.view = view;
        this.images = view.images();
        this.words = new RollWords(view);
        this.now = view.now().toString();
    }

    public static RollPlan plan(RollView view) {
        Roll roll = new Roll(view);
        return view.everLed() ? view.status().map(roll::goOn).orElseGet(roll::idle) : roll.fresh();
    }

    /** The pool as it is, with nothing decided: for a pool that must not be touched. */
    public static RollPlan rest(RollView view) {
        Roll roll = new Roll(view);
        Finding finding = view.status().map(roll.words::atRest).orElseGet(roll.words::none);
        return new RollPlan(view.status(), roll.images.stable(), finding).with(view.pending());
    }

    private RollPlan idle() {
        if (view.members().all().noneMatch(Member::started)) {
            return fresh();
        }
        boolean same = images.stable().equals(images.wanted());
        if (same && view.members().all().allMatch(instance -> instance.runs(images.wanted()))) {
            return finalised(Optional.empty(), images.stable(), words.none());
        }
        Behind behind = view.behind(ImageGoal.upgrade(images.wanted(), 0, false, true, false));
        if (same && behind.steppable().isEmpty()) {
            return finishedBut(behind);
        }
        if (view.options().paused()) {
            return new RollPlan(
                    Optional.empty(),
                    images.stable(),
                    new Finding(
                            Reason.UPGRADE_PAUSED,
                            "The upgrade from %s to %s is paused before it began: spec.upgrade.paused is true."
                                    .formatted(images.stable(), images.wanted())));
        }
        if (!same && images.unpullable().isPresent()) {
            return new RollPlan(Optional.empty(), images.stable(), words.unpullable());
        }
        // Masters hold nothing. A storage node that was left out may have written what the image cannot read.
        boolean mastersOnly = same && behind.steppable().stream().allMatch(Member::master);
        RollPhase first = mastersOnly ? RollPhase.ROLLING : RollPhase.PREFLIGHT;
        RollMode mode = mastersOnly ? RollMode.WARM : null;
        RollStatus begun = new RollStatus(images.wanted(), images.stable(), first, mode, now, null, null)
                .asked(view.retry().orElse(null));
        return upgrading(begun, "is about to begin");
    }

    /** Those that are left out, or on their way, are upgraded later. */
    private RollPlan finishedBut(Behind behind) {
        RollPlan plan =
                finalised(Optional.empty(), images.stable(), words.none().and(behind.leftOutSentence()));
        return view.options().paused()
                ? plan
                : plan.with(Stream.concat(plan.actions().stream(), behind.unasked().stream())
                        .toList());
    }

    /** With nothing to lose and no leader to ask: this also repairs a pool whose first image does not work. */
    private RollPlan fresh() {
        return new RollPlan(Optional.empty(), images.wanted(), words.none())
                .with(Rescue.taking(images.wanted(), view.members().all()));
    }

    private RollPlan goOn(RollStatus roll) {
        if (!images.wanted().equals(roll.image()) && (roll.phase() != RollPhase.GOING_BACK || leadsNowhere(roll))) {
            return wishChanged(roll);
        }
        return switch (roll.phase()) {
            case PREFLIGHT -> withWorkingMasters(roll, preflight(roll));
            case ROLLING -> rolling(roll);
            case GOING_BACK -> goingBack(roll);
            case FINALISING -> finalising(roll);
            case BLOCKED -> withWorkingMasters(roll, blocked(roll));
            case FAILED -> withWorkingMasters(roll, failed(roll));
        };
    }

    /** Where no steps are under way, which bring back what is broken before all else. */
    private RollPlan withWorkingMasters(RollStatus roll, RollPlan plan) {
        return plan.actions().isEmpty() ? plan.with(new Rescue(view).again(roll)) : plan;
    }

    /** What the pool goes back to does not run either, and the spec names a third image. */
    private boolean leadsNowhere(RollStatus roll) {
        boolean noMasterRuns = view.isOverdue(roll.since()) && new Rescue(view).isNeeded();
        return !images.wanted().equals(roll.from())
                && (noMasterRuns || view.steps().beginsAgain());
    }

    /** The spec names another image than the one the upgrade is about. */
    private RollPlan wishChanged(RollStatus roll) {
        if (roll.phase() == RollPhase.FINALISING && images.stable().equals(roll.image())) {
            // It may speak and write the new versions by now: whether it can go back a new preflight must say.
            return new RollPlan(
                    Optional.empty(),
                    images.stable(),
                    RollWords.upgrading(roll, "is done; the spec asks for another one"));
        }
        boolean touched = roll.phase() == RollPhase.ROLLING
                || roll.phase() == RollPhase.GOING_BACK
                || roll.phase() == RollPhase.FINALISING
                || view.steps().upgrades()
                || view.members().all().anyMatch(instance -> !instance.runs(roll.from()));
        if (!touched) {
            return new RollPlan(Optional.empty(), roll.from(), words.none());
        }
        boolean takenBack = images.wanted().equals(roll.from());
        RollStatus next = takenBack
                ? roll.in(RollPhase.GOING_BACK, now, "the spec asks for " + roll.from() + " again")
                        // A user who asks for it wants the masters to try it again.
                        .withMastersFrom(null)
                : beginningAgain(roll);
        return upgrading(next, "follows the changed spec");
    }

    private RollPlan preflight(RollStatus roll) {
        Rescue rescue = new Rescue(view);
        if (!view.members().led()) {
            return rescue.isNeeded() && view.isOverdue(roll.since()) ? rescued(roll, rescue) : leaderless(roll, rescue);
        }
        Optional<String> unseen = rescue.unseen(roll.image());
        if (unseen.isPresent()) {
            return upgrading(inTime(roll), "waits until the leader sees storage node " + unseen.get());
        }
        List<String> takenBack = view.steps().takenBack();
        if (!takenBack.isEmpty()) {
            return upgrading(
                    fromNow(roll),
                    "begins when what was under way is over: %s takes part again"
                            .formatted(String.join(", ", takenBack)));
        }
        Optional<PreflightSeen> job =
                view.preflight().filter(seen -> seen.image().equals(roll.image()));
        PreflightSeen.State state = job.map(PreflightSeen::state).orElse(PreflightSeen.State.RUNNING);
        String reason = job.map(PreflightSeen::reason).orElse("");
        if (state == PreflightSeen.State.RUNNING && view.isOverdue(roll.since())) {
            state = PreflightSeen.State.FAILED;
            reason = "it has not ended within %s. %s".formatted(view.options().stepTimeout(), reason);
        }
        return switch (state) {
            case RUNNING ->
                asking(
                        roll,
                        List.of(),
                        "is being checked by a Job with the new image%s. %s".formatted(words.unasked(), reason));
            case FAILED -> refused(roll, "the preflight failed: " + reason);
            case ANSWERED -> answered(roll, job.orElseThrow());
        };
    }

    private RollPlan leaderless(RollStatus roll, Rescue rescue) {
        String way = rescue.isNeeded()
                ? ", as no master runs: after %s all masters take the new image"
                        .formatted(view.options().stepTimeout())
                : "";
        return upgrading(rescue.isNeeded() ? roll : inTime(roll), "waits for a leader that can be asked" + way);
    }

    /** The time of the Job does not begin before a leader can be asked. */
    private RollStatus fromNow(RollStatus roll) {
        return roll.in(roll.phase(), now, roll.reason());
    }

    /** The same where the time is over. */
    private RollStatus inTime(RollStatus roll) {
        return view.isOverdue(roll.since()) ? fromNow(roll) : roll;
    }

    private RollPlan rescued(RollStatus roll, Rescue rescue) {
        boolean written = roll.image().equals(roll.mastersFrom());
        return upgrading(
                        written ? fromNow(roll) : roll.withMastersFrom(roll.image()),
                        "begins with masters that take the new image, as none of them runs that could be asked")
                .with(written ? rescue.actions(roll.image()) : List.of());
    }

    private RollPlan answered(RollStatus roll, PreflightSeen job) {
        if (images.unpullable().isPresent()) {
            return refused(roll, images.unpullable().get());
        }
        return switch (job.verdict()) {
            // What an unfinished upgrade has emptied already may be written as the image to go back to cannot read it.
            case "rolling-warm" ->
                withImages(roll, job, roll.mode() == RollMode.DRAINED ? RollMode.DRAINED : RollMode.WARM);
            case "rolling-drained" ->
                onlyNode().map(node -> refused(roll, node)).orElseGet(() -> withImages(roll, job, RollMode.DRAINED));
            default -> refused(roll, job.reason());
        };
    }

    /** The first step waits until the image is where it is needed. */
    private RollPlan withImages(RollStatus roll, PreflightSeen job, RollMode mode) {
        ImagePulls pulls = new ImagePulls(view, roll.image());
        if (pulls.refusal().isPresent()) {
            return refused(roll, pulls.refusal().get());
        }
        if (!pulls.areOver()) {
            return asking(roll, pulls.nodes(), "begins when " + pulls.sentence());
        }
        RollStatus next = new Rescue(view).proven(roll).begun(mode, now);
        return upgrading(next, "begins: " + job.reason() + words.unasked());
    }

    private RollPlan refused(RollStatus roll, String why) {
        RollStatus next = roll.in(RollPhase.BLOCKED, now, why);
        return stays(next, words.blocked(next));
    }

    /** Why the storage nodes cannot be emptied, as the end of a sentence. */
    private Optional<String> onlyNode() {
        if (view.members().storage().size() != 1 || view.transitions().terms().mayLoseBytes()) {
            return Optional.empty();
        }
        Member only = view.members().storage().getFirst();
        return only.node()
                .filter(node -> node.objects() > 0)
                .map(node ->
                        ("storage node %s would have to be emptied, and there is no other to take what it holds: add a storage"
                                        + " node, or set spec.onDataLoss to Replace")
                                .formatted(only.id()));
    }

    private RollPlan rolling(RollStatus roll) {
        if (view.steps().failure().isPresent()) {
            return turnsBack(roll, view.steps().failure().get());
        }
        ImageGoal goal = view.goal();
        Behind behind = view.behind(goal);
        boolean over = behind.isEmpty() && !view.steps().upgrades();
        RollStatus next = over && !behind.keepsSome() ? roll.in(RollPhase.FINALISING, now, null) : roll;
        String sentence = "";
        if (over && behind.keepsSome()) {
            sentence = "The first %d storage nodes keep the version they run: spec.upgrade.partition is %d."
                    .formatted(goal.keep(), goal.keep());
        } else if (goal.paused() && !over) {
            sentence = "It is paused: spec.upgrade.paused is true.";
        }
        Reason reason = goal.paused() && !view.steps().upgrades() ? Reason.UPGRADE_PAUSED : Reason.UPGRADING;
        Finding finding =
                new Finding(reason, RollWords.rolls(roll)).and(sentence).and(behind.leftOutSentence());
        return stays(next, finding).towards(goal);
    }

    /** The images to which the steps of an upgrade bring the pool; empty in phases that take none. */
    public static Optional<ImageGoal> goalOf(RollStatus roll, UpgradeSpec options) {
        boolean emptied = roll.mode() == RollMode.DRAINED;
        boolean careful = RollWords.isAboutStragglers(roll);
        return switch (roll.phase()) {
            case ROLLING ->
                Optional.of(ImageGoal.upgrade(roll.image(), options.partition(), emptied, careful, options.paused()));
            case GOING_BACK -> Optional.of(ImageGoal.back(roll.wayBackOfMasters(), roll.from(), emptied, careful));
            default -> Optional.empty();
        };
    }

    /** All that were upgraded go back by the same steps. It does not give up: there is nothing else to go to. */
    private RollPlan goingBack(RollStatus roll) {
        ImageGoal goal = view.goal();
        Behind behind = view.behind(goal);
        boolean over = behind.isEmpty() && !view.steps().upgrades();
        Optional<RollStatus> next = !over
                ? Optional.of(roll)
                : images.wanted().equals(roll.image()) && !RollWords.isAboutStragglers(roll)
                        ? Optional.of(roll.in(RollPhase.FAILED, now, roll.reason()))
                        : Optional.empty();
        Finding finding =
                over && next.isPresent() ? RollWords.failed(next.get()) : RollWords.goingBack(roll, images.wanted());
        return new RollPlan(next, roll.from(), finding.and(behind.leftOutSentence())).towards(goal);
    }

    /**
     * Pods that are recreated get the new image from now on. When the sets say so the upgrade is history. The pool changes to what
     * its new builds speak and write later, when all have known that for long enough. It ends with all members that run the image
     * ready at a time; where they never are in the time of a step, it has failed.
     */
    private RollPlan finalising(RollStatus roll) {
        List<Member> fallen = view.behind(ImageGoal.upgrade(roll.image(), 0, false, false, false))
                .fallen();
        if (!fallen.isEmpty() && view.isOverdue(roll.since())) {
            return turnsBack(roll, RollWords.fallen(fallen.getFirst()));
        }
        boolean kept = images.stable().equals(roll.image());
        boolean done = kept && fallen.isEmpty() && new Finalising(view).action().isEmpty();
        Optional<RollStatus> next = done ? Optional.empty() : Optional.of(fallen.isEmpty() ? inTime(roll) : roll);
        String waits = fallen.isEmpty()
                ? "is being finished"
                : "is finished when it is ready: " + RollWords.fallen(fallen.getFirst());
        Finding finding = done ? words.none() : RollWords.upgrading(roll, waits);
        return kept ? finalised(next, roll.image(), finding) : new RollPlan(next, roll.image(), finding);
    }

    private RollPlan finalised(Optional<RollStatus> next, String image, Finding finding) {
        Finalising finalising = new Finalising(view);
        return new RollPlan(next, image, finding)
                .with(finalising.action().stream().toList())
                .with(finalising.pending());
    }

    /** What was emptied for it meanwhile may be written as the image to go back to cannot read it, so its mode stays. */
    private RollStatus beginningAgain(RollStatus roll) {
        return new RollStatus(
                        images.wanted(), roll.from(), RollPhase.PREFLIGHT, roll.mode(), now, null, roll.mastersFrom())
                .asked(view.retry().orElse(null));
    }

    /** A person asks to try it again, and did so after it began. */
    private boolean isAskedAgain(RollStatus roll) {
        return view.retry().filter(text -> !text.equals(roll.retry())).isPresent();
    }

    /** One that has failed, or was refused, and is tried again. */
    private RollPlan triedAgain(RollStatus roll) {
        if (view.options().paused()) {
            return stays(roll, RollWords.triedAgain(roll));
        }
        // What the Job answered before is no answer now.
        return view.preflight().isPresent()
                ? upgrading(roll, "is about to be tried again")
                : upgrading(beginningAgain(roll), "is tried again");
    }

    private RollPlan blocked(RollStatus roll) {
        if (isAskedAgain(roll)) {
            return triedAgain(roll);
        }
        boolean again = !view.options().paused()
                && Duration.between(Instant.parse(roll.since()), view.now()).compareTo(ASK_AGAIN) >= 0;
        RollStatus next = again ? roll.in(RollPhase.PREFLIGHT, now, roll.reason()) : roll;
        return stays(next, words.blocked(roll));
    }

    private RollPlan failed(RollStatus roll) {
        Behind behind = view.behind(
                ImageGoal.back(roll.wayBackOfMasters(), roll.from(), roll.mode() == RollMode.DRAINED, false));
        boolean isBack = behind.steppable().stream().anyMatch(member -> roll.mastersFrom() == null || !member.master());
        if (isBack) {
            return turnsBack(roll, roll.reason());
        }
        if (isAskedAgain(roll)) {
            return triedAgain(roll);
        }
        return stays(roll, RollWords.failed(roll).and(behind.leftOutSentence()));
    }

    /** The preflight Job stays, and brings the image to these Kubernetes nodes. */
    private RollPlan asking(RollStatus roll, List<String> pulls, String what) {
        return upgrading(roll, what)
                .asking(new PreflightQuestion(
                        roll.image(), view.asked().stream().map(Member::pod).toList(), pulls));
    }

    private RollPlan turnsBack(RollStatus roll, String why) {
        RollStatus back = roll.in(RollPhase.GOING_BACK, now, why);
        return stays(back, RollWords.goingBack(back));
    }

    /**
     * @param what the end of the sentence
     */
    private RollPlan upgrading(RollStatus next, String what) {
        return stays(next, RollWords.upgrading(next, what));
    }

    /** The pool stays at the image that it had before. */
    private RollPlan stays(RollStatus next, Finding finding) {
        return new RollPlan(Optional.of(next), next.from(), finding);
    }
}
