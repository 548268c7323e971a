// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.master.PoolReport;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Why a storage node cannot be dealt with now, as the part of a sentence that is empty when it can. */
final class Obstacles {
    private final DrainView view;

    Obstacles(DrainView view) {
        this.view = view;
    }

    /** Why no node is begun to be emptied. */
    String any() {
        if (view.upgrading()) {
            return "a step of an upgrade comes first";
        }
        return view.leader().isEmpty() ? "no master leads and serves" : "";
    }

    /**
     * Why one that the spec wants is not begun to be emptied. As many ready storage nodes as are being emptied stay, also when
     * all nodes of the cluster are cordoned at once: else nothing could be moved, and nothing new be put anywhere.
     *
     * @param next what was decided so far
     */
    String toEmpty(String node, List<DrainStatus> next) {
        if (!any().isEmpty()) {
            return any();
        }
        Set<String> beingEmptied = in(next, DrainPhase.EMPTYING, DrainPhase.LEFTOVERS);
        beingEmptied.remove(node);
        Set<String> goAsTheyAre = in(next, DrainPhase.DROPPED);
        long takers = view.leader().stream()
                .flatMap(report -> report.nodes().stream())
                .filter(it -> it.ready() && !it.isTransient())
                .filter(it ->
                        !it.id().equals(node) && !beingEmptied.contains(it.id()) && !goAsTheyAre.contains(it.id()))
                .count();
        if (takers > beingEmptied.size()) {
            return "";
        }
        return takers == 0
                ? "no other storage node is ready to take what it holds"
                : "as many storage nodes are being emptied as others are ready to take what they hold";
    }

    /** Why one is not begun to be emptied that comes back with other settings: one after the other, and only in a whole pool. */
    String toMakeAnew(String node, List<DrainStatus> next) {
        if (!any().isEmpty()) {
            return any();
        }
        Optional<String> first = Stream.concat(view.status().stream(), next.stream())
                .filter(drain -> Drains.comesBack(drain) && drain.phase() != DrainPhase.WAITING)
                .map(DrainStatus::node)
                .filter(other -> !other.equals(node))
                .findFirst();
        if (first.isPresent()) {
            return first.get() + " is made anew first";
        }
        return view.wanted().stream()
                .filter(other -> !other.equals(node))
                .filter(other ->
                        view.node(other).filter(PoolReport.Node::serves).isEmpty())
                .findFirst()
                .map(other -> other + " does not serve")
                .orElseGet(() -> toEmpty(node, next));
    }

    /** Why the pod of one is not let go that has what it holds on a volume of its own. */
    String toLetGo(String node, List<DrainStatus> next) {
        if (!any().isEmpty()) {
            return any();
        }
        Set<String> away = new TreeSet<>(view.wanted());
        away.removeIf(id -> view.node(id).filter(PoolReport.Node::serves).isPresent());
        away.addAll(in(next, DrainPhase.KEPT));
        away.remove(node);
        return away.size() < view.maxUnavailable()
                ? ""
                : "%d other storage nodes are away or may be evicted, and spec.upgrade.maxUnavailable is %d"
                        .formatted(away.size(), view.maxUnavailable());
    }

    /** In these phases by what the status says or by what was decided so far. */
    private Set<String> in(List<DrainStatus> next, DrainPhase... phases) {
        return Stream.concat(view.status().stream(), next.stream())
                .filter(drain -> List.of(phases).contains(drain.phase()))
                .map(DrainStatus::node)
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
