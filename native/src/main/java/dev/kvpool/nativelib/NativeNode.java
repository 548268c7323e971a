// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A running storage node of libkvpool, which has threads of its own: it serves clients and follows the masters until it
 * is closed. Safe for use by many threads; every method but {@link #close} throws KV_CLOSED after closing.
 */
public final class NativeNode implements AutoCloseable {
    /** The least a segment may have. */
    public static final long SEGMENT_BYTES_MIN = 16L << 20;

    /** The most a segment, or an SSD tier, may have: masters keep offsets in 45 bits. */
    public static final long SEGMENT_BYTES_MAX = 32L << 40;

    /** Memory that clients share with a node that nothing else is said of. */
    public static final long STAGING_BYTES = 1L << 30;

    private static final int EXPLANATION_BYTES = 1024;

    private final KvLibrary library;
    private final NativeHandle handle;
    private final String nodeId;

    private NativeNode(KvLibrary library, NativeHandle handle, String nodeId) {
        this.library = library;
        this.handle = handle;
        this.nodeId = nodeId;
    }

    /**
     * Opens or creates the segment, verifies its records and listens; then dials the masters for as long as it lives.
     *
     * @throws KvException with the library's sentence when a parameter does not do, the segment cannot be used, or the
     *     port is taken
     */
    public static NativeNode start(NodeParameters parameters) {
        return start(LoadedLibrary.get(), parameters);
    }

    static NativeNode start(KvLibrary library, NodeParameters parameters) {
        String what = "storage node " + parameters.nodeId();
        try (Arena arena = Arena.ofConfined()) {
            Struct struct = new Struct(arena, Layouts.NODE_PARAMS);
            parameters.writeTo(struct);
            MemorySegment out = arena.allocate(JAVA_LONG);
            ErrorText error = new ErrorText(arena);
            int status = library.nodeStart(struct.address(), out.address(), error.address(), error.size());
            if (status != Status.OK.code()) {
                throw error.exception("cannot start " + what, status);
            }
            NativeHandle handle = new NativeHandle(what, out.get(JAVA_LONG, 0), library::nodeDestroy);
            return new NativeNode(library, handle, parameters.nodeId());
        }
    }

    public NodeStats stats() {
        return handle.call(node -> {
            try (Arena arena = Arena.ofConfined()) {
                Struct stats = new Struct(arena, Layouts.NODE_STATS);
                int status = library.nodeGetStats(node, stats.address());
                if (status != Status.OK.code()) {
                    throw ErrorText.failure("cannot read the statistics of storage node " + nodeId, status);
                }
                return NodeStats.of(stats);
            }
        });
    }

    /** Why a protocol that was asked for is not served. Empty when all are. */
    public String explain() {
        return handle.call(node -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment text = arena.allocate(EXPLANATION_BYTES);
                int status = library.nodeExplain(node, text.address(), EXPLANATION_BYTES);
                return status == Status.OK.code() ? text.getString(0) : "";
            }
        });
    }

    /** Stops threads and connections and unlocks the segment, whose file stays. The second time does nothing. */
    @Override
    public void close() {
        handle.close();
    }
}
