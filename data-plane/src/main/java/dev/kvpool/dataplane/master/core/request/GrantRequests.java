// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.request;

import dev.kvpool.dataplane.master.core.base.Asker;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.command.Grant;
import dev.kvpool.dataplane.master.core.command.Grants;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.eviction.PinnedRoom;
import dev.kvpool.dataplane.master.core.eviction.QuotaEvictor;
import dev.kvpool.dataplane.master.core.eviction.SoftPins;
import dev.kvpool.dataplane.master.core.eviction.TakeoverReserve;
import dev.kvpool.dataplane.master.core.eviction.WantedRoom;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.IndexRoom;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.NodeTable;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.plan.NodeName;
import dev.kvpool.dataplane.master.core.plan.Placement;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.room.Shortage;
import dev.kvpool.dataplane.master.core.tenant.QuotaOutcomes;
import dev.kvpool.dataplane.master.core.upkeep.Upkeep;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantLine;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantTarget;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.GrantMac;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/** Gives writers leave to put: an object id, the nodes to write to, and a deadline. */
final class GrantRequests {
    private final CurrentRules rules;
    private final Index index;
    private final IndexRoom room;
    private final Membership membership;
    private final Members members;
    private final Absences absences;
    private final Grants grants;
    private final Reconciliation reconciliation;
    private final Leadership leadership;
    private final TakeoverReserve reserve;
    private final PinnedRoom pinnedRoom;
    private final QuotaEvictor quotaEvictor;
    private final QuotaOutcomes quotaOutcomes;
    private final WantedRoom wantedRoom;
    private final Counters counters;
    private final RandomGenerator random;

    GrantRequests(
            CurrentRules rules,
            Leadership leadership,
            View view,
            Orders orders,
            Grants grants,
            Reconciliation reconciliation,
            Upkeep upkeep,
            WantedRoom wantedRoom,
            Counters counters,
            RandomGenerator random) {
        this.rules = rules;
        this.index = view.index();
        this.room = view.room();
        this.membership = view.membership();
        this.members = orders.members();
        this.absences = orders.absences();
        this.grants = grants;
        this.reconciliation = reconciliation;
        this.leadership = leadership;
        this.reserve = upkeep.reserve();
        this.pinnedRoom = new PinnedRoom(rules, view);
        this.quotaEvictor = upkeep.quotaEvictor();
        this.quotaOutcomes = upkeep.quotaOutcomes();
        this.wantedRoom = wantedRoom;
        this.counters = counters;
        this.random = random;
    }

    /** What is the same for every key of a request. */
    private record Wish(
            long session,
            Tenant tenant,
            int replicas,
            boolean replace,
            Placement<NodeView> placement,
            long largestExtent,
            PinnedRoom.Share pins,
            long nowMs,
            long deadlineMs) {}

    /** For objects of one tenant. */
    private record RoomOf(Tenant tenant) implements Placement.Room<NodeView> {
        @Override
        public boolean isOn(NodeView node, long extentBytes) {
            return node.room.has(tenant, extentBytes);
        }

        @Override
        public double willingness(NodeView node) {
            return node.willingness(tenant);
        }
    }

    GrantReply grant(Asker asker, GrantRequest request, long nowMs) {
        long grantedMs = Math.min(request.deadlineMs(), Bounds.GRANT_MS_MAX);
        int replicas = request.replicas() == 0 ? rules.replicas() : request.replicas();
        Wish wish = new Wish(
                asker.session(),
                asker.tenant(),
                replicas,
                request.replace(),
                new Placement<>(
                        members.takers(asker.tenant()),
                        new RoomOf(asker.tenant()),
                        NodeName.list(request.preferredNodes()),
                        random),
                largestExtent(),
                pinnedRoom.shareOf(asker.tenant()),
                nowMs,
                nowMs + grantedMs);
        NodeTable nodes = new NodeTable();
        List<GrantLine> lines = new ArrayList<>(request.keys().size());
        for (GrantKey key : request.keys()) {
            lines.add(grant(key, wish, nodes));
        }
        return new GrantReply(
                request.requestId(),
                Status.OK,
                leadership.authority(),
                grantedMs,
                nodes.nodes(),
                lines,
                unknown(wish.placement.notFound(), asker.tenant()));
    }

    /** Of a node that may not hold the tenant's objects it is not told that there is one. */
    private String unknown(List<String> names, Tenant tenant) {
        return names.stream()
                .filter(name -> {
                    NodeView node = membership.named(name);
                    return node == null || !node.mayHoldOf(tenant);
                })
                .collect(Collectors.joining(","));
    }

    private GrantLine grant(GrantKey asked, Wish wish, NodeTable nodes) {
        Status objection = objection(asked.key(), wish);
        if (objection != Status.OK) {
            return refused(objection);
        }
        if (!room.takesPut(asked.key().length())) {
            counters.add(Count.GRANTS_INDEX_FULL);
            return room.givesWay() ? roomComes(wish, 0) : refused(Status.NO_SPACE);
        }
        long extentBytes = ExtentSize.of(asked.key().length(), asked.payloadLength());
        if (extentBytes > wish.largestExtent) {
            return refused(Status.TOO_LARGE);
        }
        if (asked.retention().hard()) {
            endOutlived(asked.key(), wish.nowMs); // its pin counts as long as it is there
            long bytes = ExtentSize.ofCopies(extentBytes, wish.replicas);
            PinnedRoom.Answer answer = wish.pins.take(bytes, index.published(asked.key()));
            if (answer == PinnedRoom.Answer.NOT_NOW) {
                counters.add(Count.GRANTS_NO_SPACE);
                return refused(Status.NO_SPACE);
            }
            if (answer == PinnedRoom.Answer.EXCEEDED) {
                return overQuota(QuotaEvictor.Answer.EXCEEDED, wish.tenant);
            }
        }
        if (rules.quotas().of(wish.tenant.name()).isLimited()) {
            endOutlived(asked.key(), wish.nowMs); // it counts as long as it is there
            QuotaEvictor.Answer answer =
                    quotaEvictor.makeRoom(wish.tenant, ExtentSize.ofCopies(extentBytes, wish.replicas), wish.nowMs);
            if (answer != QuotaEvictor.Answer.GRANTED) {
                return overQuota(answer, wish.tenant);
            }
        }
        List<NodeView> targets = wish.placement.choose(extentBytes, wish.replicas);
        if (targets.isEmpty()) {
            counters.add(Count.GRANTS_NO_SPACE);
            return noRoom(wish, extentBytes);
        }
        endOutlived(asked.key(), wish.nowMs);
        Grant grant = new Grant(
                wish.session,
                leadership.nextObjectId(),
                asked.key(),
                extentBytes,
                targets,
                wish.replicas,
                wish.deadlineMs,
                wish.replace,
                asked.retention().hard(),
                asked.retention().hard() ? index.published(asked.key()) : null);
        grants.add(grant);
        counters.add(Count.GRANTS);
        counters.add(Count.GRANTS_PARTIAL, targets.size() < wish.replicas ? 1 : 0);
        Retention retention = retention(asked, wish);
        List<GrantTarget> granted = new ArrayList<>(targets.size());
        for (NodeView target : targets) {
            GrantMac mac = target.grantSeal()
                    .of(leadership.authority(), grant.id, asked.payloadLength(), retention, asked.key());
            granted.add(new GrantTarget(nodes.place(target), mac));
        }
        return new GrantLine(Status.OK, grant.id, granted, 0, retention);
    }

    /** As asked for, but with the soft pin of the object that it replaces where that is to be kept, and holds. */
    private Retention retention(GrantKey asked, Wish wish) {
        Retention own = asked.retention();
        if (!asked.keepsSoftPin() || own.soft() || !wish.replace) {
            return own;
        }
        StoredObject present = index.published(asked.key());
        if (present == null || !SoftPins.holds(present, rules.eviction(), wish.nowMs)) {
            return own;
        }
        return Retention.of(true, own.hard(), present.retention().softMs(), own.group());
    }

    private GrantLine overQuota(QuotaEvictor.Answer answer, Tenant tenant) {
        if (answer == QuotaEvictor.Answer.LATER) {
            return new GrantLine(Status.NO_SPACE, Bounds.QUOTA_PAUSE_MS);
        }
        quotaOutcomes.refused(tenant);
        return refused(Status.QUOTA_EXCEEDED);
    }

    /** Says when asking again may help: as soon as the first object may be evicted whose place would do. */
    private GrantLine noRoom(Wish wish, long extentBytes) {
        List<NodeView> usable = wish.placement.candidates();
        if (usable.isEmpty()) {
            return refused(Status.UNAVAILABLE);
        }
        makeRoom(usable, wish.tenant, extentBytes, wish.nowMs);
        return roomComes(wish, extentBytes);
    }

    private GrantLine roomComes(Wish wish, long extentBytes) {
        long comesMs = Shortage.NO_ROOM_EVER;
        for (NodeView node : wish.placement.candidates()) {
            if (node.room.segmentBytesMax() >= extentBytes) {
                comesMs = Math.min(comesMs, node.room.comesMs());
            }
        }
        long roomMs = comesMs == Shortage.NO_ROOM_EVER
                ? 0
                : Math.clamp(Math.max(comesMs, wish.nowMs) - wish.nowMs, 1, Bounds.ROOM_MS_MAX);
        return new GrantLine(Status.NO_SPACE, roomMs);
    }

    private Status objection(Key key, Wish wish) {
        if (!key.isValid()) {
            return Status.INVALID_KEY;
        }
        StoredObject present = index.published(key);
        if (present != null && absences.mayRead(present) && !wish.replace) {
            counters.add(Count.PUTS_EXISTING);
            index.used(present, wish.nowMs, rules.objectLeaseMs());
            index.endPrompt();
            return Status.EXISTS;
        }
        if (grants.isBeingPut(key, wish.nowMs)) {
            counters.add(Count.GRANTS_BUSY);
            return Status.BUSY;
        }
        if (grants.isFull(wish.tenant)) {
            counters.add(Count.FULL_GRANTS);
            return Status.QUEUE_FULL;
        }
        return Status.OK;
    }

    /** The largest object the pool could hold at any time, whether its nodes are here or away. */
    private long largestExtent() {
        long largest = 0;
        boolean known = false;
        for (NodeView node : membership.all()) {
            known |= node.room.segmentBytesMax() > 0;
            largest = Math.max(largest, node.room.segmentBytesMax());
        }
        return known ? reserve.largestExtent(largest) : Long.MAX_VALUE;
    }

    /**
     * Asks the eviction for room on a node that could take the object: the largest, but rather one of which something may still
     * be evicted. What is on its way out already is not asked for twice.
     */
    private void makeRoom(List<NodeView> usable, Tenant tenant, long extentBytes, long nowMs) {
        NodeView best = null;
        for (NodeView node : usable) {
            if (node.room.segmentBytesMax() >= extentBytes && (best == null || isBetter(node, best, nowMs))) {
                best = node;
            }
        }
        if (best != null && !best.room.isComing(extentBytes)) {
            wantedRoom.want(best, tenant, extentBytes);
        }
    }

    private static boolean isBetter(NodeView node, NodeView other, long nowMs) {
        boolean barren = node.room.shortage.isBarren(nowMs);
        if (barren != other.room.shortage.isBarren(nowMs)) {
            return !barren;
        }
        return node.room.capacityBytes() - node.room.shortage.wantedBytes()
                > other.room.capacityBytes() - other.room.shortage.wantedBytes();
    }

    /** A grant that is abandoned or past its deadline gives way; what its writer committed, or still will, is a left-over. */
    private void endOutlived(Key key, long nowMs) {
        Grant outlived = grants.ofKey(key);
        if (outlived != null) {
            ObjectId id = outlived.id;
            grants.end(outlived);
            reconciliation.giveUpLeftOver(id, key, nowMs);
            counters.add(Count.GRANTS_EXPIRED);
        }
    }

    private static GrantLine refused(Status why) {
        return new GrantLine(why, 0);
    }
}
