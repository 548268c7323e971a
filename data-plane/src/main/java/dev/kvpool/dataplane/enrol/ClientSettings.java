// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Setting;
import java.nio.file.Path;

/** What each process is told that asks for a certificate: what it shows, and whom it believes. */
final class ClientSettings {
    static final Setting<Path> TOKEN = Setting.optional(
            "token-file",
            Formats.FILE,
            "File with the token of this process's ServiceAccount, of audience kvpool.dev/POOL-ID, such as a projected volume has. Read again"
                    + " each time.");

    static final Setting<Path> ROOTS = Setting.optional(
            "roots",
            Formats.FILE,
            "File with the ca.crt of the pool, by which masters are known. Read again each time.");

    private ClientSettings() {}
}
