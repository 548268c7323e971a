// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

/**
 * A running agent of libkvpool, which has threads of its own: it does the work of the clients at its socket until it is
 * closed. Safe for use by many threads; every method but {@link #close} throws KV_CLOSED after closing.
 */
public final class NativeAgent implements AutoCloseable {
    /** Staging memory that all clients together share with an agent unless it is told otherwise. */
    public static final long STAGING_BYTES = 1L << 30;

    /** Clients of one agent. */
    public static final int CLIENTS_MAX = 256;

    private final KvLibrary library;
    private final NativeHandle handle;

    private NativeAgent(KvLibrary library, NativeHandle handle) {
        this.library = library;
        this.handle = handle;
    }

    /**
     * Listens at the socket and looks for a leader for as long as it lives; none needs to be there.
     *
     * @throws KvException with the library's sentence when a parameter does not do, or the socket cannot be had
     */
    public static NativeAgent start(AgentParameters parameters) {
        return start(LoadedLibrary.get(), parameters);
    }

    static NativeAgent start(KvLibrary library, AgentParameters parameters) {
        String what = "agent at " + parameters.socket();
        NativeHandle handle = NativeHandle.open(
                what,
                "cannot start the " + what,
                Layouts.AGENT_PARAMS,
                parameters::writeTo,
                library::agentStart,
                library::agentDestroy);
        return new NativeAgent(library, handle);
    }

    /**
     * Its numbers now.
     *
     * @throws KvException KV_INTERNAL after a defect ended it
     */
    public NativeStats stats() {
        return handle.stats(Layouts.AGENT_STATS, library::agentGetStats);
    }

    /** Why no leader serves it; empty while one does. */
    public String whyNotReady() {
        return handle.text(library::agentExplain);
    }

    /** Closes connections and removes the socket. The second time does nothing. */
    @Override
    public void close() {
        handle.close();
    }
}
