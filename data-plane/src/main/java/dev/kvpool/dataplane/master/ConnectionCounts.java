// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.wire.RefusalCode;
import java.util.Map;
import java.util.EnumMap;
import java.util.concurrent.atomic.LongAdder;

/** What happened on connections outside of the core; counted on the event loop, read anywhere. */
public final class ConnectionCounts {
    private final Map<RefusalCode, LongAdder> refused = new EnumMap<>(RefusalCode.class);
    private final LongAdder malformed = new LongAdder();
    private final LongAdder overflowed = new LongAdder();

    ConnectionCounts() {
        for (RefusalCode code : RefusalCode.values()) {
            refused.put(code, new LongAdder());
        }
    }

    void countRefused(RefusalCode code) {
        refused.get(code).increment();
    }

    void countMalformed() {
        malformed.increment();
    }

    void countOverflow() {
        overflowed.increment();
    }

    public long refused(RefusalCode code) {
        return refused.get(code).sum();
    }

    /** Connections ended for bytes that are no message. */
    public long malformed() {
        return malformed.sum();
    }

    /** Connections ended because the peer did not read fast enough. */
    public long overflowed() {
        return overflowed.sum();
    }
}
