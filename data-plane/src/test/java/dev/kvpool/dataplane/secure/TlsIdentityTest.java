// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.CapturedLog;
import dev.kvpool.dataplane.cert.IssuedDirectory;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsIdentityTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private final Instant now = Instant.now();
    private static final Duration DAY = Duration.ofDays(1);

    private final CertificateAuthority authority = CertificateAuthority.create(POOL, now, Duration.ofDays(365));
    private Path directory;

    @TempDir
    Path folder;

    @BeforeEach
    void issue() throws IOException {
        directory = folder.resolve("tls");
        write(directory, authority, "node/a");
    }

    private void write(Path directory, CertificateAuthority by, String name) throws IOException {
        IssuedDirectory.write(directory, by, by.issue(PeerName.ofPath(POOL, name), List.of(), now, DAY));
    }

    @Test
    void aDirectoryIsRead() throws IOException {
        try (TlsIdentity identity = open()) {
            Credentials credentials = identity.current().credentials();
            assertThat(credentials.name().path()).isEqualTo("node/a");
            assertThat(credentials.toString()).isEqualTo("spiffe://" + POOL + "/node/a");
            assertThat(credentials.roots()).containsExactly(authority.certificate());
        }
    }

    @Test
    void aRootThatEndsSoonIsLoggedOnce() throws Exception {
        CertificateAuthority ending = CertificateAuthority.create(POOL, now, Duration.ofDays(20));
        try (CapturedLog log = new CapturedLog(TlsIdentity.class.getName());
                TlsIdentity identity = open()) {
            identity.look();
            assertThat(log.lines()).noneMatch(line -> line.startsWith("a root that this process trusts"));
            write(directory, ending, "node/a");
            identity.look();
            identity.look();
            assertThat(log.lines())
                    .filteredOn(line -> line.startsWith("a root that this process trusts ends at "
                            + ending.certificate().getNotAfter().toInstant() + ", in 19 days"))
                    .hasSize(1);
        }
    }

    @Test
    void whatIsMissingIsNamed() throws IOException {
        for (String file : List.of("tls.crt", "tls.key", "ca.crt")) {
            Files.delete(directory.resolve(file));
            refused(file + " is missing", "kvpool cert issue");
            issue();
        }
        directory = folder.resolve("absent");
        refused("is no directory", "kvpool cert issue");
    }

    @Test
    void whatCannotBeReadIsNamed() throws IOException {
        Files.writeString(directory.resolve("tls.crt"), "");
        refused("tls.crt: it holds no certificate");
        Files.writeString(directory.resolve("tls.crt"), "-----BEGIN CERTIFICATE-----\nMIIB");
        refused("tls.crt: its CERTIFICATE has no end: the file is cut off");
        Files.writeString(directory.resolve("tls.crt"), "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n");
        refused("tls.crt: its CERTIFICATE is no base64");
        Files.writeString(
                directory.resolve("tls.crt"), "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
        refused("tls.crt: a certificate in it cannot be read");
        Files.write(directory.resolve("tls.crt"), new byte[(1 << 20) + 1]);
        refused("tls.crt has more than");
        Files.write(directory.resolve("tls.crt"), new byte[] {(byte) 0xff, (byte) 0xfe, 0, 1});
        refused("tls.crt: it holds no certificate");
        issue();
        Files.writeString(
                directory.resolve("tls.key"), "-----BEGIN EC PRIVATE KEY-----\nMIIB\n-----END EC PRIVATE KEY-----\n");
        refused("tls.key: it must hold one PRIVATE KEY in PKCS#8", "openssl pkcs8");
        Files.writeString(
                directory.resolve("tls.key"), "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n");
        refused("tls.key: its key is neither EC nor RSA");
        Files.delete(directory.resolve("tls.key"));
        Files.createDirectory(directory.resolve("tls.key"));
        refused("cannot read " + directory.resolve("tls.key"));
    }

    @Test
    void whatDoesNotFitTogetherIsNamed() throws IOException, GeneralSecurityException {
        String certificate = Files.readString(directory.resolve("tls.crt"));
        issue();
        String next = Files.readString(directory.resolve("tls.crt"));
        Files.writeString(directory.resolve("tls.crt"), certificate);
        refused("tls.key: the key does not belong to the first certificate of tls.crt");
        Files.writeString(directory.resolve("tls.crt"), next);
        CertificateAuthority other = CertificateAuthority.create(POOL, now, DAY);
        Files.writeString(directory.resolve("ca.crt"), Pem.encode(other.certificate()));
        refused("tls.crt: the certificate does not lead to a root in ca.crt");
        Files.writeString(
                directory.resolve("ca.crt"), Pem.encode(other.certificate()) + Pem.encode(authority.certificate()));
        open().close();
        KeyPairGenerator small = KeyPairGenerator.getInstance("RSA");
        small.initialize(1024);
        Files.writeString(
                directory.resolve("tls.key"),
                Pem.encodeKey(small.generateKeyPair().getPrivate()));
        refused("tls.key: the key must be EC P-256, or RSA of at least 2048 bits");
    }

    @Test
    void timeAndNameAreChecked() throws IOException {
        refusedAt(now.plus(DAY).plusSeconds(1), "tls.crt: the certificate expired at");
        refusedAt(now.minus(DAY), "tls.crt: the certificate is valid from");
        for (TlsIdentity.OwnName wrong : List.of(
                TlsIdentity.member(PeerRole.NODE, "b", POOL),
                TlsIdentity.member(PeerRole.MASTER, "a", POOL),
                TlsIdentity.member(PeerRole.NODE, "a", new UUID(1, 1)))) {
            assertThatThrownBy(() -> TlsIdentity.open(directory, wrong, InstantSource.fixed(now))
                            .close())
                    .isInstanceOf(RefusedCertificateException.class)
                    .hasMessageContaining("it is for spiffe://" + POOL + "/node/a, but this process is spiffe://");
        }
    }

    @Test
    void aCaIsNoLeafOfAProcess() throws IOException {
        Files.writeString(directory.resolve("tls.crt"), Pem.encode(authority.certificate()));
        refused("tls.key: the key does not belong");
    }

    @Test
    void aNewDirectoryServesNewConnectionsAndABadOneChangesNothing() throws IOException {
        try (TlsIdentity identity = open()) {
            TlsContext first = identity.current();
            identity.look();
            assertThat(identity.current()).isSameAs(first);
            Files.writeString(directory.resolve("tls.crt"), "broken");
            identity.look();
            identity.look();
            assertThat(identity.current()).isSameAs(first);
            Files.delete(directory.resolve("ca.crt"));
            identity.look();
            assertThat(identity.current()).isSameAs(first);
            write(directory, authority, "node/b");
            identity.look();
            assertThat(identity.current()).as("of another node").isSameAs(first);
            issue();
            identity.look();
            assertThat(identity.current()).isNotSameAs(first);
            assertThat(identity.current().credentials().chain())
                    .isNotEqualTo(first.credentials().chain());
        }
    }

    @Test
    void aRotationIsTakenAsAWholeWhateverTheLinksSay() throws IOException {
        Path one = folder.resolve("one");
        Path two = folder.resolve("two");
        write(one, authority, "node/a");
        write(two, authority, "node/a");
        Path link = folder.resolve("link");
        Files.createSymbolicLink(link, one);
        directory = link;
        try (TlsIdentity identity = open()) {
            TlsContext first = identity.current();
            Path next = folder.resolve("next");
            Files.createSymbolicLink(next, two);
            Files.move(next, link, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
            identity.look();
            assertThat(identity.current().credentials().chain())
                    .isNotEqualTo(first.credentials().chain());
        }
    }

    @Test
    void keysAreForTheirOwnerOnly() throws IOException {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("tls.key"))))
                .isEqualTo("rw-------");
    }

    @Test
    void oneThatIsGoodLaterIsTakenLater() throws IOException {
        Instant[] clock = {now};
        TlsIdentity.OwnName any = name -> Optional.empty();
        try (TlsIdentity identity = TlsIdentity.open(directory, any, () -> clock[0])) {
            Instant tomorrow = now.plus(DAY).minusSeconds(60);
            IssuedDirectory.write(
                    directory, authority, authority.issue(PeerName.ofPath(POOL, "node/b"), List.of(), tomorrow, DAY));
            identity.look();
            assertThat(identity.current().credentials().name().path()).isEqualTo("node/a");

            clock[0] = tomorrow;
            identity.look();
            assertThat(identity.current().credentials().name().path()).isEqualTo("node/b");
        }
    }

    private TlsIdentity open() throws IOException {
        return TlsIdentity.open(directory, TlsIdentity.member(PeerRole.NODE, "a", POOL), InstantSource.fixed(now));
    }

    private void refused(String... said) {
        assertThatThrownBy(() -> open().close())
                .isInstanceOf(RefusedCertificateException.class)
                .hasMessageContainingAll(said)
                .message()
                .hasSizeLessThan(1_000);
    }

    private void refusedAt(Instant now, String said) {
        TlsIdentity.OwnName any = name -> Optional.empty();
        assertThatThrownBy(() -> TlsIdentity.open(directory, any, InstantSource.fixed(now))
                        .close())
                .hasMessageContaining(said);
    }
}
