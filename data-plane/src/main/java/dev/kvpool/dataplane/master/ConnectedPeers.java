// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.admin.ConnectedPeer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Who is connected and what it understands. The event loop writes it, admin requests read it; bounded by the sessions. */
final class ConnectedPeers {
    private final Map<Long, ConnectedPeer> bySession = new ConcurrentHashMap<>();

    void add(long session, ConnectedPeer peer) {
        bySession.put(session, peer);
    }

    void remove(long session) {
        bySession.remove(session);
    }

    List<ConnectedPeer> all() {
        return List.copyOf(bySession.values());
    }
}
