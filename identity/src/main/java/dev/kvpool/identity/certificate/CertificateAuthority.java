// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.certificate;

import dev.kvpool.identity.name.PeerName;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

/** The CA of a pool: a P-256 key with a certificate of its own, which signs certificates of masters, nodes and clients (RFC 5280). */
public final class CertificateAuthority {
    /** Clocks of a pool may differ by that much. */
    private static final Duration BEFORE = Duration.ofMinutes(5);

    private static final int SERIAL_BITS = 126;
    private static final int FINGERPRINT_BYTES = 8;
    private static final int VERSION_3 = 2;
    private static final int URI_NAME = 6;
    private static final int DNS_NAME = 2;

    private static final int DIGITAL_SIGNATURE = 0x80;
    private static final int SIGNS_CERTIFICATES_AND_LISTS = 0x06;

    private static final byte[] ECDSA_WITH_SHA256 = Der.sequence(Der.oid("1.2.840.10045.4.3.2"));
    private static final String COMMON_NAME = "2.5.4.3";
    private static final String SUBJECT_KEY = "2.5.29.14";
    private static final String KEY_USAGE = "2.5.29.15";
    private static final String ALTERNATIVE_NAMES = "2.5.29.17";
    private static final String BASIC_CONSTRAINTS = "2.5.29.19";
    private static final String AUTHORITY_KEY = "2.5.29.35";
    private static final String EXTENDED_KEY_USAGE = "2.5.29.37";
    private static final String SERVER = "1.3.6.1.5.5.7.3.1";
    private static final String CLIENT = "1.3.6.1.5.5.7.3.2";

    private final SecureRandom random = new SecureRandom();
    private final UUID poolId;
    private final X509Certificate certificate;
    private final PrivateKey key;
    private final List<X509Certificate> roots;

    /** A certificate that was issued, with its key. */
    public record Issued(X509Certificate certificate, PrivateKey key) {}

    /** What goes into a certificate beside its issuer. */
    private record Content(String commonName, PublicKey key, Instant from, Instant until, List<byte[]> extensions) {}

    /**
     * A CA that exists.
     *
     * @param poolId trust domain of the names it issues
     * @param roots what those are to trust that it gives certificates to
     */
    public CertificateAuthority(UUID poolId, X509Certificate certificate, PrivateKey key, List<X509Certificate> roots) {
        this.poolId = poolId;
        this.certificate = certificate;
        this.key = key;
        this.roots = List.copyOf(roots);
    }

    /** Makes a CA. */
    public static CertificateAuthority create(UUID poolId, Instant now, Duration life) {
        KeyPair pair = newKey();
        Content content = new Content(
                commonName(poolId),
                pair.getPublic(),
                now.minus(BEFORE),
                now.plus(life),
                List.of(
                        critical(BASIC_CONSTRAINTS, Der.sequence(Der.trueValue(), Der.integer(BigInteger.ZERO))),
                        critical(KEY_USAGE, Der.namedBits(SIGNS_CERTIFICATES_AND_LISTS)),
                        extension(SUBJECT_KEY, Der.octets(keyId(pair.getPublic()))),
                        // Who reads the file sees whose CA it is, and `issue` reads it there.
                        extension(ALTERNATIVE_NAMES, Der.sequence(uri(trustDomain(poolId))))));
        X509Certificate self =
                signed(content, commonName(poolId), pair.getPrivate(), new BigInteger(SERIAL_BITS, new SecureRandom()));
        return new CertificateAuthority(poolId, self, pair.getPrivate(), List.of(self));
    }

    /**
     * The pool whose CA this certificate is of, as {@link #create} writes it there.
     *
     * @throws IllegalArgumentException when it is no such certificate
     */
    public static UUID poolId(X509Certificate certificate) {
        try {
            Collection<List<?>> names = certificate.getSubjectAlternativeNames();
            if (names != null && names.size() == 1) {
                String uri = names.iterator().next().get(1).toString();
                UUID poolId = UUID.fromString(uri.substring(uri.lastIndexOf('/') + 1));
                if (uri.equals(trustDomain(poolId))) {
                    return poolId;
                }
            }
        } catch (CertificateParsingException | IllegalArgumentException e) {
            throw noCa(e);
        }
        throw noCa(null);
    }

    private static IllegalArgumentException noCa(Exception cause) {
        return new IllegalArgumentException("the certificate is no CA of a pool", cause);
    }

    /**
     * What tells certificates apart: the first 16 hex digits of the SHA-256 of its DER.
     */
    public static String fingerprint(X509Certificate certificate) {
        try {
            byte[] digest = sha256(certificate.getEncoded());
            return HexFormat.of().formatHex(digest, 0, FINGERPRINT_BYTES);
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** When a CA was made, to the second: it is valid from a little earlier, as clocks differ. */
    public static Instant madeAt(X509Certificate authority) {
        return authority.getNotBefore().toInstant().plus(BEFORE);
    }

    private static String trustDomain(UUID poolId) {
        return "spiffe://" + poolId;
    }

    public X509Certificate certificate() {
        return certificate;
    }

    /** The same, with more roots for those that it gives certificates to. */
    public CertificateAuthority trusting(List<X509Certificate> more) {
        List<X509Certificate> all = new ArrayList<>(roots);
        all.addAll(more);
        return new CertificateAuthority(poolId, certificate, key, new TrustBundle(all).roots());
    }

    /** What signs; a process that has it is the CA. */
    public PrivateKey key() {
        return key;
    }

    /** PEM of what those are to trust that it gives certificates to. */
    public String roots() {
        return roots.stream().map(Pem::encode).collect(Collectors.joining());
    }

    public UUID poolId() {
        return poolId;
    }

    /**
     * Issues a certificate with a new key. It ends with the CA at the latest.
     *
     * @param name who it is for
     * @param dns further names, for HTTP clients that check host names; they say nothing to kvpool
     */
    public Issued issue(PeerName name, List<String> dns, Instant now, Duration life) {
        KeyPair pair = newKey();
        return new Issued(certify(name, pair.getPublic(), dns, now, life), pair.getPrivate());
    }

    /**
     * Issues a certificate for a key whose private part its owner keeps.
     *
     * @param subject of P-256; whether who asks has the private part is for the caller to check
     * @see #issue
     */
    public X509Certificate certify(PeerName name, PublicKey subject, List<String> dns, Instant now, Duration life) {
        if (!name.trustDomain().equals(poolId)) {
            throw new IllegalArgumentException(name.uri() + " is not of pool " + poolId);
        }
        List<byte[]> names = new ArrayList<>(List.of(uri(name.uri())));
        dns.forEach(host -> names.add(Der.tagged(DNS_NAME, host.getBytes(StandardCharsets.US_ASCII))));
        Instant end = now.plus(life);
        Instant last = certificate.getNotAfter().toInstant();
        Content content = new Content(
                commonName(name),
                subject,
                now.minus(BEFORE),
                end.isAfter(last) ? last : end,
                List.of(
                        critical(BASIC_CONSTRAINTS, Der.sequence()),
                        critical(KEY_USAGE, Der.namedBits(DIGITAL_SIGNATURE)),
                        extension(EXTENDED_KEY_USAGE, Der.sequence(Der.oid(SERVER), Der.oid(CLIENT))),
                        extension(SUBJECT_KEY, Der.octets(keyId(subject))),
                        extension(AUTHORITY_KEY, Der.sequence(Der.tagged(0, keyId(certificate.getPublicKey())))),
                        extension(ALTERNATIVE_NAMES, Der.sequence(names.toArray(byte[][]::new)))));
        return signed(content, commonName(poolId), key, new BigInteger(SERIAL_BITS, random));
    }

    /** Of a CA, which is also in the issuer of what it signs: a pool's next CA has the same name, and is told apart by its key. */
    private static String commonName(UUID poolId) {
        return "kvpool " + poolId;
    }

    /** For people who read certificates; X.520 allows 64 characters. */
    private static String commonName(PeerName name) {
        String path = name.path();
        return path.length() <= 64 ? path : name.role().word();
    }

    private static X509Certificate signed(Content content, String issuer, PrivateKey issuerKey, BigInteger random) {
        BigInteger serial = random.setBit(SERIAL_BITS); // positive, and never 0
        byte[] body = Der.sequence(
                Der.explicit(0, Der.integer(BigInteger.valueOf(VERSION_3))),
                Der.integer(serial),
                ECDSA_WITH_SHA256,
                name(issuer),
                Der.sequence(Der.time(content.from()), Der.time(content.until())),
                name(content.commonName()),
                content.key().getEncoded(), // is a SubjectPublicKeyInfo already
                Der.explicit(3, Der.sequence(content.extensions().toArray(byte[][]::new))));
        try {
            Signature signer = Signature.getInstance("SHA256withECDSA");
            signer.initSign(issuerKey);
            signer.update(body);
            return Pem.certificate(Der.sequence(body, ECDSA_WITH_SHA256, Der.bits(signer.sign())));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("cannot sign a certificate: " + e.getMessage(), e);
        }
    }

    private static byte[] name(String commonName) {
        return Der.sequence(Der.set(Der.sequence(Der.oid(COMMON_NAME), Der.text(commonName))));
    }

    private static byte[] uri(String uri) {
        return Der.tagged(URI_NAME, uri.getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] extension(String oid, byte[] value) {
        return Der.sequence(Der.oid(oid), Der.octets(value));
    }

    private static byte[] critical(String oid, byte[] value) {
        return Der.sequence(Der.oid(oid), Der.trueValue(), Der.octets(value));
    }

    /** RFC 7093: the first 160 bits of SHA-256; any bytes that are the same for the same key would do. */
    private static byte[] keyId(PublicKey key) {
        return Arrays.copyOf(sha256(key.getEncoded()), 20);
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A key of the kind that certificates of pools are for. */
    public static KeyPair newKey() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no P-256", e);
        }
    }
}
