// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cert;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.identity.certificate.CertificateAuthority;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** {@code kvpool cert init}: makes the CA of a pool. */
public final class CertInitCommand implements Command {
    static final Setting<Path> DIRECTORY = Setting.required(
            "dir", Formats.DIRECTORY, "Directory for the CA: ca.crt, and ca.key, which signs and must stay secret.");

    static final Setting<UUID> POOL_ID = Setting.required(
            "pool-id", Formats.UUID_TEXT, "Id of the pool whose members and clients get certificates.");

    static final Setting<Integer> DAYS = Setting.withDefault(
            "days",
            Formats.integer("N", 1, 3650),
            "365",
            "Days until the CA ends, and everything it has issued with it.");

    @Override
    public String name() {
        return "cert init";
    }

    @Override
    public String summary() {
        return "Makes the certificate authority of a pool in a directory.";
    }

    @Override
    public List<Setting<?>> settings() {
        return List.of(DIRECTORY, POOL_ID, DAYS);
    }

    @Override
    public int run(Settings settings, Console console) throws FailureException {
        CertificateAuthority authority =
                CertificateAuthority.create(settings.get(POOL_ID), Instant.now(), Duration.ofDays(settings.get(DAYS)));
        Path directory = settings.get(DIRECTORY);
        try {
            AuthorityDirectory.write(directory, authority);
        } catch (IOException e) {
            throw new FailureException(e.getMessage(), e);
        }
        console.out()
                .println("made the CA of pool " + authority.poolId() + " in " + directory + ", until "
                        + authority.certificate().getNotAfter().toInstant());
        return ExitCode.OK;
    }
}
