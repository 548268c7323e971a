// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.RollStepStatus;
import dev.kvpool.operator.master.PoolReport;
import java.util.List;
import java.util.Optional;

/** Who is not well, other than those that steps are about: how much may still be taken away depends on it. */
final class Health {
    private final RollView view;
    private final List<RollStepStatus> underWay;
    private final boolean back;

    /**
     * @param back whether the pool goes back, which does not wait for dead machines
     */
    Health(RollView view, List<RollStepStatus> underWay, boolean back) {
        this.view = view;
        this.underWay = List.copyOf(underWay);
        this.back = back;
    }

    /**
     * Why no step is begun for the sake of masters. One whose machine is dead, or for which there is none, is waited for only as long as
     * there is nobody but the leader.
     */
    Optional<String> master() {
        Optional<Instance> standby = view.masters().stream()
                .filter(master -> !view.leads(master.pod()) && isWell(master))
                .filter(master -> new WarmMasters(view).lack(master.pod()).isEmpty())
                .findFirst();
        return view.masters().stream()
                .filter(master -> !isWell(master) && !isUnderWay(master))
                .filter(master -> !master.isGone() || standby.isEmpty())
                .findFirst()
                .map(master -> "master " + master.pod() + " is not ready" + because(whyNot(master))
                        + (master.isGone() ? ", and no other standby knows what the leader knows" : ""));
    }

    private boolean isWell(Instance master) {
        return master.ready() && !master.leaving() && view.answering().contains(master.pod());
    }

    /** Storage nodes that are not there, by id. One that never was, as there is no node for it, is not missed. */
    List<Instance> storage() {
        return view.storage().stream()
                .filter(node -> !serves(node) && !isUnderWay(node))
                .filter(node -> node.started() || node.where() != Instance.Where.WITHOUT_NODE)
                .filter(node -> !back || !node.isGone())
                .toList();
    }

    boolean serves(Instance node) {
        return node.ready()
                && !node.leaving()
                && view.node(node).filter(PoolReport.Node::ready).isPresent();
    }

    /** That a storage node is not there, as a part of a sentence. */
    String isNotReady(Instance node) {
        String why = whyNot(node);
        String seen = view.node(node)
                .map(it -> it.state() + (it.reason().isEmpty() ? "" : ", " + it.reason()))
                .orElse("unknown to the leader");
        return "storage node " + node.id() + " is not ready" + because(why.isEmpty() ? seen : why);
    }

    boolean isUnderWay(Instance instance) {
        return underWay.stream().anyMatch(instance::isSubjectOf);
    }

    private static String whyNot(Instance instance) {
        return instance.isGone() ? instance.why() : instance.trouble();
    }

    private static String because(String why) {
        return why.isEmpty() ? "" : " (" + why + ")";
    }
}
