// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.loop;

import dev.kvpool.dataplane.metrics.ConnectionNumbers;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What happened on connections outside of the core; counted on the event loop, read anywhere. */
public final class ConnectionCounts implements ConnectionNumbers {
    private final Map<RefusalCode, LongAdder> refused = new EnumMap<>(RefusalCode.class);
    private final LongAdder malformed = new LongAdder();
    private final LongAdder overflowed = new LongAdder();
    private final Map<Role, LongAdder> plain = new EnumMap<>(Role.class);

    public ConnectionCounts() {
        for (RefusalCode code : RefusalCode.values()) {
            refused.put(code, new LongAdder());
        }
        for (Role role : Role.values()) {
            plain.put(role, new LongAdder());
        }
    }

    public void countRefused(RefusalCode code) {
        refused.get(code).increment();
    }

    public void countMalformed() {
        malformed.increment();
    }

    public void plainOpened(Role role) {
        plain.get(role).increment();
    }

    public void plainClosed(Role role) {
        plain.get(role).decrement();
    }

    void countOverflow() {
        overflowed.increment();
    }

    @Override
    public long refused(RefusalCode code) {
        return refused.get(code).sum();
    }

    @Override
    public long malformed() {
        return malformed.sum();
    }

    @Override
    public long overflowed() {
        return overflowed.sum();
    }

    @Override
    public long plain(Role role) {
        return plain.get(role).sum();
    }
}
