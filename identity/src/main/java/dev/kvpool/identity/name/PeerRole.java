// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.name;

import java.util.Locale;

/** What a process or person with a certificate is. */
public enum PeerRole {
    MASTER,
    NODE,
    AGENT,
    OPERATOR,
    MONITOR,
    ADMIN,
    TENANT;

    /** As it stands in names. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
