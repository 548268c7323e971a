// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.PortsSpec;
import dev.kvpool.api.v1alpha1.StorageSetSpec;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.NodePorts;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.PortClaim;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * Which ports the storage nodes of each set, and agents, listen on. On the network of pods all use the same; on the network of nodes
 * each set of each pool has ports of its own, so that any two storage nodes may share a node. A set keeps its ports. Pure.
 */
public final class PortPlan {
    private final PoolObservation seen;
    private final TransferEngineSpec engine;
    private final List<PortClaim> own = new ArrayList<>();
    private final List<PortClaim> others = new ArrayList<>();
    private final Map<String, NodePorts> ports = new LinkedHashMap<>();
    private final List<String> without = new ArrayList<>();

    private PortPlan(PoolObservation seen) {
        this.seen = seen;
        this.engine = seen.engine().map(TransferEngine::getSpec).orElse(TransferEngineSpec.DEFAULTS);
        for (PortClaim claim : seen.portClaims()) {
            (claim.owner().equals(me()) ? own : others).add(claim);
        }
    }

    public static PortPlan of(PoolObservation seen) {
        PortPlan plan = new PortPlan(seen);
        for (StorageSetSpec set : seen.spec().storage()) {
            plan.give(
                    set.name(),
                    (set.perNode() == null ? "StatefulSet/" : "DaemonSet/")
                            + seen.names().storageSet(set.name()),
                    PoolNames.NODE_ADMIN_PORT,
                    () -> plan.hasRun(set));
        }
        if (plan.engine.agents() != null) {
            // They hold nothing that would be lost, so they move whenever somebody else has theirs.
            plan.give(PoolNames.AGENT, "DaemonSet/" + seen.names().agents(), PoolNames.AGENT_ADMIN_PORT, () -> false);
        }
        return plan;
    }

    private void give(String user, String workload, int adminPort, BooleanSupplier stays) {
        if (!engine.hostNetwork()) {
            ports.put(user, new NodePorts(engine.ports().base(), adminPort));
            return;
        }
        kept(workload, stays)
                .or(this::free)
                .ifPresentOrElse(found -> ports.put(user, found), () -> without.add(words(user)));
    }

    private static String words(String user) {
        return user.equals(PoolNames.AGENT) ? "the agents" : "storage set " + user;
    }

    /** Ports by name of the set; those of the agents, which use the second only, by {@link PoolNames#AGENT}. */
    public Map<String, NodePorts> ports() {
        return Map.copyOf(ports);
    }

    /** Why a set has none; empty when all have some. */
    Optional<Finding> problem() {
        if (without.isEmpty()) {
            return Optional.empty();
        }
        int first = engine.ports().base();
        return Optional.of(new Finding(
                Reason.PORT_RANGE_TOO_SMALL,
                ("TransferEngine %s has ports %d to %d: two for each storage set of the pools that use it with"
                                + " hostNetwork, and for their agents. None are left for %s. Raise ports.count to %d or more, or use a"
                                + " transfer engine with other ports.")
                        .formatted(
                                seen.spec().transferEngine(),
                                first,
                                first + count() - 1,
                                NameList.of(without),
                                count() + NodePorts.EACH * without.size())));
    }

    /** The ports the set has, unless another pool took the same in the same moment and this one can still move. */
    private Optional<NodePorts> kept(String workload, BooleanSupplier stays) {
        return own.stream()
                .filter(claim -> claim.workload().equals(workload))
                .map(PortClaim::ports)
                .filter(claimed -> claimed.isWithin(engine.ports().base(), count()))
                .filter(claimed ->
                        stays.getAsBoolean() || others.stream().noneMatch(other -> goesFirst(other, claimed)))
                .findFirst();
    }

    private boolean hasRun(StorageSetSpec set) {
        return seen.podsOfSet(set.name(), set.perNode() != null).stream().anyMatch(ObservedPod::started);
    }

    private boolean goesFirst(PortClaim other, NodePorts claimed) {
        return other.ports().meets(claimed) && other.owner().compareTo(me()) < 0;
    }

    /** The lowest pair that nobody has, removed sets included. */
    private Optional<NodePorts> free() {
        return IntStream.range(0, count() / NodePorts.EACH)
                .mapToObj(slot -> NodePorts.from(engine.ports().base() + NodePorts.EACH * slot))
                .filter(pair -> ports.values().stream().noneMatch(pair::meets))
                .filter(pair -> seen.portClaims().stream()
                        .noneMatch(claim -> claim.ports().meets(pair)))
                .findFirst();
    }

    private int count() {
        return Objects.requireNonNullElse(engine.ports().count(), PortsSpec.COUNT_DEFAULT);
    }

    private String me() {
        return PortClaim.ownerOf(seen.names().namespace(), seen.names().pool());
    }
}
