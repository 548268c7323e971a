// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.cli.StopSignal;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.nativelib.Uptime;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** {@code kvpool enrol}: gets a certificate for a token, and new ones as long as it runs. */
public final class EnrolCommand implements Command {
    static final Setting<List<HostPort>> ADMINS = Setting.required(
            "admins",
            HostPort.LIST,
            "Addresses of masters of the pool, with the ports of --secure-admin-port; they are asked in turn.");

    static final Setting<Path> TOKEN = ClientSettings.TOKEN.asRequired();

    static final Setting<Path> ROOTS = ClientSettings.ROOTS.asRequired();

    static final Setting<Path> OUT = Setting.required(
            "out",
            Formats.DIRECTORY,
            "Directory for tls.crt, tls.key and ca.crt: what --tls-dir and KVPOOL_TLS_DIR name.");

    static final Setting<Boolean> ONCE = Setting.onOff(
            "once",
            "End with the first certificate, or fail; without it a new one is fetched at half the life of each.");

    @Override
    public String name() {
        return "enrol";
    }

    @Override
    public String summary() {
        return "Gets a certificate of a pool for the token of a ServiceAccount, and keeps it new.";
    }

    @Override
    public List<Setting<?>> settings() {
        return List.of(ADMINS, TOKEN, ROOTS, OUT, ONCE);
    }

    @Override
    public int run(Settings settings, Console console) throws FailureException {
        EnrolClient client =
                new EnrolClient(settings.get(ADMINS), settings.get(TOKEN), settings.get(ROOTS), settings.get(OUT));
        if (settings.get(ONCE)) {
            try {
                told(settings, console).enrolled(client.enrol());
                return ExitCode.OK;
            } catch (IOException e) {
                throw new FailureException("no certificate: " + e.getMessage(), e);
            }
        }
        CertificateRenewal renewal = new CertificateRenewal(client, told(settings, console), Uptime::ms);
        boolean asked = false;
        while (!asked) {
            asked = isAsked(console.stop(), renewal.turn());
        }
        return ExitCode.OK;
    }

    private static CertificateRenewal.Told told(Settings settings, Console console) {
        return new CertificateRenewal.Told() {
            @Override
            public void enrolled(EnrolClient.Written written) {
                console.out()
                        .println("enrolled " + written.name() + " in " + settings.get(OUT) + ", until "
                                + written.notAfter());
            }

            @Override
            public void failed(IOException why, Duration again) {
                console.err().println("no certificate, next try in " + again.toSeconds() + " s: " + why.getMessage());
            }
        };
    }

    private static boolean isAsked(StopSignal stop, Duration within) throws FailureException {
        try {
            return stop.await(within);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FailureException("interrupted", e);
        }
    }
}
