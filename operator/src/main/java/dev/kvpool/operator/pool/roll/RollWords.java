// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.storage.RollMode;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.Parentheses;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What condition UpgradeBlocked says, and events of the same matter. */
public final class RollWords {
    private static final String RETRY = "kubectl kvpool retry";

    private final RollView view;
    private final RollView.Images images;

    RollWords(RollView view) {
        this.view = view;
        this.images = view.images();
    }

    Finding none() {
        String offer = images.offered()
                .map(image -> "The operator would now make new pools with %s; set spec.version to upgrade to it."
                        .formatted(image))
                .orElse("");
        Finalising finalising = new Finalising(view);
        String later = finalising.heldBack().or(finalising::announced).orElse("");
        return new Finding(Reason.NO_UPGRADE, "The pool runs %s.".formatted(images.stable()))
                .and(later)
                .and(offer);
    }

    /** Of an upgrade of which nothing is done now. */
    Finding atRest(RollStatus roll) {
        return switch (roll.phase()) {
            case BLOCKED -> blocked(roll);
            case FAILED -> failed(roll);
            case PREFLIGHT, ROLLING, FINALISING, GOING_BACK ->
                new Finding(Reason.UPGRADE_PAUSED, rolls(roll) + " It waits, as nothing of the pool is changed now.");
        };
    }

    /**
     * @param what the end of the sentence
     */
    static Finding upgrading(RollStatus roll, String what) {
        return new Finding(
                Reason.UPGRADING, "The upgrade from %s to %s %s.".formatted(roll.from(), roll.image(), what.strip()));
    }

    /** What the pool is upgraded to, as a sentence. */
    static String rolls(RollStatus roll) {
        if (isAboutStragglers(roll)) {
            return "Those that were left out are upgraded to %s, %s.".formatted(roll.image(), manner(roll));
        }
        return "The pool is upgraded from %s to %s, %s.".formatted(roll.from(), roll.image(), manner(roll));
    }

    /** Of an upgrade that brings over those left out of an earlier one. */
    public static boolean isAboutStragglers(RollStatus roll) {
        return roll.from().equals(roll.image());
    }

    /** That one which was upgraded is not ready, as a part of a sentence. */
    static String fallen(Member member) {
        return "%s was upgraded and is not ready%s".formatted(member.pod(), Parentheses.of(member.trouble()));
    }

    /** Masters that a preflight does not ask, as the end of a sentence. */
    String unasked() {
        return unasked(false, "which does not run") + unasked(true, "whose Kubernetes node is not ready");
    }

    private String unasked(boolean lost, String why) {
        List<String> out = view.members().masters().stream()
                .filter(master -> !view.asked().contains(master))
                .filter(master -> (master.where() == Member.Where.ON_LOST_NODE) == lost)
                .map(Member::pod)
                .toList();
        return out.isEmpty() ? "" : ", without asking %s, %s".formatted(NameList.of(out), why);
    }

    private static String manner(RollStatus roll) {
        return roll.mode() == RollMode.DRAINED ? "each storage node emptied before" : "warm";
    }

    Finding blocked(RollStatus roll) {
        return new Finding(
                Reason.VERSION_REFUSED,
                "%s: %s cannot follow it: %s. Set spec.version or spec.image to one that can, or back; this is looked at again every few minutes, and at once after %s."
                        .formatted(stays(roll), roll.image(), roll.reason(), RETRY));
    }

    /** An upgrade that was begun before, or a rescue, may have given some of the pool other images. */
    private String stays(RollStatus roll) {
        Map<String, List<String>> others = view.members()
                .all()
                .filter(instance -> !instance.runs(roll.from()))
                .collect(Collectors.groupingBy(
                        Member::image, TreeMap::new, Collectors.mapping(Member::pod, Collectors.toList())));
        if (others.isEmpty()) {
            return "The pool stays at %s and nothing was restarted".formatted(roll.from());
        }
        List<String> parts = new ArrayList<>();
        others.forEach((image, pods) -> parts.add("%s at %s".formatted(NameList.of(pods), image)));
        boolean all = view.members().all().noneMatch(instance -> instance.runs(roll.from()));
        return "The pool stays as it is, with %s%s"
                .formatted(String.join(" and ", parts), all ? "" : " and everything else at %s".formatted(roll.from()));
    }

    /** Of a pool that goes back. */
    public static Finding goingBack(RollStatus roll) {
        String way = roll.mastersFrom() == null
                ? "The pool goes back from %s to %s".formatted(roll.image(), roll.from())
                : "Storage nodes go back from %s to %s, and masters %s"
                        .formatted(roll.image(), roll.from(), staying(roll));
        return new Finding(Reason.GOING_BACK, "%s: %s.".formatted(way, roll.reason()));
    }

    /** The same while the spec asks for this image. */
    static Finding goingBack(RollStatus roll, String wanted) {
        Finding finding = goingBack(roll);
        boolean third = !wanted.equals(roll.image()) && !wanted.equals(roll.from());
        return third
                ? finding.and(
                        "%s is taken up when the pool is back, or as soon as a step of the way back does not succeed in time."
                                .formatted(wanted))
                : finding;
    }

    /** Of an upgrade that is not begun, since running pods could not pull the image. */
    Finding unpullable() {
        return new Finding(
                Reason.VERSION_REFUSED,
                "The pool stays at %s and nothing was restarted: %s is not begun: %s."
                        .formatted(
                                images.stable(),
                                images.wanted(),
                                images.unpullable().orElseThrow()));
    }

    /** Of an upgrade that failed or was refused, and that a person asks to try again while none may begin. */
    static Finding triedAgain(RollStatus roll) {
        return new Finding(
                Reason.UPGRADE_PAUSED,
                "The upgrade from %s to %s is tried again when spec.upgrade.paused is false. It came to nothing before: %s."
                        .formatted(roll.from(), roll.image(), roll.reason()));
    }

    static Finding failed(RollStatus roll) {
        return new Finding(
                Reason.UPGRADE_FAILED,
                "%s; %s is not tried again by itself: %s. Set spec.version or spec.image to another one, or try this one again with %s."
                        .formatted(backAt(roll), roll.image(), roll.reason(), RETRY));
    }

    /** Where a pool is that went back, as the beginning of a sentence. */
    public static String backAt(RollStatus roll) {
        return roll.mastersFrom() == null
                ? "The pool is back at %s".formatted(roll.from())
                : "Storage nodes are back at %s, and masters %s".formatted(roll.from(), staying(roll));
    }

    private static String staying(RollStatus roll) {
        return "stay at %s, as none of them ran with %s".formatted(roll.mastersFrom(), roll.from());
    }
}
