// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.Parentheses;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Members that do not run the image yet, by what is done about them. Storage nodes that the spec does not want are left alone: they go.
 */
public final class Behind {
    private enum Standing {
        /** A step may begin about it. */
        STEP,
        /** The upgrade waits for it. */
        WAITED,
        /** It never ran, and takes the image at once: there is nothing to lose and nothing to wait for. */
        FRESH,
        /** Its Kubernetes node is lost, or it finds none: it follows when it is back. */
        LEFT_OUT,
        /** It runs the image and is not ready, or not any more: where it stays so, the upgrade has failed. */
        FALLEN,
        DONE
    }

    private final ImageGoal goal;
    private final boolean mayLoseBytes;
    private final Map<Standing, List<Member>> members;
    private final boolean keepsSome;

    public Behind(TransitionView view, ImageGoal goal) {
        this.goal = goal;
        this.mayLoseBytes = view.terms().mayLoseBytes();
        List<Member> storage = view.members().storage().stream()
                .filter(node -> !view.goals().unwanted().containsKey(node.id()))
                .toList();
        this.members = Stream.concat(
                        view.members().masters().stream(), storage.stream().skip(goal.keep()))
                .collect(Collectors.groupingBy(this::standing));
        this.keepsSome = storage.stream().limit(goal.keep()).anyMatch(node -> !node.runs(goal.storage()));
    }

    private Standing standing(Member member) {
        if (member.runs(goal.of(member.master()))) {
            // On the way back a step is there until it works.
            boolean falls = !goal.back() && member.isThere() && !member.ready() && !member.isGone();
            return falls ? Standing.FALLEN : Standing.DONE;
        }
        if (!member.started() && !member.leaving()) {
            return isFull(member) ? Standing.LEFT_OUT : Standing.FRESH;
        }
        if (member.isGone()) {
            return Standing.LEFT_OUT;
        }
        // A segment that outlives its pod would be met by the new one.
        boolean mayBeReplaced = mayLoseBytes && !member.outlives();
        return member.leaving() || (isFull(member) && !member.ready() && !mayBeReplaced)
                ? Standing.WAITED
                : Standing.STEP;
    }

    private List<Member> members(Standing standing) {
        return members.getOrDefault(standing, List.of());
    }

    public List<Member> fallen() {
        return members(Standing.FALLEN);
    }

    public List<Member> steppable() {
        return members(Standing.STEP);
    }

    List<Member> waited() {
        return members(Standing.WAITED);
    }

    /** Those that never ran get the image without a step. */
    public List<Action> unasked() {
        return members(Standing.FRESH).stream()
                .map(member -> Action.setImage(member, goal.of(member.master())))
                .toList();
    }

    /** Nothing is left for which the upgrade waits. */
    public boolean isEmpty() {
        return steppable().isEmpty() && waited().isEmpty() && fallen().isEmpty();
    }

    /** Some storage nodes keep what they run, and that is another image. */
    public boolean keepsSome() {
        return keepsSome;
    }

    /** One that holds what the image may be unable to read. */
    boolean isFull(Member member) {
        return goal.careful() && !member.master() && !member.holdsNothing();
    }

    /** That it waits for the spec, or for a person; the end of a sentence about one that is not ready. */
    String remedy(Member member) {
        return waited().contains(member) && !member.leaving()
                ? ", so that it cannot be emptied, and what it holds may be unreadable for the other image: let it get ready"
                        + (member.outlives() ? "" : ", or set spec.onDataLoss to Replace")
                : "";
    }

    /** Those that are left out and why, as a sentence; empty when none is. */
    public String leftOutSentence() {
        List<String> names = members(Standing.LEFT_OUT).stream()
                .map(member -> member.pod() + Parentheses.of(member.why()))
                .toList();
        return names.isEmpty()
                ? ""
                : "Left out, until %s back: %s."
                        .formatted(names.size() == 1 ? "it is" : "they are", NameList.of(names));
    }
}
