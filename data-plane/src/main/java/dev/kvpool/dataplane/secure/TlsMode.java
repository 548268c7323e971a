// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.util.Locale;

/** Whether a process speaks TLS on its TCP ports. */
public enum TlsMode {
    /** Plain connections only. */
    OFF,
    /** Listeners take plain and TLS connections, this process dials TLS. Admin HTTP has a port for each. */
    PERMISSIVE,
    /** TLS with certificates of both sides only; plain admin HTTP has health, version and metrics. */
    REQUIRED;

    /** As the flag {@code --tls} has it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
