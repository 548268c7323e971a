// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

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
        try (Arena arena = Arena.ofConfined()) {
            Struct struct = new Struct(arena, Layouts.AGENT_PARAMS);
            parameters.writeTo(struct);
            MemorySegment out = arena.allocate(JAVA_LONG);
            ErrorText error = new ErrorText(arena);
            int status = library.agentStart(struct.address(), out.address(), error.address(), error.size());
            if (status != Status.OK.code()) {
                throw error.exception("cannot start the " + what, status);
            }
            return new NativeAgent(library, new NativeHandle(what, out.get(JAVA_LONG, 0), library::agentDestroy));
        }
    }

    /**
     * Its numbers now.
     *
     * @throws KvException KV_INTERNAL after a defect ended it
     */
    public AgentStats stats() {
        return handle.call(agent -> {
            try (Arena arena = Arena.ofConfined()) {
                Struct stats = new Struct(arena, Layouts.AGENT_STATS);
                int status = library.agentGetStats(agent, stats.address());
                if (status != Status.OK.code()) {
                    throw ErrorText.failure("cannot read the statistics of the agent", status);
                }
                return AgentStats.of(stats);
            }
        });
    }

    /** Why no leader serves it; empty while one does. */
    public String whyNotReady() {
        return handle.call(agent -> {
            try (Arena arena = Arena.ofConfined()) {
                ErrorText text = new ErrorText(arena);
                int status = library.agentExplain(agent, text.address(), text.size());
                if (status != Status.OK.code()) {
                    throw ErrorText.failure("cannot ask the agent for its state", status);
                }
                return text.text();
            }
        });
    }

    /** Closes connections and removes the socket. The second time does nothing. */
    @Override
    public void close() {
        handle.close();
    }
}
