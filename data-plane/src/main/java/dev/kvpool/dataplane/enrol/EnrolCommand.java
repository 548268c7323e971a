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
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** {@code kvpool enrol}: gets a certificate for a token, and new ones as long as it runs. */
public final class EnrolCommand implements Command {
    private static final Duration AGAIN_MIN = Duration.ofSeconds(1);
    private static final Duration AGAIN_MAX = Duration.ofMinutes(1);

    static final Setting<List<HostPort>> ADMINS = Setting.required(
            "admins",
            HostPort.LIST,
            "Addresses of masters of the pool, with the ports of --secure-admin-port; they are asked in turn.");

    static final Setting<Path> TOKEN = Setting.required(
            "token-file",
            Formats.FILE,
            "File with the token of a ServiceAccount of audience kvpool.dev/POOL-ID, such as a projected volume has. Read again each time.");

    static final Setting<Path> ROOTS = Setting.required(
            "roots",
            Formats.FILE,
            "File with the ca.crt of the pool, by which masters are known. Read again each time.");

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
        StopSignal stop = console.stop();
        Duration again = AGAIN_MIN;
        while (true) {
            Duration next;
            try {
                EnrolClient.Written written = client.enrol();
                console.out()
                        .println("enrolled " + written.name() + " in " + settings.get(OUT) + ", until "
                                + written.notAfter());
                again = AGAIN_MIN;
                next = untilRenewal(
                        written.notAfter(),
                        Instant.now(),
                        ThreadLocalRandom.current().nextDouble());
            } catch (IOException e) {
                if (settings.get(ONCE)) {
                    throw new FailureException("no certificate: " + e.getMessage(), e);
                }
                console.err().println("no certificate, next try in " + again.toSeconds() + " s: " + e.getMessage());
                next = again;
                again = again.multipliedBy(2).compareTo(AGAIN_MAX) < 0 ? again.multipliedBy(2) : AGAIN_MAX;
            }
            if (settings.get(ONCE) || isAsked(stop, next)) {
                return ExitCode.OK;
            }
        }
    }

    /**
     * Half of what is left of its life, give or take a tenth, so that pods that started together do not come together.
     *
     * @param random 0 to 1
     */
    static Duration untilRenewal(Instant notAfter, Instant now, double random) {
        double left = Math.max(0, Duration.between(now, notAfter).toMillis());
        return Duration.ofMillis(Math.max(AGAIN_MIN.toMillis(), (long) (left * (0.45 + random / 10))));
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
