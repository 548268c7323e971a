// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.PeerName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuthorityDirectoryTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration YEAR = Duration.ofDays(365);

    private final Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    private final CertificateAuthority authority = CertificateAuthority.create(POOL, now, YEAR);

    @TempDir
    Path folder;

    @Test
    void filesOfACaComeBackAndAreNeverOverwritten() throws IOException {
        Path directory = folder.resolve("ca");
        AuthorityDirectory.write(directory, authority);

        CertificateAuthority read = AuthorityDirectory.read(directory, now);
        assertThat(read.certificate()).isEqualTo(authority.certificate());
        assertThat(read.poolId()).isEqualTo(POOL);
        assertThat(Files.getPosixFilePermissions(directory.resolve("ca.key"))).hasSize(2);
        assertThat(Files.getPosixFilePermissions(directory)).hasSize(3);
        assertThatThrownBy(() -> AuthorityDirectory.write(directory, authority))
                .hasMessageContaining("ca.crt exists already");
    }

    @Test
    void aCaThatCannotBeUsedIsRefusedByItsFile() throws IOException {
        Path directory = folder.resolve("ca");
        assertThatThrownBy(() -> AuthorityDirectory.read(directory, now)).hasMessageContaining("kvpool cert init");
        AuthorityDirectory.write(directory, authority);
        assertThatThrownBy(
                        () -> AuthorityDirectory.read(directory, now.plus(YEAR).plusSeconds(1)))
                .hasMessageContaining("ca.crt: the CA expired");
        CertificateAuthority other = CertificateAuthority.create(POOL, now, YEAR);
        Files.writeString(directory.resolve("ca.key"), Pem.encodeKey(other.key()));
        assertThatThrownBy(() -> AuthorityDirectory.read(directory, now))
                .hasMessageContaining("ca.key: the key does not belong");
        Files.writeString(
                directory.resolve("ca.crt"),
                Pem.encode(authority
                        .issue(PeerName.ofPath(POOL, "node/a"), List.of(), now, YEAR)
                        .certificate()));
        assertThatThrownBy(() -> AuthorityDirectory.read(directory, now))
                .hasMessageContaining("its first certificate is no CA of a pool");
    }

    @Test
    void rootsBesideItsOwnGoToAllThatGetCertificates() throws IOException {
        CertificateAuthority before = CertificateAuthority.create(POOL, now, YEAR);
        AuthorityDirectory.write(folder.resolve("ca"), authority);
        Files.writeString(
                folder.resolve("ca/ca.crt"), Pem.encode(authority.certificate()) + Pem.encode(before.certificate()));
        CertificateAuthority read = AuthorityDirectory.read(folder.resolve("ca"), now);

        IssuedDirectory.write(
                folder.resolve("out"), read, read.issue(PeerName.ofPath(POOL, "node/a"), List.of(), now, YEAR));

        assertThat(Pem.certificates(Files.readString(folder.resolve("out/ca.crt"))))
                .containsExactly(authority.certificate(), before.certificate());
    }
}
