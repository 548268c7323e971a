// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.plan.Placement;
import dev.kvpool.dataplane.master.core.room.MemoryRoom;
import dev.kvpool.dataplane.master.core.room.SsdView;
import dev.kvpool.dataplane.master.core.seal.GrantSeal;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.NodeRef;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeStats;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** What a master knows of one storage node; it outlives the node's connections. */
public final class NodeView implements Placement.Candidate {
    static final long NO_SESSION = -1;

    public final String id;

    /** Reached through the {@link Index} by everybody else. */
    final NodeReplicas replicas = new NodeReplicas();

    private NodePeer peer;
    private long session = NO_SESSION;
    private long heardMs;

    /** When the latest heartbeat was sent that it has answered, on whichever connection. */
    private long answeredMs = Long.MIN_VALUE / 2;

    private long awaySinceMs;
    private String awayReason = "not seen yet";

    /** Null until the node introduced itself on this connection. */
    private NodeInfo info;

    private boolean isTransient;
    private Authority seen = Authority.NONE;

    /** Everything with a lower id is gone there, as it told last. */
    private ObjectId purgeId = ObjectId.NONE;

    /** Where the configuration says that it is; empty when it does not. */
    private String zoneSaid = "";

    /** Whether the configuration says zones at all. */
    private boolean zonesAreSaid;

    /** The versions it keeps as its pool's, as it told last; known also while it is away. */
    private ActiveVersions active = ActiveVersions.UNKNOWN;

    private long highestObjectEpoch;
    private long objectLeaseMaxMs;
    private NodeStats stats;

    /** Number of the snapshot that is being, or was last, received. */
    int snapshot;

    /** How far its directory has come on this connection; kept by {@link NodeStream}. */
    final Arrival arrival = new Arrival();

    /**
     * The leader that it obeyed while all it had was in view; what it held before then is known, though it may be away again.
     * Another leader knows only what it was told in time: the last that was written there may be missing.
     */
    private Authority heardUnder = Authority.NONE;

    /** Number of the memory of which that is true. */
    private long heardMemory;

    private boolean joined;

    /** What records of its objects would take of the index if no other node had these; kept by {@link Directories}. */
    long recordBytes;

    /** What they may take, of an engine. */
    private long recordBytesMax = Long.MAX_VALUE;

    private long connectedMs;

    /** The fence that was sent last, what it told, and the authority of the one that was accepted last, on this connection. */
    private long fenceRequest;

    private GrantSeal grantSeal;

    private Authority fencedBy = Authority.NONE;

    /** Readers and writers may be sent there; changed only through {@link Index#setUsable}. */
    boolean usable;

    /** It is sending its directory, or has sent it, on this connection; and its replicas are counted; kept by {@link Index}. */
    boolean shown;

    /** It obeys this leader and is about to become usable; kept by {@code Rounds}. */
    private boolean joining;

    boolean counted;

    /** It is being drained: it takes nothing new, and readers are sent elsewhere where they can be. */
    private boolean leaving;

    /** Until then readers may have been told to read here since it leaves. */
    private long namedUntilMs = Long.MIN_VALUE;

    /** The part of new objects, 0 to 1, it is considered for; kept by {@code Standings}. */
    private double willingness = 1;

    /** Those whose writers lately failed to write to it; likewise. */
    private Set<Tenant> distrusting = Set.of();

    /** Its SSD tier, which may be none. */
    public final SsdView ssd = new SsdView(replicas.ssd());

    /** Its memory. */
    public final MemoryRoom room = new MemoryRoom(replicas.memory());

    public NodeView(String id) {
        this.id = id;
    }

    public ActiveVersions active() {
        return active;
    }

    public long answeredMs() {
        return answeredMs;
    }

    public String awayReason() {
        return awayReason;
    }

    public long awaySinceMs() {
        return awaySinceMs;
    }

    /** Its snapshot is here, and what that did not hold is being forgotten. */
    public boolean comparing() {
        return arrival.isComparing();
    }

    public long connectedMs() {
        return connectedMs;
    }

    public long fenceRequest() {
        return fenceRequest;
    }

    /** What this node knows grants by; there is one once it was asked to obey. */
    public GrantSeal grantSeal() {
        return Objects.requireNonNull(grantSeal, "asked to obey before it is granted anything");
    }

    public Authority fencedBy() {
        return fencedBy;
    }

    public long heardMs() {
        return heardMs;
    }

    public Authority heardUnder() {
        return heardUnder;
    }

    public NodeInfo info() {
        return info;
    }

    public boolean isTransient() {
        return isTransient;
    }

    /** The tenant whose objects alone may lie there; empty: all tenants'. */
    public Optional<Tenant> holdsOnlyOf() {
        return isTransient ? Optional.of(peer.tenant().orElse(Tenant.DEFAULT)) : Optional.empty();
    }

    /** Whether objects of a tenant may lie there. Memory of an engine shows all it holds to that engine's process. */
    public boolean mayHoldOf(Tenant tenant) {
        return !isTransient || lender().equals(tenant);
    }

    /** Of an engine, whose objects alone it may hold. */
    public Tenant lender() {
        return peer.tenant().orElse(Tenant.DEFAULT);
    }

    /** Whether it may be told keys of all tenants, as witnesses of removals are. */
    public boolean mayKnowAllKeys() {
        return !isTransient || peer.tenant().isEmpty();
    }

    /** Whether it may show something of a qualified key, and be told it. */
    public boolean mayShow(Key key) {
        return mayKnowAllKeys() || peer.tenant().get().owns(key);
    }

    public boolean joining() {
        return joining;
    }

    /** It takes part from now on; whether it did before. */
    public boolean joins() {
        boolean before = joined;
        joined = true;
        return before;
    }

    /** Its whole directory was here once; while it is away its objects are known, though not readable. */
    public boolean known() {
        return arrival.wasWhole();
    }

    public boolean leaving() {
        return leaving;
    }

    public long namedUntilMs() {
        return namedUntilMs;
    }

    /**
     * How many replicas of published objects were gone when it came back last; empty when this master could not tell, for it
     * had not known the node before or did not lead.
     */
    public OptionalLong lostAtReturn() {
        return arrival.lostAtReturn();
    }

    public long objectLeaseMaxMs() {
        return objectLeaseMaxMs;
    }

    public NodePeer peer() {
        return peer;
    }

    public ObjectId purgeId() {
        return purgeId;
    }

    public Authority seen() {
        return seen;
    }

    public long session() {
        return session;
    }

    public NodeStats stats() {
        return stats;
    }

    /** Its whole directory is here. */
    public boolean synced() {
        return arrival.isWhole();
    }

    public boolean usable() {
        return usable;
    }

    public boolean isConnected() {
        return session != NO_SESSION;
    }

    public void connected(long newSession, NodePeer newPeer, long nowMs) {
        session = newSession;
        peer = newPeer;
        heardMs = nowMs;
        connectedMs = nowMs;
        forgetConnection();
    }

    public void disconnected(String reason, long nowMs) {
        session = NO_SESSION;
        awaySinceMs = nowMs;
        awayReason = reason;
        forgetConnection();
    }

    private void forgetConnection() {
        info = null;
        stats = null;
        arrival.end();
        fenceRequest = 0;
        fencedBy = Authority.NONE;
        joining = false;
        room.forgetConnection();
    }

    public void introduced(NodeInfo newInfo) {
        info = newInfo;
        heardUnder = heardMemory == newInfo.memory() ? heardUnder : Authority.NONE;
        isTransient = newInfo.isTransient();
        seen = newInfo.seen();
        active = newInfo.active();
        purgeId = newInfo.purgeId();
        highestObjectEpoch = newInfo.highestObject().epoch();
        objectLeaseTold(newInfo.objectLeaseMaxMs());
        room.introduced(newInfo);
        ssd.introduced(newInfo);
    }

    /** It said something. */
    public void heard(long nowMs) {
        heardMs = nowMs;
    }

    /** It answered the heartbeat that was sent at this time. */
    public void answered(long beatMs) {
        answeredMs = Math.max(answeredMs, beatMs);
    }

    public void told(NodeStats newStats) {
        stats = newStats;
        active = newStats.active();
        ssd.told(newStats);
        room.told(newStats.largestFreeBytes());
    }

    /** It knows of this leader. */
    public void saw(Authority authority) {
        seen = authority;
    }

    /** It was asked to obey, and told by what it knows grants. */
    public void fenceSent(long requestId, GrantSeal seal) {
        fenceRequest = requestId;
        grantSeal = seal;
    }

    public void obeys(Authority authority) {
        fencedBy = authority;
    }

    /** This leader has met it with all it holds. */
    public void shownTo(Authority authority) {
        heardUnder = authority;
        heardMemory = memory();
    }

    /** The leader that it obeyed and waited for leads no more. */
    public void endTerm() {
        fencedBy = Authority.NONE;
        grantSeal = null;
        room.shortage.wantNothing();
    }

    public void purged(ObjectId below) {
        purgeId = below;
    }

    /** It speaks and writes these versions, or higher ones. */
    public void raised(ActiveVersions versions) {
        active = active.or(versions);
    }

    public void joins(boolean nowJoining) {
        joining = nowJoining;
    }

    public void leaves(boolean nowLeaving) {
        leaving = nowLeaving;
    }

    /** A reader is told to read here, although the node leaves. */
    public void namedWhileLeaving(long untilMs) {
        namedUntilMs = Math.max(namedUntilMs, untilMs);
    }

    /** For what part of new objects, and by which tenants not at all, it is considered. */
    public void considered(double part, Set<Tenant> by) {
        willingness = part;
        distrusting = by;
    }

    /** The configuration says where it is, empty when it does not, and whether it says zones at all. */
    public void zoneIs(String zone, boolean anyIsSaid) {
        zoneSaid = zone;
        zonesAreSaid = anyIsSaid;
    }

    /** The node says what the largest object lease of all epochs was. */
    public void objectLeaseTold(long maxMs) {
        objectLeaseMaxMs = Math.max(objectLeaseMaxMs, Math.clamp(maxMs, 0, Bounds.OBJECT_LEASE_MS_MAX));
    }

    /** Number of the memory that its directory is in; 0 until it has introduced itself. */
    public long memory() {
        return info == null ? 0 : info.memory();
    }

    /** The highest epoch this node has told of, on any connection. */
    public long highestEpoch() {
        return Math.max(seen.epoch(), highestObjectEpoch);
    }

    /** The highest epoch of an object that it has told of. */
    public long highestObjectEpoch() {
        return highestObjectEpoch;
    }

    void showed(long objectEpoch) {
        highestObjectEpoch = Math.max(highestObjectEpoch, objectEpoch);
    }

    boolean hasSegment(int index) {
        for (Segment segment : info.segments()) {
            if (segment.segment() == index) {
                return true;
            }
        }
        return false;
    }

    /** Bytes that the medium of an extent has. */
    long capacityOf(ExtentRef extent) {
        return extent.segment() == ExtentRef.MEMORY ? room.capacityBytes() : ssd.capacityBytes();
    }

    /** Slots that the medium of an extent has. */
    long slotsOf(ExtentRef extent) {
        return extent.segment() == ExtentRef.MEMORY ? room.capacitySlots() : ssd.capacitySlots();
    }

    /** What its objects and tombstones count for in the index. */
    public long recordBytes() {
        return recordBytes + room.tombstoneSlots() * Bounds.TOMBSTONE_RECORD_BYTES;
    }

    /** What they may count for. */
    public void mayTakeRecords(long bytes) {
        recordBytesMax = bytes;
    }

    /** Whether one more may have so many bytes. */
    boolean mayTakeRecord(long bytes) {
        return recordBytes() + bytes <= recordBytesMax;
    }

    /** Extents the node is known to hold, those about to be freed included. */
    public long replicaCount() {
        return replicas.count();
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public String address() {
        return info == null ? "" : info.tcp();
    }

    @Override
    public long freeBytes() {
        return room.freeBytes();
    }

    /** Failure domain, empty when unknown: what the configuration says wins over what the node says. */
    @Override
    public String zone() {
        return !zoneSaid.isEmpty() || info == null ? zoneSaid : info.zone();
    }

    /** A transient node is expected by nobody, who could say it. */
    @Override
    public boolean awaitsZone() {
        return zonesAreSaid && !isTransient && zone().isEmpty();
    }

    @Override
    public double willingness() {
        return willingness;
    }

    /** The same for objects of a tenant. */
    public double willingness(Tenant tenant) {
        return distrusting.contains(tenant) ? 0 : willingness;
    }

    /** What a segment is made of, for people. */
    public String tier(int index) {
        if (info != null) {
            for (Segment segment : info.segments()) {
                if (segment.segment() == index) {
                    return segment.medium().name().toLowerCase(Locale.ROOT);
                }
            }
        }
        return "unknown";
    }

    public NodeRef reference() {
        return new NodeRef(peer.incarnation(), id, isTransient, info.tcp(), info.shm());
    }
}
