// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.Principal;
import dev.kvpool.wire.Role;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who is taken for another master that looks for the leader: a leader that sees too little hands over sooner for it. */
class PeerAdmissionTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Instant END = Instant.parse("2030-01-01T00:00:00Z").plus(Duration.ofDays(1));
    private static final Credentials OWN = FakeAuthentication.credentials(END);

    private static Hello hello(long expectedPeer) {
        return new Hello(HandshakeMessage.MAGIC, Role.CLIENT, POOL, 7, expectedPeer, PeerSocket.VERSIONS, "peer");
    }

    @ParameterizedTest
    @CsvSource({"master/m-1, 5, true", "master/m-1, 0, false", "tenant/a/rw/x, 5, false", "agent/x, 5, false"})
    void withCertificatesOnlyAMasterIsOne(String name, long expectedPeer, boolean isMaster) {
        Principal peer = new Principal(PeerName.ofPath(POOL, name), END.toEpochMilli());
        PeerAdmission admission = new PeerAdmission(new FakeAuthentication(peer, OWN), new TlsCounts());
        assertThat(admission.objection(hello(expectedPeer), _ -> false)).isEmpty();
        assertThat(admission.isMasters(hello(expectedPeer))).isEqualTo(isMaster);
    }

    @Test
    void withoutThemWhoeverNamesTheProcessThatItWants() {
        assertThat(PeerAdmission.PLAIN.isMasters(hello(5))).isTrue();
        assertThat(PeerAdmission.PLAIN.isMasters(hello(0))).isFalse();
    }
}
