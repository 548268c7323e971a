// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.certificate;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Certificates and private keys as text (RFC 7468). Text outside of the blocks is left aside, as OpenSSL does. */
public final class Pem {
    private static final int BLOCKS_MAX = 256;
    private static final String CERTIFICATE = "CERTIFICATE";
    private static final String PRIVATE_KEY = "PRIVATE KEY";
    private static final Pattern BEGIN = Pattern.compile("-----BEGIN ([A-Z0-9 ]{1,64})-----");

    /** Its label, and the base64 between its lines. */
    private record Block(String label, String body) {
        byte[] bytes() {
            return decode(label, body);
        }
    }

    private Pem() {}

    /**
     * The certificates, in their order.
     *
     * @throws IllegalArgumentException when there is none, or something that is no certificate
     */
    public static List<X509Certificate> certificates(String text) {
        List<X509Certificate> certificates = new ArrayList<>();
        for (Block block : blocks(text)) {
            if (!block.label().equals(CERTIFICATE)) {
                throw new IllegalArgumentException("it holds a " + block.label() + " among the certificates");
            }
            certificates.add(certificate(block.bytes()));
        }
        if (certificates.isEmpty()) {
            throw new IllegalArgumentException("it holds no certificate (-----BEGIN CERTIFICATE-----)");
        }
        return certificates;
    }

    /** The certificate with this encoding. */
    public static X509Certificate certificate(byte[] der) {
        try {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
        } catch (CertificateException e) {
            throw new IllegalArgumentException("a certificate in it cannot be read: " + e.getMessage(), e);
        }
    }

    /**
     * The private key, EC or RSA.
     *
     * @throws IllegalArgumentException when it is not exactly one, in PKCS#8 and not encrypted
     */
    public static PrivateKey privateKey(String text) {
        List<Block> blocks = blocks(text);
        if (blocks.size() != 1 || !blocks.getFirst().label().equals(PRIVATE_KEY)) {
            throw new IllegalArgumentException("it must hold one PRIVATE KEY in PKCS#8 and nothing else, but holds "
                    + (blocks.isEmpty()
                            ? "none"
                            : blocks.stream().map(Block::label).toList())
                    + "; `openssl pkcs8 -topk8 -nocrypt` converts keys");
        }
        PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(blocks.getFirst().bytes());
        for (String algorithm : List.of("EC", "RSA")) {
            Optional<PrivateKey> key = key(algorithm, spec);
            if (key.isPresent()) {
                return key.get();
            }
        }
        throw new IllegalArgumentException("its key is neither EC nor RSA in PKCS#8");
    }

    private static Optional<PrivateKey> key(String algorithm, PKCS8EncodedKeySpec spec) {
        try {
            return Optional.of(KeyFactory.getInstance(algorithm).generatePrivate(spec));
        } catch (InvalidKeySpecException e) {
            return Optional.empty();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whether the key is that of the certificate. */
    public static boolean isPair(X509Certificate certificate, PrivateKey key) {
        byte[] challenge = {1, 2, 3, 4, 5, 6, 7, 8};
        String algorithm = key instanceof ECKey ? "SHA256withECDSA" : "SHA256withRSA";
        try {
            Signature signer = Signature.getInstance(algorithm);
            signer.initSign(key);
            signer.update(challenge);
            byte[] signature = signer.sign();
            Signature verifier = Signature.getInstance(algorithm);
            verifier.initVerify(certificate.getPublicKey());
            verifier.update(challenge);
            return verifier.verify(signature);
        } catch (GeneralSecurityException e) { // keys of two algorithms
            return false;
        }
    }

    private static String encode(String label, byte[] bytes) {
        String body = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(bytes);
        return "-----BEGIN " + label + "-----\n" + body + "\n-----END " + label + "-----\n";
    }

    public static String encode(X509Certificate certificate) {
        try {
            return encode(CERTIFICATE, certificate.getEncoded());
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException(e);
        }
    }

    public static String encodeKey(PrivateKey key) {
        return encode(PRIVATE_KEY, key.getEncoded());
    }

    private static List<Block> blocks(String text) {
        List<Block> blocks = new ArrayList<>();
        Matcher begin = BEGIN.matcher(text);
        int from = 0;
        while (begin.find(from)) {
            if (blocks.size() == BLOCKS_MAX) {
                throw new IllegalArgumentException("it holds more than " + BLOCKS_MAX + " blocks");
            }
            String label = begin.group(1);
            String end = "-----END " + label + "-----";
            int ends = text.indexOf(end, begin.end());
            if (ends < 0) {
                throw new IllegalArgumentException("its " + label + " has no end: the file is cut off");
            }
            blocks.add(new Block(label, text.substring(begin.end(), ends)));
            from = ends + end.length();
        }
        return blocks;
    }

    private static byte[] decode(String label, String body) {
        try {
            return Base64.getDecoder().decode(body.replaceAll("\\s", ""));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("its " + label + " is no base64: " + e.getMessage(), e);
        }
    }
}
