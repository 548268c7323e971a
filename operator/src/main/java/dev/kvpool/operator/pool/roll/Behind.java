// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.NameList;
import java.util.ArrayList;
import java.util.List;

/**
 * Who does not run the target yet, by what is done about it. Whoever never ran takes the image unasked: there is nothing to lose and
 * nothing to wait for. Whose machine is dead, or for whom there is none, is left out, and goes over when it is back.
 */
final class Behind {
    private final RollView view;
    private final boolean careful;
    private final List<Instance> steppable = new ArrayList<>();
    private final List<Instance> waited = new ArrayList<>();
    private final List<Instance> fresh = new ArrayList<>();
    private final List<Instance> leftOut = new ArrayList<>();

    /**
     * @param keep how many storage nodes, the first by name, keep what they run
     * @param careful whether the target may be unable to read what a storage node holds, so that one which nobody can ask or empty is
     *     not touched
     */
    Behind(RollView view, Target target, int keep, boolean careful) {
        this.view = view;
        this.careful = careful;
        view.masters().stream().filter(master -> !master.runs(target.masters())).forEach(this::sort);
        view.storage().stream()
                .skip(keep)
                .filter(node -> !node.runs(target.storage()))
                .forEach(this::sort);
    }

    /** With an upgrade over, whoever was left out and still runs something else: nobody has asked whether its segment can be read. */
    static Behind finished(RollView view) {
        return new Behind(view, Target.of(view.wanted()), 0, true);
    }

    private void sort(Instance instance) {
        boolean storage = !view.isMaster(instance.pod());
        boolean full = storage && careful && !holdsNothing(instance);
        if (!instance.started() && !instance.leaving()) {
            (full ? leftOut : fresh).add(instance);
        } else if (instance.isGone()) {
            leftOut.add(instance);
        } else if (instance.leaving() || (full && !instance.ready() && !mayBeMadeAnew(instance))) {
            waited.add(instance);
        } else {
            steppable.add(instance);
        }
    }

    /** A step may be begun about them. */
    List<Instance> steppable() {
        return steppable;
    }

    /** Brought over without a step. */
    List<RollAction> unasked(Target target) {
        return fresh.stream()
                .map(instance -> (RollAction) new RollAction.SetImage(
                        instance.pod(), instance.uid(), target.of(view.isMaster(instance.pod()))))
                .toList();
    }

    /** Nothing is left for which the upgrade waits. */
    boolean isNobody() {
        return steppable.isEmpty() && waited.isEmpty();
    }

    /** One that is not ready and, if it was in the way of nothing else, would have to be made anew with what it holds. */
    boolean isMadeAnew(Instance instance) {
        return careful && !view.isMaster(instance.pod()) && !holdsNothing(instance);
    }

    /** That it waits for the spec, or for a person; the end of a sentence about one that is not ready. */
    String wayOut(Instance instance) {
        return waited.contains(instance) && !instance.leaving()
                ? ", so that it cannot be emptied, and what it holds may be unreadable for the other image: let it get ready"
                        + (instance.outlives() ? "" : ", or set spec.onDataLoss to Replace")
                : "";
    }

    /** Who is left out and why, as a sentence with a blank before it; empty when nobody is. */
    String leftOutSentence() {
        if (leftOut.isEmpty()) {
            return "";
        }
        List<String> names = leftOut.stream()
                .map(instance ->
                        instance.why().isEmpty() ? instance.pod() : instance.pod() + " (" + instance.why() + ")")
                .toList();
        return " Left out, until %s back: %s.".formatted(names.size() == 1 ? "it is" : "they are", NameList.of(names));
    }

    /** Memory is empty before the first process; else the leader must have met the one that is, or was, there. */
    private boolean holdsNothing(Instance instance) {
        return (!instance.started() && !instance.outlives())
                || view.node(instance)
                        .filter(node -> !node.incarnation().isEmpty())
                        .filter(node -> node.objects() == 0 && node.usedBytes() == 0)
                        .map(PoolReport.Node::id)
                        .isPresent();
    }

    /** A segment that outlives its pod would be met by the new one. */
    private boolean mayBeMadeAnew(Instance instance) {
        return view.mayLoseBytes() && !instance.outlives();
    }
}
