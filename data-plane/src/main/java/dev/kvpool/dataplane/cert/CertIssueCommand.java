// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cert;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.Format;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.name.PeerName;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** {@code kvpool cert issue}: makes a directory for {@code --tls-dir}. */
public final class CertIssueCommand implements Command {
    /** Only the form of the name is checked before the CA, and so the pool, is known. */
    private static final UUID ANY_POOL = new UUID(0, 1);

    static final Setting<Path> CA_DIRECTORY =
            Setting.required("ca-dir", Formats.DIRECTORY, "Directory that `kvpool cert init` has made.");

    static final Setting<String> NAME = Setting.required(
            "name",
            new Format<>(
                    "ROLE/NAME",
                    "master/NAME, node/NAME, agent/NAME, operator, monitor, admin/NAME, tenant/TENANT/rw/NAME or tenant/TENANT/ro/NAME,"
                            + " in lower case",
                    CertIssueCommand::requireName),
            "Who the certificate is for; of masters and nodes the name must be that of --name and --node-id.");

    static final Setting<Path> OUT = Setting.required(
            "out",
            Formats.DIRECTORY,
            "Directory for tls.crt, tls.key and ca.crt; one that is there gets a new certificate.");

    static final Setting<Integer> DAYS = Setting.withDefault(
            "days",
            Formats.integer("N", 1, 3650),
            "90",
            "Days until the certificate ends; it ends with the CA at the latest.");

    static final Setting<List<String>> DNS = Setting.optional(
            "dns",
            Formats.listOf(new Format<>(
                    "NAME", "a DNS name", text -> Formats.HOST.parser().apply(text))),
            "DNS names for HTTP clients that check host names, such as curl and Prometheus; kvpool does not.");

    @Override
    public String name() {
        return "cert issue";
    }

    @Override
    public String summary() {
        return "Issues a certificate of a pool's authority: a directory for --tls-dir or KVPOOL_TLS_DIR.";
    }

    @Override
    public List<Setting<?>> settings() {
        return List.of(CA_DIRECTORY, NAME, OUT, DAYS, DNS);
    }

    @Override
    public int run(Settings settings, Console console) throws FailureException {
        Instant now = Instant.now();
        Path out = settings.get(OUT);
        try {
            CertificateAuthority authority = AuthorityDirectory.read(settings.get(CA_DIRECTORY), now);
            PeerName name = PeerName.ofPath(authority.poolId(), settings.get(NAME));
            CertificateAuthority.Issued issued = authority.issue(
                    name, settings.find(DNS).orElse(List.of()), now, Duration.ofDays(settings.get(DAYS)));
            IssuedDirectory.write(out, authority, issued);
            console.out()
                    .println("issued " + name.uri() + " in " + out + ", until "
                            + issued.certificate().getNotAfter().toInstant());
        } catch (IOException e) {
            throw new FailureException(e.getMessage(), e);
        }
        return ExitCode.OK;
    }

    private static String requireName(String path) {
        return PeerName.ofPath(ANY_POOL, path).path();
    }
}
