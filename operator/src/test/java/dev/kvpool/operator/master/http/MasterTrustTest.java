// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.operator.master.MasterEndpoint;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Masters whose certificates name their ServiceAccount; {@link SecureMastersTest} has the others. */
class MasterTrustTest {
    private static final UUID POOL = UUID.fromString("11111111-2222-3333-4444-555555555555");
    private static final String HOST = "192.0.2.1";

    private final MasterTrust trust = new MasterTrust();

    private final CertificateAuthority authority = CertificateAuthority.create(POOL, Instant.now(), Duration.ofDays(1));

    private String expect(Optional<String> names) {
        return trust.expect(
                HOST,
                new MasterEndpoint.Identity(
                        "demo", POOL.toString(), "demo-master-0", Pem.encode(authority.certificate()), names));
    }

    private PeerName read(String uri) throws CertificateException {
        return trust.names(HOST).name(uri);
    }

    @Test
    void theServiceAccountOfMastersIsThatOfTheOneThatIsMeant() throws Exception {
        expect(Optional.of("pool " + POOL + "\ntrust-domain cluster.local\nns/demo-master master\n"));

        assertThat(trust.problem(HOST, read("spiffe://cluster.local/ns/ns/sa/demo-master")))
                .isEmpty();
        assertThat(trust.problem(HOST, read("spiffe://" + POOL + "/master/demo-master-0")))
                .isEmpty();
        assertThat(trust.problem(HOST, read("spiffe://" + POOL + "/master/demo-master-1")))
                .hasValueSatisfying(why -> assertThat(why).contains("which is not who was meant"));
        assertThatThrownBy(() -> read("spiffe://cluster.local/ns/ns/sa/demo-storage"))
                .hasMessageContaining("there is no rule for ServiceAccount ns/demo-storage");
    }

    /** Two pools under one authority, and with one id, which users can forge: what one is shown must open nothing at the other. */
    @Test
    void tokensAreForMastersOfOneServiceAccount() {
        String fingerprint = CertificateAuthority.fingerprint(authority.certificate());
        String head = "pool " + POOL + "\ntrust-domain cluster.local\n";

        assertThat(expect(Optional.of(head + "ns/demo-master master\n"))).isEqualTo(fingerprint + "/ns/demo-master");
        assertThat(expect(Optional.of(head + "thief/demo-master master\n")))
                .isEqualTo(fingerprint + "/thief/demo-master");
        assertThat(expect(Optional.empty())).isEqualTo(fingerprint);
    }

    @Test
    void aStorageNodeIsNoMaster() throws Exception {
        expect(Optional.of(
                "pool " + POOL + "\ntrust-domain cluster.local\nns/demo-master master\nns/demo-storage node\n"));

        assertThat(trust.problem(HOST, read("spiffe://cluster.local/ns/ns/sa/demo-storage")))
                .hasValueSatisfying(why -> assertThat(why).contains("node/*", "which is not who was meant"));
    }

    @Test
    void withoutRulesNamesOfThePoolAloneAreRead() {
        expect(Optional.empty());

        assertThatThrownBy(() -> read("spiffe://cluster.local/ns/ns/sa/demo-master"))
                .hasMessageContaining("its trust domain is no pool id");
    }
}
