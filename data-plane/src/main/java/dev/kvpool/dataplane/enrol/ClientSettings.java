// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.http.AdminCaller;
import java.io.IOException;
import java.nio.file.Path;

/** What each process is told that shows a token, for a certificate or in place of one: what it shows, and whom it believes. */
public final class ClientSettings {
    public static final Setting<Path> TOKEN = Setting.optional(
            "token-file",
            Formats.FILE,
            "File with the token of this process's ServiceAccount, of audience kvpool.dev/POOL-ID, such as a projected volume has. Read again"
                    + " each time.");

    public static final Setting<Path> ROOTS = Setting.optional(
            "roots",
            Formats.FILE,
            "File with the ca.crt of the pool, by which masters are known. Read again each time.");

    private ClientSettings() {}

    /**
     * Asks masters by these, both of which are given.
     *
     * @throws IOException when a file cannot be read, or has nothing that can be used
     */
    public static AdminCaller caller(Settings settings) throws IOException {
        return EnrolClient.caller(settings.get(TOKEN), settings.get(ROOTS));
    }
}
