// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.enrol.RefusedTokenException.Reason;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Gives a certificate to who shows a good token, and has the private key of the public one that came with it. */
public final class Enrolment {
    /** Of others than members, whose tokens are bound to pods that the operator has made. Who loses a part in the pool has it until this ends. */
    static final Duration LIFE_OF_CLIENTS_MAX = Duration.ofHours(1);

    static final int KEY_CHARS_MAX = 512;

    /** Certificates a second. All processes of a pod, which share a token, may start together. */
    static final int OF_TOKEN_MAX = 20;

    static final int OF_ALL_MAX = 400;

    /** Of these, for all but members of the pool together: the rest is for members, which others cannot keep out. */
    static final int OF_TENANTS_MAX = 300;

    /** A tenant may have so many times what it leaves free for others, as with all that tenants share. */
    private static final int PARTS_OF_TENANT = 3;

    private static final int EC_BITS = 256;

    /** What a pool consists of. */
    static final Set<PeerRole> MEMBERS = EnumSet.of(PeerRole.MASTER, PeerRole.NODE, PeerRole.AGENT);

    private final Supplier<CertificateAuthority> authority;
    private final EnrolledNames names;
    private final RequestBudget<String> signaturesOfTenants;
    private final RequestBudget<String> signaturesOfMembers;
    private final Duration life;
    private final InstantSource clock;

    /**
     * What was asked for.
     *
     * @param name in the certificate
     * @param certificate PEM
     * @param serial its serial number, in hexadecimal digits
     * @param roots PEM of what to trust
     * @param notAfter when it ends
     */
    public record Granted(PeerName name, String certificate, String serial, String roots, Instant notAfter) {}

    /**
     * Without files and sockets.
     *
     * @param authority as it is now
     * @param rules as they are now
     * @param life of certificates of members
     * @param uptimeMs milliseconds of a clock that is never set
     */
    public Enrolment(
            UUID poolId,
            Supplier<CertificateAuthority> authority,
            TokenChecks tokens,
            Supplier<EnrolmentRules> rules,
            Duration life,
            InstantSource clock,
            LongSupplier uptimeMs) {
        this.authority = authority;
        this.names = new EnrolledNames(
                poolId,
                () -> Set.of(CertificateAuthority.fingerprint(authority.get().certificate())),
                tokens,
                rules);
        this.life = life;
        this.clock = clock;
        this.signaturesOfTenants = new RequestBudget<>(
                "token", "tenant", OF_TOKEN_MAX, free -> PARTS_OF_TENANT * free, OF_TENANTS_MAX, uptimeMs);
        this.signaturesOfMembers =
                new RequestBudget<>("token", "tenant", OF_TOKEN_MAX, free -> 0, OF_ALL_MAX - OF_TENANTS_MAX, uptimeMs);
    }

    /**
     * Signs a certificate.
     *
     * @param token of a ServiceAccount, for this pool
     * @param key base64url of the public key (SubjectPublicKeyInfo), P-256
     * @param proof base64url of its signature (SHA256withECDSA, DER) over {@link #proven}
     * @param from address of who asks
     * @throws RefusedTokenException when one of them is not right, or too many ask
     */
    public Granted enrol(String token, String key, String proof, InetAddress from) throws RefusedTokenException {
        CertificateAuthority signing = authority.get();
        PeerName name = names.named(token, from).name();
        requireBudget(token, name);
        PublicKey publicKey = publicKey(key);
        requireProof(publicKey, token, proof);
        var certificate = signing.certify(name, publicKey, List.of(), clock.instant(), life(name.role()));
        return new Granted(
                name,
                Pem.encode(certificate),
                certificate.getSerialNumber().toString(16),
                signing.roots(),
                certificate.getNotAfter().toInstant());
    }

    /** The names by which it signs. */
    public EnrolledNames names() {
        return names;
    }

    private void requireBudget(String token, PeerName name) throws RefusedTokenException {
        String one = TokenChecks.digest(token);
        Optional<String> problem = MEMBERS.contains(name.role())
                ? signaturesOfMembers.problem(one)
                : signaturesOfTenants.problem(
                        one, Optional.of(name.role() == PeerRole.TENANT ? name.tenant() : name.path()));
        if (problem.isPresent()) {
            throw new RefusedTokenException(
                    Reason.BUDGET,
                    "certificates are asked for faster than this master signs them: " + problem.get()
                            + "; try again later");
        }
    }

    /** What the key signs: of no use anywhere else, and bound to the token. */
    static byte[] proven(String token) {
        return ("kvpool enrol\n" + token).getBytes(StandardCharsets.UTF_8);
    }

    private Duration life(PeerRole role) {
        return switch (role) {
            case NODE, AGENT, OPERATOR, MONITOR -> life;
            case ADMIN, TENANT -> life.compareTo(LIFE_OF_CLIENTS_MAX) < 0 ? life : LIFE_OF_CLIENTS_MAX;
            case MASTER -> throw new IllegalStateException("masters sign for themselves");
        };
    }

    private static PublicKey publicKey(String key) throws RefusedTokenException {
        if (key.length() <= KEY_CHARS_MAX) {
            try {
                PublicKey parsed = KeyFactory.getInstance("EC")
                        .generatePublic(
                                new X509EncodedKeySpec(Base64.getUrlDecoder().decode(key)));
                if (parsed instanceof ECPublicKey ec
                        && ec.getParams().getOrder().bitLength() == EC_BITS) {
                    return parsed;
                }
            } catch (GeneralSecurityException | IllegalArgumentException e) {
                throw noKey();
            }
        }
        throw noKey();
    }

    private static RefusedTokenException noKey() {
        return new RefusedTokenException(
                Reason.PROOF, "'key' is no public key of P-256: the base64url of its SubjectPublicKeyInfo");
    }

    private static void requireProof(PublicKey key, String token, String proof) throws RefusedTokenException {
        try {
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initVerify(key);
            signature.update(proven(token));
            if (signature.verify(Base64.getUrlDecoder().decode(proof))) {
                return;
            }
        } catch (GeneralSecurityException | IllegalArgumentException e) { // is no signature at all
            throw noProof();
        }
        throw noProof();
    }

    private static RefusedTokenException noProof() {
        return new RefusedTokenException(
                Reason.PROOF, "'proof' is not the key's signature over the token: who asks must have the private key");
    }
}
