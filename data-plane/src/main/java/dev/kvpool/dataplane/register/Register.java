// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.register;

import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

/**
 * What no single storage node may own. The epoch is not here: it is the transitions of the Lease that the register is kept in.
 *
 * <p>Each change answers the register itself when there is nothing to change.
 *
 * @param revision grows by one with every change that is stored; 0 when there has been none, or the register was lost
 * @param open the register was lost not long ago: its members may not be all there are
 * @param purgeId every object with a lower id is gone, wherever it turns up
 * @param active versions that the pool speaks and writes
 * @param objectLeaseMs no leader has promised a longer object lease; 0 when that is not known
 * @param members by id the nodes that may hold objects; what any other node holds counts for nothing
 * @param drains by node id
 */
public record Register(
        long revision,
        boolean open,
        ObjectId purgeId,
        ActiveVersions active,
        long objectLeaseMs,
        SortedMap<String, Member> members,
        SortedMap<String, DrainEntry> drains) {
    public static final int WITNESSES_MAX = 3;

    /** A day. */
    public static final long OBJECT_LEASE_MS_MAX = 86_400_000;

    /** There is none. */
    public static final Register NONE =
            new Register(0, false, ObjectId.NONE, ActiveVersions.UNKNOWN, 0, new TreeMap<>(), new TreeMap<>());

    public Register {
        members = Collections.unmodifiableSortedMap(members);
        drains = Collections.unmodifiableSortedMap(drains);
    }

    /** Whether nothing was ever stored, as far as is known. */
    public boolean isLost() {
        return revision == 0;
    }

    public boolean isMember(String id) {
        return members.containsKey(id);
    }

    /** Since when a node is behind; {@link ObjectId#NONE} when it is not, or is no member. */
    public ObjectId behindSince(String id) {
        Member member = members.get(id);
        return member == null ? ObjectId.NONE : member.behindSince();
    }

    /** What has this id or a higher one, a node that is behind may have missed; {@link ObjectId#NONE} when it is not, or is no member. */
    public ObjectId missesFrom(String id) {
        Member member = members.get(id);
        return member == null ? ObjectId.NONE : member.missesFrom();
    }

    public Set<String> behind() {
        Set<String> behind = new TreeSet<>();
        members.forEach((id, member) -> {
            if (member.isBehind()) {
                behind.add(id);
            }
        });
        return behind;
    }

    /** Whether a node is behind and was away all the time since then, so that it holds nothing that was put later. */
    public boolean isAwaySince(String id, ObjectId since) {
        Member member = members.get(id);
        return member != null
                && member.isBehind()
                && !member.holdsNewer()
                && !member.behindSince().isNewerThan(since);
    }

    public boolean isAnyBehind() {
        return members.values().stream().anyMatch(Member::isBehind);
    }

    /** The nodes that hold every tombstone, with the numbers of their memories. */
    public SortedMap<String, Long> witnesses() {
        SortedMap<String, Long> witnesses = new TreeMap<>();
        members.forEach((id, member) -> {
            if (member.isWitness()) {
                witnesses.put(id, member.witnessMemory());
            }
        });
        return witnesses;
    }

    /** Whether a node with this memory holds every tombstone. */
    public boolean isWitness(String id, long memory) {
        Member member = members.get(id);
        return member != null && member.isWitness() && member.witnessMemory() == memory;
    }

    // ---- changes ----------------------------------------------------------------------------------------------------

    /** The same under another revision. */
    public Register as(long newRevision) {
        return new Register(newRevision, open, purgeId, active, objectLeaseMs, members, drains);
    }

    /** Whether nodes that come are taken for members, as after the register was lost. */
    public Register open(boolean now) {
        return now == open ? this : new Register(revision, now, purgeId, active, objectLeaseMs, members, drains);
    }

    public Register purged(ObjectId below) {
        return below.isNewerThan(purgeId)
                ? new Register(revision, open, below, active, objectLeaseMs, members, drains)
                : this;
    }

    public Register raised(ActiveVersions versions) {
        return versions.exceeds(active)
                ? new Register(revision, open, purgeId, active.or(versions), objectLeaseMs, members, drains)
                : this;
    }

    /** Leaders may promise object leases of this length, though none above {@link #OBJECT_LEASE_MS_MAX}. */
    public Register leased(long leaseMs) {
        return leasing(Math.clamp(leaseMs, objectLeaseMs, OBJECT_LEASE_MS_MAX));
    }

    /** No longer object lease than this has been promised, or what was has ended. */
    public Register leasedAtMost(long leaseMs) {
        return leasing(Math.min(leaseMs, objectLeaseMs));
    }

    private Register leasing(long leaseMs) {
        return leaseMs == objectLeaseMs
                ? this
                : new Register(revision, open, purgeId, active, leaseMs, members, drains);
    }

    /** Nodes that may hold objects from now on, and have missed nothing, since they hold none yet. */
    public Register enrolled(Collection<String> ids) {
        return changed(ids, member -> member == null ? Member.storageNode() : member);
    }

    /** The same of nodes of which memory and SSD are known. */
    public Register enrolled(Collection<String> ids, ToLongFunction<String> memoryOf, ToLongFunction<String> ssdOf) {
        SortedMap<String, Member> next = new TreeMap<>(members);
        for (String id : ids) {
            Member member = next.getOrDefault(id, Member.storageNode());
            next.put(id, member.in(memoryOf.applyAsLong(id), ssdOf.applyAsLong(id)));
        }
        return with(next);
    }

    /** The same of engines, which lend memory as long as they live, by the tenants whose they are. */
    public Register lent(Map<String, Tenant> engines) {
        SortedMap<String, Member> next = new TreeMap<>(members);
        engines.forEach((id, tenant) -> next.putIfAbsent(id, Member.engine(tenant)));
        return with(next);
    }

    /** A node has this memory and this SSD: what comes with others under its name counts for nothing from now on. */
    public Register in(String id, long memory, long ssd) {
        return changed(Set.of(id), member -> member == null ? null : member.in(memory, ssd));
    }

    /** Whether this memory and this SSD are those of a member. */
    public boolean isIn(String id, long memory, long ssd) {
        Member member = members.get(id);
        return member != null && member.isIn(memory, ssd);
    }

    /** Whether this SSD is that of a member. */
    public boolean isOnSsd(String id, long ssd) {
        Member member = members.get(id);
        return member != null && member.ssd() == ssd;
    }

    /** Whether a node that comes with this was given up with it: it holds something in a memory, or on an SSD, that is not the member's. */
    public boolean isGivenUp(String id, long memory, boolean holdsInMemory, long ssd, boolean holdsOnSsd) {
        return isInAnother(id, memory)
                && (holdsInMemory || (holdsOnSsd && members.get(id).ssd() != ssd));
    }

    /** Whether a memory that is not this one is known to be a member's. */
    public boolean isInAnother(String id, long memory) {
        Member member = members.get(id);
        return member != null && member.isNotIn(memory);
    }

    /** What these nodes hold counts no more: they have gone for good, or come back with nothing. */
    public Register dropped(Collection<String> ids) {
        return changed(ids, member -> null);
    }

    /** Nodes that are away and about to miss something; what they hold has lower ids. None of them is a witness any longer. */
    public Register away(Collection<String> ids, ObjectId since) {
        return changed(ids, member -> member == null ? null : member.away(since));
    }

    /** Nodes that are away and about to miss puts, no removals: who is a witness has every tombstone still. */
    public Register lagging(Collection<String> ids, ObjectId since) {
        return changed(ids, member -> member == null ? null : member.lagging(since));
    }

    /** Nodes that are behind may get what others miss. */
    public Register holdingNewer(Collection<String> ids) {
        return changed(ids, member -> member == null ? null : member.holdingNewer());
    }

    /** Nodes that were behind and have dropped all that was removed or replaced meanwhile. */
    public Register caughtUp(Collection<String> ids) {
        return changed(ids, member -> member == null ? null : member.caughtUp());
    }

    /** A node holds every tombstone, with this memory; also one that is behind, for it is known by them what not to believe of it. */
    public Register witnessed(String id, long memory) {
        return changed(Set.of(id), member -> member == null ? null : member.witness(memory));
    }

    public Register struckOff(Collection<String> ids) {
        return changed(ids, member -> member == null ? null : member.witness(Member.NO_WITNESS));
    }

    /** The SSD of this number works no more: nothing is cleared there from now on. */
    public Register ssdFailed(String id, long number) {
        return changed(Set.of(id), member -> member == null ? null : member.withFailedSsd(number));
    }

    /** What a node had on an SSD that had failed is gone. */
    public Register ssdEmptied(String id) {
        return ssdFailed(id, Member.NO_SSD);
    }

    /** The number of a node's SSD that failed; 0 when there is none, or the node is no member. */
    public long failedSsd(String id) {
        Member member = members.get(id);
        return member == null ? Member.NO_SSD : member.failedSsd();
    }

    private Register changed(Collection<String> ids, UnaryOperator<Member> change) {
        SortedMap<String, Member> next = new TreeMap<>(members);
        for (String id : ids) {
            next.compute(id, (same, member) -> change.apply(member));
        }
        return with(next);
    }

    private Register with(SortedMap<String, Member> next) {
        return next.equals(members) ? this : new Register(revision, open, purgeId, active, objectLeaseMs, next, drains);
    }

    public Register draining(String node, DrainEntry entry) {
        return drained(node, Optional.of(entry));
    }

    /** Nobody has to know of the emptying of this node any longer. */
    public Register drainOver(String node) {
        return drained(node, Optional.empty());
    }

    private Register drained(String node, Optional<DrainEntry> entry) {
        SortedMap<String, DrainEntry> next = new TreeMap<>(drains);
        next.compute(node, (same, before) -> entry.orElse(null));
        return next.equals(drains) ? this : new Register(revision, open, purgeId, active, objectLeaseMs, members, next);
    }

    /** Whether this one was stored after the other. */
    public boolean isNewerThan(Register other) {
        return revision > other.revision;
    }

    /** For logs. */
    @Override
    public String toString() {
        return "register %d: %d members, behind %s, witnesses %s, purge id %s, drains of %s"
                .formatted(revision, members.size(), behind(), witnesses().keySet(), purgeId, drains.keySet());
    }

    /** Whether storing the one where the other is changes nothing. */
    public boolean saysTheSame(Register other) {
        return open == other.open
                && purgeId.equals(other.purgeId)
                && active.equals(other.active)
                && objectLeaseMs == other.objectLeaseMs
                && members.equals(other.members)
                && drains.equals(other.drains);
    }
}
