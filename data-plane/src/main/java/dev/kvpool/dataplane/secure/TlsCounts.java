// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.identity.peer.Refusal;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Handshakes and refusals of a process; each number only grows. Safe from any thread. */
public final class TlsCounts {
    private final LongAdder succeeded = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final Map<Refusal, LongAdder> refusals = new EnumMap<>(Refusal.class);

    public TlsCounts() {
        for (Refusal refusal : Refusal.values()) {
            refusals.put(refusal, new LongAdder());
        }
    }

    public void countHandshake() {
        succeeded.increment();
    }

    public void countFailedHandshake() {
        failed.increment();
    }

    public void count(Refusal refusal) {
        refusals.get(refusal).increment();
    }

    /** Handshakes after which both sides were authenticated. */
    public long handshakes() {
        return succeeded.sum();
    }

    public long failedHandshakes() {
        return failed.sum();
    }

    public long refusals(Refusal refusal) {
        return refusals.get(refusal).sum();
    }
}
