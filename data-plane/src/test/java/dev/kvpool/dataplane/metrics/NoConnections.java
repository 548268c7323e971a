// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;

/** Of a master that no peer has dialled. */
public record NoConnections() implements ConnectionNumbers {
    @Override
    public long refused(RefusalCode code) {
        return 0;
    }

    @Override
    public long malformed() {
        return 0;
    }

    @Override
    public long overflowed() {
        return 0;
    }

    @Override
    public long plain(Role role) {
        return 0;
    }
}
