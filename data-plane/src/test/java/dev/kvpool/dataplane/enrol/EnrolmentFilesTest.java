// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.cert.AuthorityDirectory;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EnrolmentFilesTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration DAY = Duration.ofDays(1);

    private EnrolmentFiles files;

    @TempDir
    Path folder;

    @BeforeEach
    void write() throws IOException {
        AuthorityDirectory.write(folder.resolve("ca"), CertificateAuthority.create(POOL, Instant.now(), DAY));
        Files.writeString(folder.resolve("rules"), "team-a/engine tenant team-a rw\n");
        files = open();
    }

    private EnrolmentFiles open() throws IOException {
        return new EnrolmentFiles(
                new EnrolmentSettings.Place(
                        Optional.of(folder.resolve("ca")),
                        folder.resolve("rules"),
                        Optional.empty(),
                        EnrolmentSettings.LIFE_MAX),
                POOL,
                InstantSource.system());
    }

    @Test
    void filesThatDidNotChangeAreNotParsedAgain() throws IOException {
        CertificateAuthority first = files.authority();
        files.look();
        assertThat(files.authority()).isSameAs(first);
        Files.writeString(folder.resolve("rules"), "team-a/engine tenant team-a ro\n");
        files.look();
        assertThat(files.authority()).as("only the rules changed").isSameAs(first);
    }

    @Test
    void whatIsRefusedIsToldAtEachLookAndChangesNothing() throws IOException {
        CertificateAuthority first = files.authority();
        CertificateAuthority foreign = CertificateAuthority.create(new UUID(7, 7), Instant.now(), DAY);
        Files.writeString(folder.resolve("ca/ca.crt"), Pem.encode(foreign.certificate()));
        Files.writeString(folder.resolve("ca/ca.key"), Pem.encodeKey(foreign.key()));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(files::look).hasMessageContaining("has the CA of pool " + new UUID(7, 7));
        }
        assertThat(files.authority()).isSameAs(first);
        assertThatThrownBy(this::open).isInstanceOf(IOException.class);
    }
}
