// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.master.core.PoolStatus;
import dev.kvpool.dataplane.master.core.PoolStatus.NodeState;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.nativelib.VersionRange;
import java.util.Locale;
import java.util.Optional;

/** The JSON of {@code /api/v1/pool}; the operator reads it, so names and types stay. */
final class PoolDocument {
    private static final ObjectMapper JSON = new ObjectMapper();

    private PoolDocument() {}

    static String of(MasterAdmin master) {
        PoolStatus status = master.status();
        boolean leader = master.isLeader();
        ObjectNode root = JSON.createObjectNode();
        root.put("poolId", master.poolId());
        root.put("name", master.name());
        root.put("role", leader ? "leader" : "standby");
        root.put("state", state(status, leader));
        root.put("epoch", status.epoch());
        leader(root, master.lease());
        versions(root.putObject("version"), master.versions());
        root.put("expectedNodes", status.expectedNodes());
        root.put("readyNodes", status.readyNodes());
        root.put("capacityBytes", status.capacityBytes());
        root.put("usedBytes", status.usedBytes());
        root.put("objects", status.objects());
        root.put("unavailableObjects", status.unavailableObjects());
        root.put("tombstones", status.tombstones());
        root.put("underReplicatedObjects", status.underReplicatedObjects());
        root.put("clients", status.clients());
        for (PoolStatus.Node node : status.nodes()) {
            node(root.withArray("nodes").addObject(), node);
        }
        root.withArray("nodes");
        return root.toString();
    }

    /** A leader whose time ran out does not serve, whatever the last status said. */
    private static String state(PoolStatus status, boolean leader) {
        boolean lapsed = status.state() == PoolStatus.State.SERVING && !leader;
        return (lapsed ? PoolStatus.State.STANDBY : status.state()).name().toLowerCase(Locale.ROOT);
    }

    private static void leader(ObjectNode root, Optional<LeaseRecord> lease) {
        if (lease.isEmpty() || !lease.get().isHeld()) {
            root.putNull("leader");
            return;
        }
        root.putObject("leader")
                .put("name", lease.get().holderName())
                .put("epoch", lease.get().transitions());
    }

    private static void versions(ObjectNode object, Versions versions) {
        object.put("product", versions.product());
        range(object.putObject("wire"), versions.wire());
        range(object.putObject("layout"), versions.layout());
        range(object.putObject("abi"), versions.abi());
    }

    private static void range(ObjectNode object, VersionRange range) {
        object.put("min", range.min()).put("max", range.max());
    }

    private static void node(ObjectNode object, PoolStatus.Node node) {
        object.put("id", node.id());
        object.put("state", state(node.state()));
        object.put("reason", node.reason());
        object.put("transient", node.isTransient());
        object.put("capacityBytes", node.capacityBytes());
        object.put("usedBytes", node.usedBytes());
        object.put("objects", node.objects());
        object.put("incarnation", "%016x".formatted(node.incarnation()));
        object.put("product", node.product());
        node.protocols().forEach(object.putArray("protocols")::add);
        object.put("address", node.address());
    }

    private static String state(NodeState state) {
        return state.name().toLowerCase(Locale.ROOT);
    }
}
