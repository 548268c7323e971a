// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.wire.RefusalCode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The sessions of clients and when each was heard last. */
public final class Clients {
    private final Map<Long, Long> heardMs = new LinkedHashMap<>();

    public Optional<Objection> connect(long session, long nowMs) {
        if (heardMs.size() >= Bounds.CLIENTS_MAX) {
            return Optional.of(new Objection(
                    RefusalCode.LIMIT, "this master serves at most " + Bounds.CLIENTS_MAX + " clients at a time"));
        }
        heardMs.put(session, nowMs);
        return Optional.empty();
    }

    /** Whether the session is a client's. */
    public boolean heard(long session, long nowMs) {
        return heardMs.replace(session, nowMs) != null;
    }

    /** Whether the session was a client's. */
    public boolean disconnect(long session) {
        return heardMs.remove(session) != null;
    }

    public int count() {
        return heardMs.size();
    }

    public Set<Map.Entry<Long, Long>> heardMs() {
        return heardMs.entrySet();
    }
}
