// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.secure.ConnectionProof.Prover;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProof;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.peer.PoolTls;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.Test;

/** Proofs of certificates, with what TLS would export given by the test. */
class ConnectionProofTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration DAY = Duration.ofDays(1);

    private final CertificateAuthority authority =
            CertificateAuthority.create(POOL, Instant.now(), DAY.multipliedBy(9));
    private final Credentials node = credentials(authority, Instant.now());
    private final ConnectionProof connection = new ConnectionProof(new byte[] {1, 2, 3});

    private static Credentials credentials(CertificateAuthority by, Instant from) {
        PeerName name = PeerName.ofPath(POOL, "node/a");
        CertificateAuthority.Issued issued = by.issue(name, List.of(), from, DAY);
        return new Credentials(
                name, issued.key(), List.of(issued.certificate()), List.of(by.certificate()), ForeignNames.NONE);
    }

    private X509ExtendedTrustManager trust() throws GeneralSecurityException {
        return PoolTls.trust(List.of(authority.certificate()));
    }

    private void refused(CertificateProof proof, String why) {
        assertThatThrownBy(() -> connection.check(proof, trust()))
                .isInstanceOf(GeneralSecurityException.class)
                .hasMessageContaining(why);
    }

    @Test
    void aCertificateWithItsKeyIsProven() throws Exception {
        CertificateProof proof = connection.make(Prover.DIALER, node);
        assertThat(connection.check(proof, trust())).isEqualTo(node.chain());
    }

    @Test
    void aProofIsOfOneConnectionAndOneEnd() throws Exception {
        refused(new ConnectionProof(new byte[] {1, 2, 4}).make(Prover.DIALER, node), "does not fit");
        refused(connection.make(Prover.LISTENER, node), "does not fit");
    }

    @Test
    void aCertificateWithoutItsKeyProvesNothing() throws Exception {
        CertificateProof others = connection.make(Prover.DIALER, credentials(authority, Instant.now()));
        CertificateProof own = connection.make(Prover.DIALER, node);
        refused(new CertificateProof(others.chain(), own.signature()), "does not fit");
    }

    @Test
    void whatIsNotTrustedProvesNothing() throws Exception {
        CertificateAuthority stranger = CertificateAuthority.create(POOL, Instant.now(), DAY);
        refused(connection.make(Prover.DIALER, credentials(stranger, Instant.now())), "path");
        Instant before = Instant.now().minus(DAY.multipliedBy(2));
        CertificateAuthority old = CertificateAuthority.create(POOL, before, DAY.multipliedBy(9));
        CertificateProof ended = connection.make(Prover.DIALER, credentials(old, before));
        assertThatThrownBy(() -> connection.check(ended, PoolTls.trust(List.of(old.certificate()))))
                .isInstanceOf(GeneralSecurityException.class);
    }

    @Test
    void whatIsNoCertificateProvesNothing() throws Exception {
        CertificateProof good = connection.make(Prover.DIALER, node);
        refused(new CertificateProof(List.of(), good.signature()), "there is none");
        byte[] pem = Pem.encode(node.chain().getFirst()).getBytes(StandardCharsets.US_ASCII);
        refused(new CertificateProof(List.of(ByteBuffer.wrap(pem)), good.signature()), "not in DER");
        byte[] der = good.chain().getFirst().array().clone();
        for (int at = 0; at < der.length; at += 11) {
            byte[] cut = Arrays.copyOf(der, at);
            byte[] changed = der.clone();
            changed[at] ^= 0x40;
            for (byte[] wrong : List.of(cut, changed)) {
                assertThatThrownBy(() -> connection.check(
                                new CertificateProof(List.of(ByteBuffer.wrap(wrong)), good.signature()), trust()))
                        .isInstanceOf(Exception.class);
            }
        }
    }
}
