// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.naming.NameList;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Members that do not run the image yet, by what is done about them. One that never ran takes the image at once: there is nothing to
 * lose and nothing to wait for. One whose Kubernetes node is lost, or that finds none, is left out, and follows when it is back.
 * Storage nodes that the spec does not want are left alone: they go.
 */
public final class Behind {
    private final ImageGoal goal;
    private final boolean mayLoseBytes;
    private final List<Member> steppable = new ArrayList<>();
    private final List<Member> waited = new ArrayList<>();
    private final List<Member> fresh = new ArrayList<>();
    private final List<Member> leftOut = new ArrayList<>();
    private final List<Member> fallen;
    private final boolean keepsSome;

    public Behind(TransitionView view, ImageGoal goal) {
        this.goal = goal;
        this.mayLoseBytes = view.terms().mayLoseBytes();
        List<Member> storage = view.members().storage().stream()
                .filter(node -> !view.goals().unwanted().containsKey(node.id()))
                .toList();
        view.members().masters().stream()
                .filter(master -> !master.runs(goal.masters()))
                .forEach(this::sort);
        storage.stream()
                .skip(goal.keep())
                .filter(node -> !node.runs(goal.storage()))
                .forEach(this::sort);
        this.fallen = Stream.concat(
                        view.members().masters().stream(), storage.stream().skip(goal.keep()))
                .filter(this::isFallen)
                .toList();
        this.keepsSome = storage.stream().limit(goal.keep()).anyMatch(node -> !node.runs(goal.storage()));
    }

    private void sort(Member member) {
        boolean full = !member.master() && goal.careful() && !member.holdsNothing();
        if (!member.started() && !member.leaving()) {
            (full ? leftOut : fresh).add(member);
        } else if (member.isGone()) {
            leftOut.add(member);
        } else if (member.leaving() || (full && !member.ready() && !mayBeReplaced(member))) {
            waited.add(member);
        } else {
            steppable.add(member);
        }
    }

    /** It did run with the image. On the way back a step is there until it works. */
    private boolean isFallen(Member member) {
        return !goal.back()
                && member.runs(goal.of(member.master()))
                && member.started()
                && !member.ready()
                && !member.leaving()
                && !member.isGone();
    }

    /** Those that run the image and are not ready, or not any more: where it stays so, the upgrade has failed. */
    public List<Member> fallen() {
        return fallen;
    }

    /** A step may begin about them. */
    public List<Member> steppable() {
        return List.copyOf(steppable);
    }

    /** The upgrade waits for them. */
    List<Member> waited() {
        return List.copyOf(waited);
    }

    /** Those that never ran get the image without a step. */
    public List<Action> unasked() {
        return fresh.stream()
                .map(member -> (Action) new Action.SetImage(member.pod(), member.uid(), goal.of(member.master())))
                .toList();
    }

    /** Nothing is left for which the upgrade waits. */
    public boolean isEmpty() {
        return steppable.isEmpty() && waited.isEmpty() && fallen.isEmpty();
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
    String wayOut(Member member) {
        return waited.contains(member) && !member.leaving()
                ? ", so that it cannot be emptied, and what it holds may be unreadable for the other image: let it get ready"
                        + (member.outlives() ? "" : ", or set spec.onDataLoss to Replace")
                : "";
    }

    /** Those that are left out and why, as a sentence with a blank before it; empty when none is. */
    public String leftOutSentence() {
        if (leftOut.isEmpty()) {
            return "";
        }
        List<String> names = leftOut.stream()
                .map(member -> member.why().isEmpty() ? member.pod() : member.pod() + " (" + member.why() + ")")
                .toList();
        return " Left out, until %s back: %s.".formatted(names.size() == 1 ? "it is" : "they are", NameList.of(names));
    }

    /** A segment that outlives its pod would be met by the new one. */
    private boolean mayBeReplaced(Member member) {
        return mayLoseBytes && !member.outlives();
    }
}
