// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;

/** What happened on the connections of a master; each number but that of plain ones only grows. Safe to read from any thread. */
public interface ConnectionNumbers {
    /** Connections refused for this reason. */
    long refused(RefusalCode code);

    /** Connections ended for bytes that are no message. */
    long malformed();

    /** Connections ended because the peer did not read fast enough. */
    long overflowed();

    /** Peers of this role that are connected now without TLS. */
    long plain(Role role);
}
