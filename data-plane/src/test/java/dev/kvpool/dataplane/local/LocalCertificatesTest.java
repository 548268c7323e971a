// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.secure.TlsContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalCertificatesTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");

    private final Instant now = Instant.now();

    @TempDir
    Path folder;

    private LocalCertificates issue(UUID poolId, Instant at) throws FailureException {
        return LocalCertificates.issue(folder.resolve("tls"), poolId, List.of("master-0"), List.of("node-0"), at);
    }

    @Test
    void eachProcessAndClientsHaveTheirOwn() throws Exception {
        LocalCertificates certificates = issue(POOL, now);

        assertThat(name(certificates.of("master-0"), now)).isEqualTo("master/master-0");
        assertThat(name(certificates.of("node-0"), now)).isEqualTo("node/node-0");
        assertThat(name(certificates.client(), now)).isEqualTo("tenant/default/rw/local");
        assertThat(name(certificates.admin(), now)).isEqualTo("admin/local");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("tls"))))
                .isEqualTo("rwx------");
    }

    @Test
    void laterRunsKeepTheCaUntilItIsAboutToEnd() throws Exception {
        X509Certificate first = root(issue(POOL, now), now);
        assertThat(root(issue(POOL, now), now)).isEqualTo(first);
        Instant late = now.plus(Duration.ofDays(340));
        assertThat(root(issue(POOL, late), late)).isNotEqualTo(first);
    }

    @Test
    void aCaThatCannotBeUsedIsNamedWithWhatToDo() throws Exception {
        issue(POOL, now);
        assertThatThrownBy(() -> issue(new UUID(1, 1), now))
                .isInstanceOf(FailureException.class)
                .hasMessageContainingAll("is the CA of pool " + POOL, "remove " + folder.resolve("tls"));
        Files.delete(folder.resolve("tls/ca/ca.key"));
        assertThatThrownBy(() -> issue(POOL, now))
                .isInstanceOf(FailureException.class)
                .hasMessageContainingAll("ca.key is missing", "or remove " + folder.resolve("tls"));
    }

    private static String name(Path directory, Instant at) throws IOException {
        return TlsContext.read(directory, at).credentials().name().path();
    }

    private static X509Certificate root(LocalCertificates certificates, Instant at) throws IOException {
        return TlsContext.read(certificates.client(), at).credentials().roots().getFirst();
    }
}
