// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files that others write for those who show a token. */
class EnrolClientTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final String RULES = "pool " + POOL + "\ntrust-domain cluster.local\n";

    @TempDir
    Path folder;

    @BeforeEach
    void write() throws IOException {
        Instant now = Instant.now();
        Files.writeString(
                folder.resolve("token"),
                TokenIssuer.rsa("key-1")
                        .token(TokenIssuer.claims("kvpool.dev/" + POOL, "mon", "engine", now, now.plusSeconds(600))));
        Files.writeString(
                folder.resolve("roots"),
                Pem.encode(CertificateAuthority.create(POOL, now, Duration.ofDays(1))
                        .certificate()));
    }

    private void read() throws IOException {
        assertThat(EnrolClient.caller(folder.resolve("token"), folder.resolve("roots")))
                .isNotNull();
    }

    @Test
    void namesOfOthersLieBesideTheRoots() throws IOException {
        read();
        Files.writeString(folder.resolve("names"), RULES);
        read();
        Files.writeString(folder.resolve("names"), "x y");
        assertThatThrownBy(this::read).hasMessageContaining(folder.resolve("names") + ": line 1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"names", "roots", "token"})
    void aFileThatIsTooLargeIsRefusedAndNotCut(String name) throws IOException {
        String good = name.equals("names") ? RULES : Files.readString(folder.resolve(name)) + "\n";
        String most = good + "#".repeat((1 << 20) - good.length());
        if (!name.equals("token")) {
            Files.writeString(folder.resolve(name), most);
            read();
        }
        Files.writeString(folder.resolve(name), most + "#");
        assertThatThrownBy(this::read)
                .isInstanceOf(IOException.class)
                .hasMessage(folder.resolve(name) + " has more than 1048576 bytes; is it what it should be?");
    }
}
