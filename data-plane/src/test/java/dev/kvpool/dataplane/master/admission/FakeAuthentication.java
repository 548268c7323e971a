// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProof;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.Principal;
import dev.kvpool.identity.peer.RefusedPeerException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SignatureException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;

/** A peer without a connection, for tests. Its proofs name whom they prove. */
class FakeAuthentication implements PeerAdmission.Authentication {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");

    final Principal peer;
    final Credentials shown;
    Credentials current;
    Optional<PeerAdmission.Proven> taken = Optional.empty();
    Optional<Principal> proves = Optional.empty();
    boolean cannotProve;

    FakeAuthentication(Principal peer, Credentials shown) {
        this.peer = peer;
        this.shown = shown;
        current = shown;
    }

    /** Of a master. */
    static Credentials credentials(Instant end) {
        Instant begin = end.minus(Duration.ofDays(9));
        CertificateAuthority authority = CertificateAuthority.create(POOL, begin, Duration.ofDays(30));
        PeerName name = PeerName.ofPath(POOL, "master/m-0");
        CertificateAuthority.Issued issued = authority.issue(name, List.of(), begin, Duration.between(begin, end));
        return new Credentials(
                name, issued.key(), List.of(issued.certificate()), List.of(authority.certificate()), ForeignNames.NONE);
    }

    @Override
    public Principal principal() {
        return peer;
    }

    @Override
    public boolean isTrusted() {
        return true;
    }

    @Override
    public String serial() {
        return "1";
    }

    @Override
    public Credentials shown() {
        return shown;
    }

    @Override
    public Credentials current() {
        return current;
    }

    @Override
    public Executor work() {
        return Runnable::run;
    }

    @Override
    public CertificateProof prove(Credentials current) {
        if (cannotProve) {
            throw new IllegalStateException("there is nothing to export");
        }
        return new CertificateProof(List.of(), ByteBuffer.allocate(1));
    }

    @Override
    public PeerAdmission.Proven check(CertificateProof proof) throws GeneralSecurityException, RefusedPeerException {
        return new PeerAdmission.Proven(
                proves.orElseThrow(() -> new SignatureException("no signature")), List.of(), List.of());
    }

    @Override
    public void take(PeerAdmission.Proven proven) {
        taken = Optional.of(proven);
    }
}
