// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import dev.kvpool.dataplane.http.Caller;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.dataplane.secure.Rights;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProof;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.identity.name.PeerRole;
import dev.kvpool.identity.name.Principal;
import dev.kvpool.identity.peer.Refusal;
import dev.kvpool.identity.peer.RefusedPeerException;
import dev.kvpool.identity.text.Quoted;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import dev.kvpool.wire.Verb;
import java.net.InetAddress;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/** What one peer may do at this port, by the name in its certificate. A plain peer, where those are taken, may do everything. */
public final class PeerAdmission {
    /** Of a plain peer, where all are plain. */
    public static final PeerAdmission PLAIN = new PeerAdmission(Optional.empty());

    /** Of a plain peer where others have certificates, and may be of tenants. */
    static final PeerAdmission PLAIN_BESIDE_TENANTS = new PeerAdmission(Optional.of(Tenant.DEFAULT));

    /** Who a peer is, once the handshake is done. */
    public interface Authentication {
        /** The peer; asked when its first message is there, so after the handshake. */
        Principal principal() throws RefusedPeerException;

        /** Whether its certificate still leads to a root that is trusted; asked as long as the connection lasts. */
        boolean isTrusted();

        /** Serial number of the certificate, in hexadecimal digits; empty when it has shown none. */
        String serial();

        /** What the handshake has shown of this process. */
        Credentials shown();

        /** What this process uses for new connections. */
        Credentials current();

        /** Where proofs are made and checked. */
        Executor work();

        /** What proves to the peer that this process holds its present certificate. From any thread. */
        CertificateProof prove(Credentials current) throws GeneralSecurityException;

        /** Whom a proof of the peer has shown. From any thread. */
        Proven check(CertificateProof proof) throws GeneralSecurityException, RefusedPeerException;

        /** From now on the connection stands by the certificate of that proof. */
        void take(Proven proven);
    }

    /**
     * A peer that has proven a newer certificate.
     *
     * @param principal by its name, which is any
     * @param chain that leads to a root
     * @param roots that were trusted then
     */
    public record Proven(Principal principal, List<X509Certificate> chain, List<X509Certificate> roots) {
        public Proven {
            chain = List.copyOf(chain);
            roots = List.copyOf(roots);
        }
    }

    private final Optional<Authentication> authentication;
    private final TlsCounts counts;
    private final Optional<Tenant> plainClient;
    private Optional<Principal> known = Optional.empty();
    private Optional<Principal> greeted = Optional.empty();

    private PeerAdmission(Optional<Tenant> plainClient) {
        authentication = Optional.empty();
        counts = new TlsCounts();
        this.plainClient = plainClient;
    }

    /** Of a peer that has to say who it is. */
    public PeerAdmission(Authentication authentication, TlsCounts counts) {
        this.authentication = Optional.of(authentication);
        this.counts = counts;
        plainClient = Optional.empty();
    }

    /** When the certificate ends that the peer has shown, or proven last, in milliseconds since 1970; empty for a plain peer, and before its Hello. */
    OptionalLong notAfterMs() {
        return greeted.map(peer -> OptionalLong.of(peer.notAfterMs())).orElse(OptionalLong.empty());
    }

    /** Whether the certificate that the peer has shown still leads to a root that is trusted. */
    boolean isTrusted() {
        return authentication.isEmpty() || authentication.get().isTrusted();
    }

    /** Of a peer that is not plain. */
    Authentication authentication() {
        return authentication.orElseThrow();
    }

    /** Why the connection does not stand by what its peer has proven; empty when it does from now on. */
    String take(Proven proven) {
        Principal before = greeted.orElseThrow();
        if (!proven.principal().name().equals(before.name())) {
            return "the newer certificate is of " + proven.principal() + ", the connection is of " + before
                    + "; issue it with the same name";
        }
        authentication().take(proven);
        greeted = Optional.of(proven.principal());
        known = greeted;
        return "";
    }

    void countProofRefused() {
        counts.count(Refusal.PROOF);
    }

    /** Whether the peer need not say who it is. */
    public boolean isPlain() {
        return authentication.isEmpty();
    }

    /**
     * Why a peer may not be what its Hello says; empty when it may.
     *
     * @param expected whether a storage node of this id is expected
     */
    public Optional<Objection> objection(Hello hello, Predicate<String> expected) {
        if (authentication.isEmpty()) {
            return Optional.empty();
        }
        Principal peer;
        try {
            peer = authentication.get().principal();
            known = Optional.of(peer);
        } catch (RefusedPeerException e) {
            return Optional.of(refused(e.why(), RefusalCode.ROLE, e.getMessage()));
        }
        Optional<Objection> objection =
                hello.role() == Role.NODE ? nodeObjection(peer, hello.name(), expected) : clientObjection(peer);
        if (objection.isEmpty()) {
            greeted = Optional.of(peer);
        }
        return objection;
    }

    private Optional<Objection> clientObjection(Principal peer) {
        return Rights.allow(peer.name(), Verb.GREET)
                ? Optional.empty()
                : Optional.of(refused(
                        Refusal.ROLE,
                        RefusalCode.ROLE,
                        "the certificate is of " + peer + ", which is no client; use one of tenant/TENANT/rw/NAME"));
    }

    private Optional<Objection> nodeObjection(Principal peer, String said, Predicate<String> expected) {
        String id = Quoted.cut(said); // it goes to logs, and was not looked at yet
        if (Rights.allow(peer.name(), Verb.SERVE)) {
            return peer.name().mayBe(said)
                    ? Optional.empty()
                    : Optional.of(refused(
                            Refusal.IDENTITY,
                            RefusalCode.IDENTITY_MISMATCH,
                            "the certificate is of " + peer + ", but the node calls itself " + id
                                    + "; give each node its own certificate"));
        }
        if (!Rights.allow(peer.name(), Verb.CONTRIBUTE)) {
            return Optional.of(refused(
                    Refusal.ROLE,
                    RefusalCode.ROLE,
                    "the certificate is of " + peer + ", which may not be a storage node; use one of node/" + id));
        }
        return expected.test(said)
                ? Optional.of(refused(
                        Refusal.IDENTITY,
                        RefusalCode.IDENTITY_MISMATCH,
                        "the certificate is of " + peer + ", but " + id + " is a storage node of this pool; only node/"
                                + id + " may be it"))
                : Optional.empty();
    }

    /** Of a peer that was greeted. */
    private boolean mayGreeted(Verb verb) {
        return isPlain()
                || greeted.filter(peer -> Rights.allow(peer.name(), verb)).isPresent();
    }

    /** Whether another master looks for the leader, as only masters name the process that they want to reach. */
    public boolean isMasters(Hello hello) {
        return hello.expectedPeer() != 0 && mayGreeted(Verb.LEAD);
    }

    /** Whether the peer is a storage node or master of the pool, and no engine that lends it memory. Plain peers are what they say. */
    public boolean isMember(Hello hello) {
        return isMasters(hello) || (hello.role() == Role.NODE && mayGreeted(Verb.SERVE));
    }

    /** Whether the peer may ask that; a refusal is counted. */
    public boolean mayAsk(ClientRequest request) {
        if (greeted.isEmpty() || Rights.allow(greeted.get().name(), Rights.of(request))) {
            return true;
        }
        counts.count(Refusal.RIGHT);
        return false;
    }

    /** Why a peer that was greeted as a node may not say this; empty when it may. Only a storage node of the pool is one for good. */
    public Optional<String> nodeObjection(Message message) {
        if (message instanceof NodeInfo info
                && !info.isTransient()
                && greeted.isPresent()
                && !Rights.allow(greeted.get().name(), Verb.SERVE)) {
            counts.count(Refusal.ROLE);
            return Optional.of(greeted.get()
                    + " may only contribute memory for as long as it lives, but says it is a storage node");
        }
        return Optional.empty();
    }

    /** Whose objects the peer's keys name, by its certificate; empty of a plain peer. */
    public Optional<Tenant> tenant() {
        return greeted.map(
                peer -> peer.role() == PeerRole.TENANT ? Tenant.of(peer.name().tenant()) : Tenant.DEFAULT);
    }

    /** Whose objects are all that a client may remove at once; empty where there are no tenants. */
    public Optional<Tenant> clientTenant() {
        return tenant().or(() -> plainClient);
    }

    /** The peer, for the audit log. */
    public Caller caller(InetAddress address) {
        return new Caller(
                known.map(Principal::name),
                authentication.map(Authentication::serial).orElse(""),
                address);
    }

    /** The peer, for log lines. */
    public String name() {
        return greeted.map(Principal::toString).orElse("a plain peer");
    }

    private Objection refused(Refusal why, RefusalCode code, String message) {
        counts.count(why);
        return new Objection(code, message);
    }
}
