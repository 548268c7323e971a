// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.engine.PortsSpec;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
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
    private final List<PortClaim> own = new ArrayList<>();
    private final List<PortClaim> others = new ArrayList<>();
    private final Map<String, NodePorts> ports = new LinkedHashMap<>();
    private final List<NodePorts> givenOnNodes = new ArrayList<>();
    private final Map<TransferEngine, List<String>> without = new LinkedHashMap<>();

    private PortPlan(PoolObservation seen) {
        this.seen = seen;
        for (PortClaim claim : seen.surroundings().portClaims()) {
            (claim.owner().equals(me()) ? own : others).add(claim);
        }
    }

    public static PortPlan of(PoolObservation seen) {
        PortPlan plan = new PortPlan(seen);
        for (StorageSetSpec set : seen.spec().storage()) {
            plan.give(
                    set.name(),
                    seen.engine(set),
                    (set.perNode() == null ? "StatefulSet/" : "DaemonSet/")
                            + seen.names().storageSet(set.name()),
                    PoolNames.NODE_ADMIN_PORT,
                    () -> plan.hasRun(set));
        }
        if (seen.engineSpecs().ofPool().agents() != null) {
            // They hold nothing that would be lost, so they move whenever another set has theirs.
            plan.give(
                    PoolNames.AGENT,
                    seen.engine(),
                    "DaemonSet/" + seen.names().agents(),
                    PoolNames.AGENT_ADMIN_PORT,
                    () -> false);
        }
        return plan;
    }

    private void give(
            String user, Optional<TransferEngine> engine, String workload, int adminPort, BooleanSupplier stays) {
        TransferEngineSpec spec = engine.map(TransferEngine::getSpec).orElse(TransferEngineSpec.DEFAULTS);
        if (!spec.hostNetwork()) {
            ports.put(user, new NodePorts(spec.ports().base(), adminPort));
            return;
        }
        kept(spec.ports(), workload, stays)
                .or(() -> free(spec.ports()))
                .ifPresentOrElse(
                        found -> {
                            ports.put(user, found);
                            givenOnNodes.add(found);
                        },
                        () -> without.computeIfAbsent(engine.orElseThrow(), none -> new ArrayList<>())
                                .add(words(user)));
    }

    private static String words(String user) {
        return user.equals(PoolNames.AGENT) ? "the agents" : "storage set " + user;
    }

    /** Ports by name of the set; those of the agents, which use the second only, by {@link PoolNames#AGENT}. */
    public Map<String, NodePorts> ports() {
        return Map.copyOf(ports);
    }

    /** Why a set has none, for each transfer engine with too few; empty when all have some. */
    List<Finding> problems() {
        return without.entrySet().stream()
                .map(lack -> problem(lack.getKey(), lack.getValue()))
                .toList();
    }

    private static Finding problem(TransferEngine engine, List<String> users) {
        PortsSpec range = engine.getSpec().ports();
        int first = range.base();
        return new Finding(
                Reason.PORT_RANGE_TOO_SMALL,
                ("TransferEngine %s has ports %d to %d: two for each storage set of the pools that use it with"
                                + " hostNetwork, and for their agents. None are left for %s. Raise ports.count to %d or more, or use a"
                                + " transfer engine with other ports.")
                        .formatted(
                                engine.getMetadata().getName(),
                                first,
                                first + count(range) - 1,
                                NameList.of(users),
                                count(range) + NodePorts.EACH * users.size()));
    }

    /** The ports the set has, unless another pool took the same in the same moment and this one can still move. */
    private Optional<NodePorts> kept(PortsSpec range, String workload, BooleanSupplier stays) {
        return own.stream()
                .filter(claim -> claim.workload().equals(workload))
                .map(PortClaim::ports)
                .filter(claimed -> claimed.isWithin(range.base(), count(range)))
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

    /** The lowest pair that no set has, removed sets included. */
    private Optional<NodePorts> free(PortsSpec range) {
        return IntStream.range(0, count(range) / NodePorts.EACH)
                .mapToObj(slot -> NodePorts.from(range.base() + NodePorts.EACH * slot))
                .filter(pair -> givenOnNodes.stream().noneMatch(pair::meets))
                .filter(pair -> seen.surroundings().portClaims().stream()
                        .noneMatch(claim -> claim.ports().meets(pair)))
                .findFirst();
    }

    private static int count(PortsSpec range) {
        return Objects.requireNonNullElse(range.count(), PortsSpec.COUNT_DEFAULT);
    }

    private String me() {
        return PortClaim.ownerOf(seen.names().namespace(), seen.names().pool());
    }
}
