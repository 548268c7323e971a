// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.RollStepKind;
import dev.kvpool.api.v1alpha1.RollStepStatus;
import dev.kvpool.operator.master.PoolReport;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Which steps are begun next, if any. */
final class Choice {
    private final RollView view;
    private final Behind behind;
    private final boolean drained;
    private final List<RollStepStatus> underWay;
    private final Health health;

    /**
     * @param drained whether a storage node is emptied before
     * @param back whether the pool goes back
     * @param underWay steps that go on
     */
    Choice(RollView view, Behind behind, boolean drained, boolean back, List<RollStepStatus> underWay) {
        this.view = view;
        this.behind = behind;
        this.drained = drained;
        this.underWay = List.copyOf(underWay);
        this.health = new Health(view, underWay, back);
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

    Next next() {
        Optional<Instance> broken = behind.steppable().stream()
                .filter(instance -> !instance.ready() && !health.isUnderWay(instance))
                .findFirst();
        if (broken.isPresent() && underWay.size() < view.options().maxUnavailable()) {
            return begin(
                    broken.get(),
                    drained && behind.isMadeAnew(broken.get()) ? RollStepKind.REPLACE : RollStepKind.RESTART);
        }
        Optional<String> trouble = trouble();
        if (trouble.isPresent()) {
            return Next.waitFor(trouble.get());
        }
        if (underWay.stream().anyMatch(step -> view.isMaster(step.pod()))) {
            return Next.waitFor("one master at a time, and none beside a storage node");
        }
        List<Instance> masters = behind.steppable().stream()
                .filter(instance -> view.isMaster(instance.pod()))
                .toList();
        if (!masters.isEmpty()) {
            return underWay.isEmpty() ? master(masters) : Next.waitFor("storage nodes that are under way come first");
        }
        return storage();
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

    private Next storage() {
        List<Instance> away = health.storage();
        int room = view.options().maxUnavailable() - underWay.size() - away.size();
        if (drained) {
            room = Math.min(room, roomToEmpty());
        }
        List<RollStepStatus> steps = behind.steppable().reversed().stream()
                .filter(node -> health.serves(node) && !health.isUnderWay(node))
                .limit(Math.max(0, room))
                .map(node -> Steps.begin(view, node, drained ? RollStepKind.DRAIN : RollStepKind.RESTART))
                .toList();
        return new Next(
                steps, away.isEmpty() ? "the budget of spec.upgrade.maxUnavailable" : isNotReady(away.getFirst()));
    }

    /**
     * How many more storage nodes can be emptied: at least as many others stay ready to take what they hold, else nothing could be
     * moved, and nothing new be put anywhere. The only one there is can be tried alone.
     */
    private int roomToEmpty() {
        if (underWay.isEmpty() && view.storage().size() == 1) {
            return 1;
        }
        int emptied = (int) underWay.stream()
                .filter(step -> step.kind() == RollStepKind.DRAIN)
                .count();
        int takers = (int) view.storage().stream()
                .filter(node -> !health.isUnderWay(node))
                .filter(node -> view.node(node).filter(PoolReport.Node::ready).isPresent())
                .count();
        return (takers - emptied) / 2;
    }

    private Next begin(Instance instance, RollStepKind kind) {
        return new Next(List.of(Steps.begin(view, instance, kind)), "");
    }

    /** Why nothing more is taken away. */
    private Optional<String> trouble() {
        if (view.leader().isEmpty()) {
            return Optional.of("no master leads and serves");
        }
        if (!view.emptiedFirst().isEmpty()) {
            return Optional.of("storage node %s is emptied first, as its node of the cluster is cordoned"
                    .formatted(view.emptiedFirst().getFirst()));
        }
        Optional<String> master = health.master();
        if (master.isPresent()) {
            return master;
        }
        List<Instance> away = health.storage();
        int most = view.options().maxUnavailable();
        return away.size() < most
                ? Optional.empty()
                : Optional.of(isNotReady(away.getFirst())
                        + (away.getFirst().isGone()
                                ? "; with spec.upgrade.maxUnavailable above %d others go over meanwhile"
                                        .formatted(away.size())
                                : ""));
    }

    private String isNotReady(Instance node) {
        return health.isNotReady(node) + behind.wayOut(node);
    }
}
