// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.RollStepKind;
import dev.kvpool.api.v1alpha1.RollStepStatus;
import dev.kvpool.operator.master.PoolReport;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Which steps are begun next, if any. */
final class Choice {
    private final RollView view;
    private final Target target;
    private final boolean drained;

    /** Storage nodes that are to run the target, the first by name left out when the spec wants some kept. */
    private final List<Instance> storage;

    private final int kept;

    Choice(RollView view, Target target, int keep, boolean drained) {
        this.view = view;
        this.target = target;
        this.drained = drained;
        this.kept = Math.min(keep, view.storage().size());
        this.storage = view.storage().subList(kept, view.storage().size());
    }

    /**
     * What is begun.
     *
     * @param waitsFor why nothing is, as a part of a sentence
     */
    record Next(List<RollStepStatus> steps, String waitsFor) {
        static Next waitFor(String what) {
            return new Next(List.of(), what);
        }
    }

    /** Everything that is still to be brought to the target. */
    List<Instance> pending() {
        return Stream.concat(
                        view.masters().stream().filter(master -> !master.runs(target.masters())),
                        storage.stream().filter(node -> !node.runs(target.storage())))
                .toList();
    }

    /** Whether the upgrade cannot be finished, because the spec wants some storage nodes kept. */
    boolean keepsSome() {
        return view.storage().subList(0, kept).stream().anyMatch(node -> !node.runs(target.storage()));
    }

    String kept() {
        return "The first %d storage nodes keep the version they run: spec.upgrade.partition is %d."
                .formatted(kept, kept);
    }

    Next next(List<RollStepStatus> underWay) {
        Optional<Instance> broken = pending().stream()
                .filter(instance -> !instance.ready() && !isUnderWay(instance, underWay))
                .findFirst();
        if (broken.isPresent() && underWay.size() < view.options().maxUnavailable()) {
            return begin(broken.get(), RollStepKind.RESTART);
        }
        Optional<String> trouble = trouble(underWay);
        if (trouble.isPresent()) {
            return Next.waitFor(trouble.get());
        }
        if (underWay.stream().anyMatch(step -> view.isMaster(step.pod()))) {
            return Next.waitFor("one master at a time, and none beside a storage node");
        }
        List<Instance> masters = view.masters().stream()
                .filter(master -> !master.runs(target.masters()))
                .toList();
        if (!masters.isEmpty()) {
            return underWay.isEmpty() ? master(masters) : Next.waitFor("storage nodes that are under way come first");
        }
        return storage(underWay);
    }

    private Next master(List<Instance> pending) {
        Optional<Instance> standby =
                pending.stream().filter(master -> !view.leads(master.pod())).max(Comparator.comparing(Instance::pod));
        if (standby.isPresent()) {
            return begin(standby.get(), RollStepKind.RESTART);
        }
        boolean alone = view.masters().size() == 1;
        Optional<String> cold = new WarmMasters(view).lack();
        if (cold.isPresent()) {
            return Next.waitFor(cold.get());
        }
        return begin(pending.getFirst(), alone ? RollStepKind.RESTART : RollStepKind.HAND_OVER);
    }

    private Next storage(List<RollStepStatus> underWay) {
        int room = view.options().maxUnavailable() - underWay.size();
        if (drained) {
            room = Math.min(room, roomToEmpty(underWay));
        }
        List<RollStepStatus> steps = storage.reversed().stream()
                .filter(node -> !node.runs(target.storage()) && !isUnderWay(node, underWay))
                .limit(Math.max(0, room))
                .map(node -> Steps.begin(view, node, drained ? RollStepKind.DRAIN : RollStepKind.RESTART))
                .toList();
        return new Next(steps, "the budget of spec.upgrade.maxUnavailable");
    }

    /**
     * How many more storage nodes can be emptied: at least as many others stay ready to take what they hold, else nothing could be
     * moved, and nothing new be put anywhere. The only one there is can be tried alone.
     */
    private int roomToEmpty(List<RollStepStatus> underWay) {
        if (underWay.isEmpty() && view.storage().size() == 1) {
            return 1;
        }
        int emptied = (int) underWay.stream()
                .filter(step -> step.kind() == RollStepKind.DRAIN)
                .count();
        int takers = (int) view.storage().stream()
                .filter(node -> !isUnderWay(node, underWay))
                .filter(node -> view.node(node).filter(PoolReport.Node::ready).isPresent())
                .count();
        return (takers - emptied) / 2;
    }

    private Next begin(Instance instance, RollStepKind kind) {
        return new Next(List.of(Steps.begin(view, instance, kind)), "");
    }

    /** What is not well, other than what steps are about: then nothing more is taken away. */
    private Optional<String> trouble(List<RollStepStatus> underWay) {
        if (view.leader().isEmpty()) {
            return Optional.of("no master leads and serves");
        }
        if (!view.emptiedFirst().isEmpty()) {
            return Optional.of("storage node %s is emptied first, as its node of the cluster is cordoned"
                    .formatted(view.emptiedFirst().getFirst()));
        }
        for (Instance master : view.masters()) {
            boolean well =
                    master.ready() && !master.leaving() && view.answering().contains(master.pod());
            if (!well && !isUnderWay(master, underWay)) {
                return Optional.of("master " + master.pod() + " is not ready" + because(master.trouble()));
            }
        }
        for (Instance node : view.storage()) {
            Optional<PoolReport.Node> seen = view.node(node);
            boolean well = node.ready()
                    && !node.leaving()
                    && seen.filter(PoolReport.Node::ready).isPresent();
            if (!well && !isUnderWay(node, underWay)) {
                String why = node.trouble().isEmpty()
                        ? seen.map(it -> it.state() + (it.reason().isEmpty() ? "" : ", " + it.reason()))
                                .orElse("unknown to the leader")
                        : node.trouble();
                return Optional.of("storage node " + node.id() + " is not ready" + because(why));
            }
        }
        return Optional.empty();
    }

    private static String because(String why) {
        return why.isEmpty() ? "" : " (" + why + ")";
    }

    private static boolean isUnderWay(Instance instance, List<RollStepStatus> underWay) {
        return underWay.stream().anyMatch(instance::isSubjectOf);
    }
}
