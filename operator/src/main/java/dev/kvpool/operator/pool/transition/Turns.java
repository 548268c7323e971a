// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.DataLossPolicy;
import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.storage.NumberedSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Which of the pods whose settings are outdated are made anew now, of all storage sets together: copies of an object may lie in two of
 * them. As many storage nodes may be away as in an upgrade, whatever they are away for, and a node is back when the leader says so;
 * a ready pod alone may still be reading its segment. Masters come first, so that no takeover meets a node that is away. Pure.
 */
public final class Turns {
    private final PoolObservation seen;
    private final List<ObservedPod> candidates;
    private final Set<String> away = new TreeSet<>();

    private Turns(PoolObservation seen, List<ObservedPod> candidates) {
        this.seen = seen;
        this.candidates = candidates;
    }

    /**
     * Decides.
     *
     * @param candidates pods that are to be made anew and hold something
     * @param others pods that are made anew now and hold nothing
     * @param expected ids of all storage nodes that the pool shall have now
     */
    public static List<ObservedPod> next(
            List<ObservedPod> candidates, List<ObservedPod> others, Collection<String> expected, PoolObservation seen) {
        if (candidates.isEmpty() || lossy(candidates, seen).isPresent() || aMasterComesFirst(seen)) {
            return List.of();
        }
        Turns turns = new Turns(seen, candidates);
        expected.stream().filter(id -> !turns.isThere(id)).forEach(turns.away::add);
        others.stream().map(ObservedPod::nodeId).forEach(turns.away::add);
        seen.status().drains().stream()
                .filter(drain -> Set.of(DrainPhase.KEPT, DrainPhase.EMPTY, DrainPhase.DROPPED)
                        .contains(drain.phase()))
                .map(DrainStatus::node)
                .forEach(turns.away::add);
        return turns.take();
    }

    /** That what was made anew has lost something, so that no other one is. */
    public static Optional<String> heldBack(List<ObservedPod> candidates, PoolObservation seen) {
        return lossy(candidates, seen)
                .map(node ->
                        ("%s came back without %d of its objects, so %s %s earlier settings. Its log says why. When that is put right,"
                                        + " another leader goes on from what is there: kubectl kvpool failover %s -n %s. spec.onDataLoss Replace goes"
                                        + " on whatever is lost.")
                                .formatted(
                                        node.id(),
                                        node.lostAtReturn(),
                                        BytesAtStake.names(candidates),
                                        candidates.size() == 1 ? "keeps" : "keep",
                                        seen.pool().getMetadata().getName(),
                                        seen.pool().getMetadata().getNamespace()));
    }

    /**
     * One of the same sets that is back with less than it had. The leader says so until the node's next start, of any node and whatever
     * that was started for: a loss in a set that is left alone says nothing about the settings of others.
     */
    private static Optional<PoolReport.Node> lossy(List<ObservedPod> candidates, PoolObservation seen) {
        if (candidates.isEmpty() || seen.spec().onDataLoss() == DataLossPolicy.REPLACE) {
            return Optional.empty();
        }
        Set<String> ids = candidates.stream().map(ObservedPod::nodeId).collect(Collectors.toSet());
        Set<String> besides = candidates.stream()
                .flatMap(pod -> seen.podsOfSet(pod.set(), pod.perNode()).stream())
                .map(ObservedPod::nodeId)
                .collect(Collectors.toSet());
        return seen.leaderReport().stream()
                .flatMap(report -> report.nodes().stream())
                .filter(node -> !ids.contains(node.id()) && besides.contains(node.id()))
                .filter(node -> node.lostAtReturn() != null && node.lostAtReturn() > 0)
                .findFirst();
    }

    /** Those that are broken go first, as nothing becomes worse by it, and one after the other all the same: they may be waiting. */
    private List<ObservedPod> take() {
        List<ObservedPod> broken =
                candidates.stream().filter(pod -> !pod.ready()).toList();
        if (!broken.isEmpty()) {
            broken.forEach(pod -> away.remove(pod.nodeId()));
            return taken(broken);
        }
        return seen.leaderReport().isEmpty() ? List.of() : taken(candidates);
    }

    private List<ObservedPod> taken(List<ObservedPod> wanted) {
        List<ObservedPod> taken = new ArrayList<>();
        for (ObservedPod pod : wanted) {
            Set<String> others = new TreeSet<>(away);
            others.remove(pod.nodeId());
            if (others.size() < seen.spec().upgrade().maxUnavailable()) {
                taken.add(pod);
                away.add(pod.nodeId());
            }
        }
        return taken;
    }

    private boolean isThere(String id) {
        boolean serves = seen.leaderReport()
                .map(report ->
                        report.nodes().stream().anyMatch(node -> node.id().equals(id) && node.serves()))
                .orElse(true);
        return serves
                && seen.pods(PoolLabels.ROLE_STORAGE).stream()
                        .anyMatch(pod -> pod.nodeId().equals(id) && pod.ready() && !pod.leaving());
    }

    /** One that cannot be started at all does not count: it may wait for a long time. */
    private static boolean aMasterComesFirst(PoolObservation seen) {
        List<ObservedPod> masters = seen.pods(PoolLabels.ROLE_MASTER);
        int wanted = seen.children().stream()
                .filter(child -> child instanceof StatefulSet
                        && child.getMetadata().getName().equals(seen.names().masters()))
                .mapToInt(child -> NumberedSet.replicasOf((StatefulSet) child))
                .findFirst()
                .orElse(0);
        return masters.size() < wanted
                || masters.stream().anyMatch(master -> master.leaving() || (master.started() && !master.ready()))
                || !OutdatedMasters.next(seen).isEmpty();
    }
}
