// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.room;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.wire.Medium;
import java.util.HashMap;
import java.util.Map;

/** The memory of a storage node: bytes and directory slots that it has, that are taken or promised, and that new objects may take. */
public final class MemoryRoom {
    public final Shortage shortage = new Shortage();

    private final Held held;
    private final RoomLimits byteLimits = new RoomLimits();
    private final RoomLimits slotLimits = new RoomLimits();
    private final RecentPeak bytesWanted = new RecentPeak(Bounds.DEMAND_HALVES_MS);
    private final RecentPeak slotsWanted = new RecentPeak(Bounds.DEMAND_HALVES_MS);

    /** Free bytes that were in pieces too small for a writer. */
    private final RecentPeak fragments = new RecentPeak(Bounds.FRAGMENTS_HALVE_MS);

    private long capacityBytes;
    private long capacitySlots;
    private long segmentBytesMax;
    private long grantedBytes;
    private long grantedSlots;
    private long tombstoneBytes;
    private long tombstoneSlots;

    /** The most bytes in one place that it says are free; less than none until it has said so on this connection. */
    private long largestFreeBytes = -1;

    /** Smallest extent that it said to have no place for, though there were bytes enough; kept until it must have one. */
    private long refusedBytes = Long.MAX_VALUE;

    /** The same as writers of one tenant say it against the node's own word: it counts for that tenant alone, until the node says more. */
    private final Map<Tenant, Long> refusedOf = new HashMap<>();

    public MemoryRoom(Held held) {
        this.held = held;
    }

    /** The node says what it has. */
    public void introduced(NodeInfo info) {
        capacityBytes = 0;
        capacitySlots = 0;
        segmentBytesMax = 0;
        for (Segment segment : info.segments()) {
            if (segment.medium() != Medium.SSD) {
                capacityBytes += segment.capacityBytes();
                capacitySlots += segment.slots();
                segmentBytesMax = Math.max(segmentBytesMax, segment.capacityBytes());
            }
        }
    }

    /** The node says how many bytes in one place are free. */
    public void told(long mostInOnePlace) {
        largestFreeBytes = mostInOnePlace;
        hasPlaceFor(mostInOnePlace);
        refusedOf.clear();
    }

    /** What was said on the node's connection is of no more use. */
    public void forgetConnection() {
        largestFreeBytes = -1;
        shortage.wantNothing();
        shortage.roomMayCome();
        refusedBytes = Long.MAX_VALUE;
        refusedOf.clear();
    }

    public long capacityBytes() {
        return capacityBytes;
    }

    public long capacitySlots() {
        return capacitySlots;
    }

    /** The most that one extent can have. */
    public long segmentBytesMax() {
        return segmentBytesMax;
    }

    /** Bytes that objects and tombstones take. */
    public long usedBytes() {
        return held.bytes() + tombstoneBytes;
    }

    /** Directory slots in use, by objects and tombstones. */
    public long usedSlots() {
        return held.count() + tombstoneSlots;
    }

    /** Bytes and directory slots the node was, or is about to be, told to free. */
    public long freeingBytes() {
        return held.freeingBytes();
    }

    public long freeingSlots() {
        return held.freeingSlots();
    }

    public long tombstoneBytes() {
        return tombstoneBytes;
    }

    public long tombstoneSlots() {
        return tombstoneSlots;
    }

    public void tombstoneCame(long bytes) {
        tombstoneBytes += bytes;
        tombstoneSlots++;
    }

    public void tombstoneWent(long bytes) {
        tombstoneBytes -= bytes;
        tombstoneSlots--;
    }

    /** Bytes promised to what is about to be written. */
    public long grantedBytes() {
        return grantedBytes;
    }

    public long grantedSlots() {
        return grantedSlots;
    }

    /** Room for an extent that is about to be written. */
    public void setAside(long extentBytes) {
        grantedBytes += extentBytes;
        grantedSlots++;
        bytesWanted.add(extentBytes);
        slotsWanted.add(1);
    }

    public void giveBack(long extentBytes) {
        grantedBytes -= extentBytes;
        grantedSlots--;
    }

    /** Time has passed, in which writers may have asked for room. */
    public void tick(long nowMs) {
        bytesWanted.tick(nowMs);
        slotsWanted.tick(nowMs);
        fragments.tick(nowMs);
    }

    /** What it holds may be evicted. From when eviction begins until something is freed, writers ask for as much as lately at most. */
    public void relaxLimits(EvictionRules rules) {
        byteLimits.relax(capacityBytes, rules, bytesWanted.most() + fragments.most());
        slotLimits.relax(capacitySlots, rules, slotsWanted.most());
    }

    /** A leader has begun a while ago, and what it found in use cannot be evicted yet. */
    public void tightenLimits(EvictionRules rules) {
        byteLimits.tighten(capacityBytes, usedBytes(), rules);
        slotLimits.tighten(capacitySlots, usedSlots(), rules);
    }

    /**
     * Bytes and slots that eviction must make free.
     *
     * @param leavingBytes bytes of what is on its way to the SSD, which need not go another time
     * @param leavingSlots how many objects these are
     */
    public Need need(long leavingBytes, long leavingSlots) {
        long bytes = stayingBytes() - leavingBytes;
        long slots = usedSlots() + grantedSlots - freeingSlots() - leavingSlots;
        boolean above = byteLimits.isAbove(bytes) || slotLimits.isAbove(slots);
        long bytesToLose = above ? byteLimits.excess(bytes) : 0;
        return new Need(Math.max(bytesToLose, shortage.wantedBytes()), above ? slotLimits.excess(slots) : 0);
    }

    /** Whether it is so full that what must go cannot wait for an SSD, to which so many bytes are on their way. */
    public boolean isUrgent(long leavingBytes) {
        return shortage.wantedBytes() > 0 || byteLimits.isUrgent(capacityBytes, stayingBytes() - leavingBytes);
    }

    /** Bytes in use or promised, without those that are being freed. */
    private long stayingBytes() {
        return usedBytes() + grantedBytes - freeingBytes();
    }

    /** What may be in use, before another copy comes, without eviction; 0 also when there is no directory slot for it. */
    public long forCopies(EvictionRules rules) {
        boolean slots = usedSlots() + grantedSlots < capacitySlots * rules.high();
        return slots ? (long) (capacityBytes * rules.high()) - stayingBytes() : 0;
    }

    /** Bytes that a new object finds, the kept room left out. */
    public long freeBytes() {
        return byteLimits.free(capacityBytes, usedBytes() + grantedBytes);
    }

    private long freeSlots() {
        return slotLimits.free(capacitySlots, usedSlots() + grantedSlots);
    }

    /** Room for one new object of this size, the kept room left out. */
    public boolean has(long extentBytes) {
        return freeBytes() >= extentBytes && freeSlots() > 0 && extentBytes < refusedBytes;
    }

    /** The same for an object of this tenant. */
    public boolean has(Tenant tenant, long extentBytes) {
        return has(extentBytes) && extentBytes < refusedOf.getOrDefault(tenant, Long.MAX_VALUE);
    }

    /** Whether what is on its way out already makes room for an object of this size. */
    public boolean isComing(long extentBytes) {
        boolean inOnePlace = extentBytes < refusedBytes || freeingBytes() >= extentBytes;
        return inOnePlace && freeBytes() + freeingBytes() >= extentBytes && freeSlots() + freeingSlots() > 0;
    }

    /** When there may be room for something at the earliest; {@link Shortage#NO_ROOM_EVER} when that is not known. */
    public long comesMs() {
        boolean anyMoment = grantedBytes > 0 || freeingBytes() > 0;
        return anyMoment ? Long.MIN_VALUE : shortage.comesMs();
    }

    public void want(long bytes) {
        shortage.want(bytes, capacityBytes);
    }

    /** For a writer of a tenant that has a ceiling. */
    public void want(Tenant tenant, long bytes) {
        shortage.want(tenant, bytes, capacityBytes);
    }

    /**
     * A writer says that it has bytes enough for such an extent, but not in one place. One writer's word does not stand against the node's own.
     *
     * @return whether that counts for all
     */
    public boolean refused(Tenant tenant, long extentBytes) {
        if (largestFreeBytes >= extentBytes) {
            refusedOf.merge(tenant, extentBytes, Math::min);
            return false;
        }
        refusedBytes = Math.min(refusedBytes, extentBytes);
        fragments.was(freeBytes() + extentBytes);
        return true;
    }

    /** That it had no place was long ago. What was said against its own word holds until it says more. */
    public void mayHavePlace() {
        refusedBytes = Long.MAX_VALUE;
    }

    /** So many bytes in one place are free, or were a moment ago. */
    public void hasPlaceFor(long bytes) {
        if (bytes >= refusedBytes) {
            refusedBytes = Long.MAX_VALUE;
        }
        refusedOf.values().removeIf(refused -> bytes >= refused);
    }
}
