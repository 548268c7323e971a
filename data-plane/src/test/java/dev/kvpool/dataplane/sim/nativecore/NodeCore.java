// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim.nativecore;

import static dev.kvpool.dataplane.sim.nativecore.NativeMemory.INT;
import static dev.kvpool.dataplane.sim.nativecore.NativeMemory.LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.UUID;
import java.util.function.IntSupplier;

/** One life of the production core of a storage node, over memory that outlives it. Not thread safe. */
public final class NodeCore implements AutoCloseable {
    private static final int OK = 0;
    private static final int CLOSED = -204;
    private static final long PARAMS_BYTES = 136;
    private static final long ACTION_BYTES = 56;
    public static final long NEVER_CUT = -1;

    /**
     * What a node is told about itself.
     *
     * @param ssd bytes of its SSD, null when it has none
     * @param disk what of its segment is on a disk for certain, null when it lies in memory
     * @param boot of its machine
     * @param staging memory for what CANN moves, null when clients offer no memory
     * @param tierStagingBytes of it, for what its SSD reads
     * @param cann null as well
     */
    public record Identity(
            UUID pool,
            String nodeId,
            String address,
            long incarnation,
            long seed,
            int masters,
            boolean isTransient,
            SegmentMemory ssd,
            SegmentMemory disk,
            long boot,
            boolean tcpOnly,
            SegmentMemory staging,
            long tierStagingBytes,
            Cann cann) {}

    /** What the core wants done; the order of the constants is that of the header. */
    public enum Kind {
        NONE,
        SEND_FRAMES,
        SEND_SEGMENTS,
        SEND_PAYLOAD,
        RECEIVE_PAYLOAD,
        DISCARD_PAYLOAD,
        COPY_STAGING,
        MAP_STAGING,
        CLOSE,
        DIAL,
        NOTE,
        DIAL_SOURCE,
        TIER_WRITE,
        TIER_STORE,
        TIER_READ,
        SEND_TIER_PAYLOAD,
        PULL,
        PUSH,
        MOVED,
        CANN_CONNECT,
        CANN_DISCONNECT,
        CANN_READ,
        CANN_WRITE
    }

    /** One action; {@code data} are frames or text. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Action(
            Kind kind,
            long connection,
            long offset,
            long length,
            long stagingOffset,
            int crc,
            int master,
            byte[] data) {}

    /** The life of this node was cut in the middle of a store; only {@link #close} may follow. */
    public static final class LifeCut extends RuntimeException {
        LifeCut() {
            super("the life of the node was cut", null, false, false);
        }
    }

    private static final Kind[] KINDS = Kind.values();
    private static final byte[] NO_DATA = new byte[0];

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment action = arena.allocate(ACTION_BYTES);
    private final long handle;

    private NodeCore(MemorySegment params, SegmentMemory memory, long cutStores, int cutBytes) {
        MemorySegment out = arena.allocate(Long.BYTES);
        int status = SimFunctions.kv_sim_node_create(
                params.address(), memory.address(), memory.bytes(), cutStores, cutBytes, out.address());
        handle = out.get(LONG, 0);
        if (status == CLOSED) {
            arena.close();
            throw new LifeCut();
        }
        if (status != OK) {
            throw new AssertionError("a node does not start: status " + status);
        }
    }

    /** Makes zeroed memory a segment of this node. */
    public static void format(Identity identity, SegmentMemory memory) {
        try (Arena arena = Arena.ofConfined()) {
            int status =
                    SimFunctions.kv_sim_format(params(arena, identity).address(), memory.address(), memory.bytes());
            if (status != OK) {
                throw new AssertionError("cannot format a segment: status " + status);
            }
        }
    }

    /**
     * Begins a life over a formatted segment.
     *
     * @param cutStores the recovery itself is cut after so many stores; {@link #NEVER_CUT}
     * @throws LifeCut when it was
     */
    public static NodeCore start(Identity identity, SegmentMemory memory, long cutStores, int cutBytes) {
        try (Arena arena = Arena.ofConfined()) {
            return new NodeCore(params(arena, identity), memory, cutStores, cutBytes);
        }
    }

    private static MemorySegment params(Arena arena, Identity identity) {
        MemorySegment params = arena.allocate(PARAMS_BYTES, Long.BYTES);
        params.set(INT, 0, (int) PARAMS_BYTES);
        params.set(INT, 4, identity.isTransient() ? 1 : 0);
        params.set(LONG, 8, identity.pool().getMostSignificantBits());
        params.set(LONG, 16, identity.pool().getLeastSignificantBits());
        params.set(LONG, 24, NativeMemory.text(arena, identity.nodeId()).address());
        params.set(LONG, 32, NativeMemory.text(arena, identity.address()).address());
        params.set(LONG, 40, identity.incarnation());
        params.set(LONG, 48, identity.seed());
        params.set(INT, 56, identity.masters());
        if (identity.ssd() != null) {
            params.set(LONG, 64, identity.ssd().address());
            params.set(LONG, 72, identity.ssd().bytes());
            params.set(INT, 80, (int) identity.seed() | 1);
        }
        params.set(INT, 84, identity.tcpOnly() ? 1 : 0);
        params.set(LONG, 88, identity.disk() == null ? 0 : identity.disk().address());
        params.set(LONG, 96, identity.boot());
        if (identity.staging() != null) {
            params.set(LONG, 104, identity.staging().address());
            params.set(LONG, 112, identity.staging().bytes());
            params.set(LONG, 120, identity.tierStagingBytes());
            params.set(LONG, 128, identity.cann().in(arena).address());
        }
        return params;
    }

    /** Ends this life at a store: the next {@code stores} are done, of the one after only {@code bytes} bytes. */
    public void cut(long stores, int bytes) {
        SimFunctions.kv_sim_node_cut(handle, stores, bytes);
    }

    /** Stores done in this life. */
    public long stores() {
        return SimFunctions.kv_sim_node_stores(handle);
    }

    /** For the death of this node, before {@link #close}: of what is being written to its SSD only some sectors are. */
    public void tearSsd(long random) {
        SimFunctions.kv_sim_node_tier_tear(handle, random);
    }

    /** Does a job of the SSD, or fails it. */
    public void workSsd(long job, boolean fails) {
        call(() -> SimFunctions.kv_sim_node_tier_work(handle, job, fails ? 1 : 0));
    }

    /**
     * A client has connected.
     *
     * @param local it shares memory with this node
     * @param who what its certificate says; empty without one
     */
    public void accepted(long nowMs, long connection, boolean local, Optional<String> who) {
        try (Arena names = Arena.ofConfined()) {
            long name =
                    who.map(text -> NativeMemory.text(names, text).address()).orElse(0L);
            call(() -> SimFunctions.kv_sim_node_accepted(handle, nowMs, connection, local ? 1 : 0, name));
        }
    }

    public void stagingMapped(long connection) {
        call(() -> SimFunctions.kv_sim_node_staging_mapped(handle, connection, OK));
    }

    public void dialled(long nowMs, long connection, int master) {
        call(() -> SimFunctions.kv_sim_node_dialled(handle, nowMs, connection, master));
    }

    public void dialFailed(long nowMs, int master, boolean refused) {
        call(() -> SimFunctions.kv_sim_node_dial_failed(handle, nowMs, master, refused ? 1 : 0));
    }

    /** A dial to another node, {@code source} being the number that the action gave it. */
    public void sourceDialled(long nowMs, long connection, long source) {
        call(() -> SimFunctions.kv_sim_node_source_dialled(handle, nowMs, connection, source));
    }

    public void sourceDialFailed(long source) {
        call(() -> SimFunctions.kv_sim_node_source_dial_failed(handle, source));
    }

    public void frame(long nowMs, long connection, byte[] body) {
        call(() -> SimFunctions.kv_sim_node_frame(handle, nowMs, connection, FrameScratch.put(body), body.length));
    }

    public void malformed(long connection) {
        call(() -> SimFunctions.kv_sim_node_malformed(handle, connection));
    }

    public void payloadReceived(long connection, int computedCrc, int sentCrc) {
        call(() -> SimFunctions.kv_sim_node_payload_received(handle, connection, computedCrc, sentCrc));
    }

    public void payloadSent(long connection) {
        call(() -> SimFunctions.kv_sim_node_payload_sent(handle, connection));
    }

    public void sent(long connection, long bytes) {
        call(() -> SimFunctions.kv_sim_node_sent(handle, connection, bytes));
    }

    public void closed(long nowMs, long connection) {
        call(() -> SimFunctions.kv_sim_node_closed(handle, nowMs, connection));
    }

    public void tick(long nowMs) {
        call(() -> SimFunctions.kv_sim_node_tick(handle, nowMs));
    }

    /** What CANN says to a call. */
    public void cannAnswered(long nowMs, long call, int status) {
        call(() -> SimFunctions.kv_sim_node_cann_answered(handle, nowMs, call, status));
    }

    /** It ends in order, and its memory with it. */
    public void leave() {
        call(() -> SimFunctions.kv_sim_node_leave(handle));
    }

    /** It ends in order, and what it stored is on its disk; only {@link #close} may follow. */
    public void end() {
        call(() -> SimFunctions.kv_sim_node_end(handle));
    }

    /** Whether the next life under this boot would not believe what the segment holds. */
    public static boolean maySetBack(SegmentMemory memory, long boot) {
        return SimFunctions.kv_sim_may_set_back(memory.address(), memory.bytes(), boot) != 0;
    }

    /** The power of a machine fails on which no node lives: of each page the disk has what was stored or what it had before. */
    public static void cutPower(SegmentMemory memory, SegmentMemory disk, long random) {
        SimFunctions.kv_sim_cut_power(memory.address(), disk.address(), memory.bytes(), random);
    }

    /** The next action in order, or null when the turn is over. */
    public Action next() {
        call(() -> SimFunctions.kv_sim_node_next(handle, action.address()));
        Kind kind = KINDS[action.get(INT, 0)];
        if (kind == Kind.NONE) {
            return null;
        }
        int length = action.get(INT, 44);
        return new Action(
                kind,
                action.get(LONG, 8),
                action.get(LONG, 16),
                action.get(LONG, 24),
                action.get(LONG, 32),
                action.get(INT, 4),
                action.get(INT, 40),
                length == 0 ? NO_DATA : NativeMemory.read(action.get(LONG, 48), length));
    }

    private void call(IntSupplier function) {
        int status = function.getAsInt();
        if (status == CLOSED) {
            throw new LifeCut();
        }
        if (status != OK) {
            throw new AssertionError("a defect of the node's core, status " + status + ": "
                    + NativeMemory.text(SimFunctions.kv_sim_node_problem(handle)));
        }
    }

    @Override
    public void close() {
        SimFunctions.kv_sim_node_destroy(handle);
        arena.close();
    }
}
