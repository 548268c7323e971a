// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.core.index.IndexRoom;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.plan.NodeName;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.wire.RefusalCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The storage nodes a master knows: those that should be there and those that are. */
public final class Membership {
    private final Map<String, NodeView> nodes = new TreeMap<>();
    private final Map<Long, NodeView> bySession = new LinkedHashMap<>();
    private final Map<String, Objection> refusals = new TreeMap<>();

    /** Ids of the latest transient nodes that ended in order: their memory is gone for certain. */
    private final LinkedHashSet<String> ended = new LinkedHashSet<>();

    private final NodesSetApart setApart;
    private final IndexRoom room;
    private Set<String> expected;

    /** Those that were not, before the set changed last. */
    private Set<String> newlyExpected = Set.of();

    private Map<String, String> zones = Map.of();
    private boolean zonesAreSaid;

    /** @param room says whether a node that did not fit may try again */
    public Membership(Set<String> expected, NodesSetApart setApart, IndexRoom room) {
        this.expected = Set.copyOf(expected);
        this.setApart = setApart;
        this.room = room;
    }

    /**
     * Zones by id of the nodes that should be there, empty where none is said.
     *
     * @return whether a node that is known is in another zone than before
     */
    public boolean expect(Map<String, String> newZones) {
        newlyExpected = new TreeSet<>(newZones.keySet());
        newlyExpected.removeAll(expected);
        zones = Map.copyOf(newZones);
        expected = zones.keySet();
        zonesAreSaid = zones.values().stream().anyMatch(zone -> !zone.isEmpty());
        boolean moved = false;
        for (NodeView node : nodes.values()) {
            String before = node.zone();
            tellZone(node);
            moved |= !before.equals(node.zone());
        }
        refusals.keySet().retainAll(expected);
        return moved;
    }

    /** Where zones are said at all, that of a node which lacks one is said a little later, as soon as it is known where it runs. */
    private void tellZone(NodeView node) {
        node.zoneIs(zones.getOrDefault(node.id, ""), zonesAreSaid);
    }

    /** Engines under the ids of expected nodes, and who came under such an id before it was one, and has not said what it is. */
    public List<NodeView> squatters() {
        List<NodeView> squatters = new ArrayList<>();
        for (String id : expected) {
            NodeView node = nodes.get(id);
            if (node != null
                    && node.isConnected()
                    && (node.isTransient() || (node.info() == null && newlyExpected.contains(id)))) {
                squatters.add(node);
            }
        }
        return squatters;
    }

    public Set<String> expected() {
        return expected;
    }

    /** Zones by id of the nodes that should be there, empty where none is said. */
    public Map<String, String> zones() {
        Map<String, String> said = new TreeMap<>(zones);
        expected.forEach(id -> said.putIfAbsent(id, ""));
        return said;
    }

    public NodesSetApart setApart() {
        return setApart;
    }

    public Collection<NodeView> all() {
        return nodes.values();
    }

    public List<NodeView> usable() {
        List<NodeView> usable = new ArrayList<>();
        for (NodeView node : nodes.values()) {
            if (node.usable()) {
                usable.add(node);
            }
        }
        return usable;
    }

    /** Nodes that new objects may be put on. */
    public List<NodeView> takers() {
        List<NodeView> takers = usable();
        takers.removeIf(node -> node.leaving());
        return takers;
    }

    /** Memory that may hold objects of all tenants. What engines lend holds their tenants' only, and is as large as they say. */
    public long sharedCapacityBytes() {
        long capacity = 0;
        for (NodeView node : nodes.values()) {
            capacity += node.usable() && !node.isTransient() ? node.room.capacityBytes() : 0;
        }
        return capacity;
    }

    /** The same if the expected nodes that are away were there; empty when that is not known of one of them. */
    public OptionalLong sharedCapacityWithAbsentBytes() {
        long capacity = sharedCapacityBytes();
        for (String id : expected) {
            NodeView node = nodes.get(id);
            if (node == null || node.isTransient() || node.room.capacityBytes() == 0) {
                return OptionalLong.empty();
            }
            capacity += node.usable() ? 0 : node.room.capacityBytes();
        }
        return OptionalLong.of(capacity);
    }

    /** Memory that engines lend, by the name of the tenant whose objects alone it may hold. */
    public Map<String, Long> lentCapacityBytes() {
        Map<String, Long> lent = new TreeMap<>();
        for (NodeView node : nodes.values()) {
            if (node.usable()) {
                node.holdsOnlyOf()
                        .ifPresent(tenant -> lent.merge(tenant.name(), node.room.capacityBytes(), Membership::sum));
            }
        }
        return lent;
    }

    /**
     * Says what records of each engine may take of an index that is full. All engines have a part of it, so that those of storage nodes find room, and
     * while others lend memory too, the tenant that has most in it a part of that: the others are not to blame.
     */
    public void shareIndex() {
        long all = 0;
        Map<Optional<Tenant>, Long> byTenant = new HashMap<>();
        for (NodeView node : nodes.values()) {
            if (node.isTransient()) {
                all += node.recordBytes();
                byTenant.merge(node.peer().tenant(), node.recordBytes(), Long::sum);
            }
        }
        long lent = room.lentBytesMax(expected.isEmpty());
        boolean isShared = byTenant.size() > 1;
        long most = byTenant.values().stream().mapToLong(Long::longValue).max().orElse(0);
        long left = isShared ? Math.min(lent - all, (long) (lent * (1 - Bounds.INDEX_LENT_LEFT)) - most) : lent - all;
        for (NodeView node : nodes.values()) {
            if (node.isTransient()) {
                boolean isMost = byTenant.get(node.peer().tenant()) == most;
                node.mayTakeRecords(isShared && !isMost ? Long.MAX_VALUE : node.recordBytes() + left);
            }
        }
    }

    private static long sum(long one, long other) {
        return one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other;
    }

    /** The node that a client names, rather one that takes part than one that is away; null when there is none. */
    public NodeView named(String name) {
        NodeView node = nodes.get(name);
        node = node == null ? NodeName.find(usable(), name) : node;
        return node == null ? NodeName.find(nodes.values(), name) : node;
    }

    /** The node with this id, or null. */
    public NodeView node(String id) {
        return nodes.get(id);
    }

    /** The node that speaks on this session, or null. */
    public NodeView bySession(long session) {
        return bySession.get(session);
    }

    /** Every expected node has sent its whole directory to this master, though some may be away now. */
    public boolean isKnown() {
        for (String id : expected) {
            NodeView node = nodes.get(id);
            if (node == null || !node.known()) {
                return false;
            }
        }
        return true;
    }

    /** How many of the expected nodes are more than half of them; none when none is expected. */
    public int majority() {
        return expected.isEmpty() ? 0 : expected.size() / 2 + 1;
    }

    /** Expected nodes that take part now. */
    List<NodeView> expectedInView() {
        List<NodeView> inView = new ArrayList<>();
        for (String id : expected) {
            NodeView node = nodes.get(id);
            if (node != null && node.usable() && !node.isTransient()) {
                inView.add(node);
            }
        }
        return inView;
    }

    public boolean isAnyExpectedSeen() {
        return expected.stream().anyMatch(nodes::containsKey);
    }

    public int connectedExpected() {
        int connected = 0;
        for (String id : expected) {
            NodeView node = nodes.get(id);
            connected += node != null && node.isConnected() ? 1 : 0;
        }
        return connected;
    }

    public boolean isAllInView() {
        return expectedInView().size() == expected.size();
    }

    /** Whether a process may speak for a node id now; the answer is the sentence of the refusal. */
    public Optional<Objection> objection(NodePeer peer, long nowMs) {
        Optional<Objection> apart = setApart.objection(peer, room.takesNode(), nowMs);
        if (apart.isPresent()) {
            return apart;
        }
        if (!peer.namesPool() && expected.contains(peer.id())) {
            return Optional.of(new Objection(
                    RefusalCode.POOL_MISMATCH,
                    "node " + peer.id()
                            + " names no pool, but it is one of the storage nodes of this one; start it with the"
                            + " --pool-id of the masters"));
        }
        NodeView node = nodes.get(peer.id());
        if (node == null) {
            return nodes.size() < Bounds.NODES_MAX
                    ? Optional.empty()
                    : Optional.of(new Objection(
                            RefusalCode.LIMIT, "this master follows at most " + Bounds.NODES_MAX + " nodes"));
        }
        boolean taken = node.isConnected()
                && node.peer().incarnation() != peer.incarnation()
                && nowMs - node.heardMs() <= Bounds.NODE_REPLACE_SILENCE_MS;
        return taken
                ? Optional.of(new Objection(
                        RefusalCode.IDENTITY_MISMATCH,
                        "node id " + peer.id() + " is in use: " + peer + " came while " + node.peer()
                                + " is connected; give each node its own id, or stop the other one"))
                : Optional.empty();
    }

    public NodeView connect(long session, NodePeer peer, long nowMs) {
        NodeView node = nodes.computeIfAbsent(peer.id(), NodeView::new);
        tellZone(node);
        ended.remove(peer.id());
        bySession.remove(node.session());
        bySession.put(session, node);
        node.connected(session, peer, nowMs);
        setApart.admitted(peer.id(), nowMs);
        refusals.remove(peer.id());
        return node;
    }

    public void disconnect(NodeView node, String reason, long nowMs) {
        bySession.remove(node.session());
        node.disconnected(reason, nowMs);
    }

    /** The node said that its memory ends with it. */
    public void ended(NodeView node) {
        if (ended.size() >= Bounds.NODES_MAX) {
            ended.removeFirst();
        }
        ended.add(node.id);
    }

    /** Whether a node with this id has ended, and none has come under that id since. */
    public boolean hasEnded(String id) {
        return ended.contains(id);
    }

    public void forget(NodeView node) {
        nodes.remove(node.id);
    }

    /** Remembers why an expected node is not let in, for people who look at the status. */
    public void refused(String id, Objection why) {
        if (expected.contains(id)) {
            refusals.put(id, why);
        }
    }

    /** Why an expected node was refused last, or null. */
    public String refusal(String id) {
        Objection why = refusals.get(id);
        return why == null ? null : why.message();
    }

    /** Whether an expected node is away because its version does not fit this master's. */
    public boolean isRefusedForItsVersion(NodeView node) {
        Objection why = refusals.get(node.id);
        return why != null && why.code() == RefusalCode.WIRE_VERSION;
    }
}
