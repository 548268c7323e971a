// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim.nativecore;

import static dev.kvpool.dataplane.sim.nativecore.NativeMemory.INT;
import static dev.kvpool.dataplane.sim.nativecore.NativeMemory.LONG;

import dev.kvpool.dataplane.wire.message.ObjectId;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;

/** One life of the production core of a client. Not thread safe. */
public final class ClientCore implements AutoCloseable {
    private static final int OK = 0;
    private static final int PROTOCOL_TCP = 1;
    private static final int PROTOCOL_SHM = 2;
    private static final int PROTOCOL_ASCEND = 8;
    private static final long PARAMS_BYTES = 64;
    private static final long BATCH_BYTES = 56;
    private static final long ACTION_BYTES = 96;

    /** What the core wants done; the order of the constants is that of the header. */
    public enum Kind {
        NONE,
        DIAL,
        SEND_FRAMES,
        SEND_PAYLOAD,
        RECEIVE_PAYLOAD,
        SEND_STAGING,
        MAP_SEGMENTS,
        COPY_TO_STAGING,
        COPY_FROM_SEGMENT,
        CANCEL_COPY,
        CLOSE,
        FINISH_BATCH,
        OFFER_STAGING,
        COPY_FROM_STAGING
    }

    /** What moves payloads, beside the connections with nodes. */
    public enum Way {
        TCP(PROTOCOL_TCP),
        SHARED_MEMORY(PROTOCOL_TCP | PROTOCOL_SHM),
        ASCEND_OR_TCP(PROTOCOL_ASCEND | PROTOCOL_TCP),
        ASCEND(PROTOCOL_ASCEND);

        private final int protocols;

        Way(int protocols) {
            this.protocols = protocols;
        }

        public boolean isAscend() {
            return (protocols & PROTOCOL_ASCEND) != 0;
        }
    }

    /**
     * How a batch is done.
     *
     * @param force for removals
     * @param upsert for puts
     * @param pins for puts, as in the C header
     * @param softPinMs for puts, 0 for the pool's default
     * @param reuse for gets: what is leased is read without asking
     */
    public record Manner(int replicas, boolean force, boolean upsert, int pins, int softPinMs, boolean reuse) {
        public static final int PIN_SOFT = 1;
        public static final int PIN_HARD = 2;

        public static Manner of(int replicas, boolean force) {
            return new Manner(replicas, force, false, 0, 0, false);
        }
    }

    /** Where an object lies in a segment that this client shares. */
    public record Place(int segment, int slot, long generation, ObjectId object) {}

    /**
     * One action; {@code data} are frames or an address to dial, {@code memory} is the batch's, {@code offset} is in the staging memory
     * or in the segment.
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Action(
            Kind kind,
            boolean local,
            long connection,
            long transfer,
            long memory,
            long length,
            long offset,
            Place place,
            byte[] data) {}

    private static final Kind[] KINDS = Kind.values();
    private static final byte[] NO_DATA = new byte[0];

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment action = arena.allocate(ACTION_BYTES, Long.BYTES);
    private final MemorySegment batch = arena.allocate(BATCH_BYTES, Long.BYTES);
    private final MemorySegment why = NativeMemory.text(arena, "the simulation ended the connection");
    private final long handle;

    /**
     * Begins a life.
     *
     * @param cann null where CANN is not used
     */
    public ClientCore(String name, String masters, Way way, Cann cann, long incarnation, long seed) {
        MemorySegment params = arena.allocate(PARAMS_BYTES, Long.BYTES);
        params.set(INT, 0, (int) PARAMS_BYTES);
        params.set(INT, 4, way.protocols);
        params.set(LONG, 8, NativeMemory.text(arena, masters).address());
        params.set(LONG, 16, NativeMemory.text(arena, name).address());
        params.set(
                LONG,
                24,
                NativeMemory.text(arena, way == Way.SHARED_MEMORY ? "simulated-boot" : "")
                        .address());
        params.set(LONG, 32, incarnation);
        params.set(LONG, 40, seed);
        if (cann != null) {
            params.set(INT, 56, cann.patienceMs());
            params.set(INT, 60, cann.cardRepeatsMs());
        }
        MemorySegment out = arena.allocate(Long.BYTES, Long.BYTES);
        call(() -> SimFunctions.kv_sim_client_create(params.address(), out.address()));
        handle = out.get(LONG, 0);
    }

    /** Submits {@code table} under the number {@code id}; it is the core's until the batch is finished. */
    public void submit(long nowMs, long id, OpTable table, int timeoutMs, Manner manner) {
        batch.set(INT, 0, (int) BATCH_BYTES);
        batch.set(INT, 4, table.opCode());
        batch.set(LONG, 8, id);
        batch.set(INT, 16, table.count());
        batch.set(INT, 20, timeoutMs);
        batch.set(INT, 24, manner.replicas());
        batch.set(INT, 28, manner.force() ? 1 : 0);
        batch.set(LONG, 32, table.address());
        batch.set(INT, 40, manner.upsert() ? 1 : 0);
        batch.set(INT, 44, manner.pins());
        batch.set(INT, 48, manner.softPinMs());
        batch.set(INT, 52, manner.reuse() ? 1 : 0);
        call(() -> SimFunctions.kv_sim_client_submit(handle, nowMs, batch.address()));
    }

    public void opened(long nowMs, long connection) {
        call(() -> SimFunctions.kv_sim_client_opened(handle, nowMs, connection));
    }

    public void closed(long nowMs, long connection) {
        call(() -> SimFunctions.kv_sim_client_closed(handle, nowMs, connection, why.address()));
    }

    public void frame(long nowMs, long connection, byte[] body) {
        call(() -> SimFunctions.kv_sim_client_frame(handle, nowMs, connection, FrameScratch.put(body), body.length));
    }

    public void payloadSent(long nowMs, long connection, long transfer) {
        call(() -> SimFunctions.kv_sim_client_payload_sent(handle, nowMs, connection, transfer));
    }

    public void payloadReceived(long nowMs, long connection, long transfer, int computedCrc, int sentCrc) {
        call(() ->
                SimFunctions.kv_sim_client_payload_received(handle, nowMs, connection, transfer, computedCrc, sentCrc));
    }

    public void segmentsMapped(long nowMs, long connection) {
        call(() -> SimFunctions.kv_sim_client_segments_mapped(handle, nowMs, connection, OK));
    }

    public void copiedToStaging(long nowMs, long connection, long transfer, int crc) {
        call(() -> SimFunctions.kv_sim_client_copied_to_staging(handle, nowMs, connection, transfer, crc));
    }

    /**
     * A copy is done.
     *
     * @param status NOT_FOUND when the directory did not name the object, before or after
     */
    public void copiedFromSegment(long nowMs, long connection, long transfer, int status, int crc) {
        call(() -> SimFunctions.kv_sim_client_copied_from_segment(handle, nowMs, connection, transfer, status, crc));
    }

    /**
     * Memory is there for what nodes move by CANN.
     *
     * @param address as nodes are told
     */
    public void stagingOffered(long nowMs, long connection, long address, String endpoint, long registrations) {
        try (Arena names = Arena.ofConfined()) {
            long worker = NativeMemory.text(names, endpoint).address();
            call(() -> SimFunctions.kv_sim_client_staging_offered(
                    handle, nowMs, connection, address, worker, registrations));
        }
    }

    public void tick(long nowMs) {
        call(() -> SimFunctions.kv_sim_client_tick(handle, nowMs));
    }

    /** The next action in order, or null when there is none. */
    public Action next() {
        call(() -> SimFunctions.kv_sim_client_next(handle, action.address()));
        Kind kind = KINDS[action.get(INT, 0)];
        if (kind == Kind.NONE) {
            return null;
        }
        int length = (int) action.get(LONG, 88);
        return new Action(
                kind,
                action.get(INT, 4) != 0,
                action.get(LONG, 8),
                action.get(LONG, 16),
                action.get(LONG, 24),
                action.get(LONG, 32),
                action.get(LONG, 40),
                new Place(
                        action.get(INT, 60),
                        action.get(INT, 56),
                        action.get(LONG, 48),
                        new ObjectId(action.get(LONG, 64), action.get(LONG, 72))),
                length == 0 ? NO_DATA : NativeMemory.read(action.get(LONG, 80), length));
    }

    /** The sentence behind the latest failure. */
    public String explanation() {
        return NativeMemory.text(SimFunctions.kv_sim_client_explain(handle));
    }

    private static void call(IntSupplier function) {
        int status = function.getAsInt();
        if (status != OK) {
            throw new AssertionError("a defect of the client's core, status " + status);
        }
    }

    @Override
    public void close() {
        SimFunctions.kv_sim_client_destroy(handle);
        arena.close();
    }
}
