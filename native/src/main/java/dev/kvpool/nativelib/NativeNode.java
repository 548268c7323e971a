// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

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

    private final KvLibrary library;
    private final NativeHandle handle;

    private NativeNode(KvLibrary library, NativeHandle handle) {
        this.library = library;
        this.handle = handle;
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
        NativeHandle handle = NativeHandle.open(
                what,
                "cannot start " + what,
                Layouts.NODE_PARAMS,
                parameters::writeTo,
                library::nodeStart,
                library::nodeDestroy);
        return new NativeNode(library, handle);
    }

    public NativeStats stats() {
        return handle.stats(Layouts.NODE_STATS, library::nodeGetStats);
    }

    /** Why a protocol that was asked for is not served. Empty when all are. */
    public String explain() {
        return handle.text(library::nodeExplain);
    }

    /** Stops threads and connections and unlocks the segment, whose file stays. The second time does nothing. */
    @Override
    public void close() {
        handle.close();
    }
}
