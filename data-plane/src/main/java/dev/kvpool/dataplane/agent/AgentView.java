// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import dev.kvpool.nativelib.KvException;
import dev.kvpool.nativelib.NativeAgent;
import dev.kvpool.nativelib.NativeStats;
import dev.kvpool.nativelib.Status;
import java.nio.file.Path;
import java.util.Optional;

/** What HTTP may know of the agent until it closes. */
final class AgentView {
    private final NativeAgent agent;
    private final Path socket;
    private volatile boolean closing;

    AgentView(NativeAgent agent, Path socket) {
        this.agent = agent;
        this.socket = socket;
    }

    Path socket() {
        return socket;
    }

    void closing() {
        closing = true;
    }

    /** The agent's numbers while it is open. */
    Optional<NativeStats> stats() {
        try {
            return closing ? Optional.empty() : Optional.of(agent.stats());
        } catch (KvException e) {
            return Optional.empty(); // closed since, or ended by a defect
        }
    }

    /** Whether one of its own threads has ended; the log says why. */
    boolean failed() {
        try {
            if (!closing) {
                agent.stats();
            }
            return false;
        } catch (KvException e) {
            return e.status() == Status.INTERNAL;
        }
    }

    /** Why clients would wait now; empty while a leader serves us. */
    String whyNotReady() {
        try {
            return closing ? "stopping" : agent.whyNotReady();
        } catch (KvException e) {
            return "stopping";
        }
    }
}
