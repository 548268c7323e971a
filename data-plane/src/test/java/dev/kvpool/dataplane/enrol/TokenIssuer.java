// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.identity.certificate.CertificateAuthority;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;

/** What an API server does with tokens: signs them, and says by which keys. */
public final class TokenIssuer implements KeySource {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int P256_BYTES = 32;

    /** Of {@link #claims}. */
    static final String ISSUER = "https://kubernetes.default.svc.cluster.local";

    private final KeyPair pair;
    private final String kid;
    private final boolean rsa;
    private Optional<String> issuer = Optional.empty();
    boolean hidesIssuer;
    int asked;
    boolean down;

    private TokenIssuer(KeyPair pair, String kid, boolean rsa) {
        this.pair = pair;
        this.kid = kid;
        this.rsa = rsa;
    }

    public static TokenIssuer rsa(String kid) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(2048);
            return new TokenIssuer(generator.generateKeyPair(), kid, true);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    static TokenIssuer ec(String kid) {
        return new TokenIssuer(CertificateAuthority.newKey(), kid, false);
    }

    /** Claims as Kubernetes writes them, bound to a pod and its node. */
    public static ObjectNode claims(String audience, String namespace, String account, Instant from, Instant until) {
        ObjectNode claims = JSON.createObjectNode();
        claims.putArray("aud").add("https://kubernetes.default.svc").add(audience);
        claims.put("iss", ISSUER);
        claims.put("sub", "system:serviceaccount:" + namespace + ":" + account);
        claims.put("iat", from.getEpochSecond())
                .put("nbf", from.getEpochSecond())
                .put("exp", until.getEpochSecond());
        ObjectNode kubernetes = claims.putObject("kubernetes.io").put("namespace", namespace);
        kubernetes.putObject("serviceaccount").put("name", account).put("uid", "u-1");
        kubernetes.putObject("pod").put("name", "demo-a-0").put("uid", "u-2");
        kubernetes.putObject("node").put("name", "worker-1").put("uid", "u-3");
        return claims;
    }

    public String token(ObjectNode claims) {
        return sign("{\"alg\":\"%s\",\"kid\":\"%s\"}".formatted(rsa ? "RS256" : "ES256", kid), claims.toString());
    }

    /** Signs whatever it is given. */
    String sign(String header, String payload) {
        try {
            String text =
                    url(header.getBytes(StandardCharsets.UTF_8)) + "." + url(payload.getBytes(StandardCharsets.UTF_8));
            Signature signature = Signature.getInstance(rsa ? "SHA256withRSA" : "SHA256withECDSAinP1363Format");
            signature.initSign(pair.getPrivate());
            signature.update(text.getBytes(StandardCharsets.US_ASCII));
            return text + "." + url(signature.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Says this of itself from now on; before, it does not say who it is. */
    void nameIssuer(String name) {
        issuer = Optional.of(name);
    }

    @Override
    public Optional<String> issuer() throws IOException {
        if (hidesIssuer) {
            throw new IOException("forbidden");
        }
        return issuer;
    }

    @Override
    public String keySet() throws IOException {
        asked++;
        if (down) {
            throw new IOException("connection refused");
        }
        ObjectNode set = JSON.createObjectNode();
        ObjectNode key = set.putArray("keys").addObject().put("use", "sig").put("kid", kid);
        if (pair.getPublic() instanceof RSAPublicKey it) {
            key.put("kty", "RSA").put("alg", "RS256");
            key.put("n", url(unsigned(it.getModulus(), 256)))
                    .put("e", url(it.getPublicExponent().toByteArray()));
        } else if (pair.getPublic() instanceof ECPublicKey it) {
            key.put("kty", "EC").put("crv", "P-256").put("alg", "ES256");
            key.put("x", url(unsigned(it.getW().getAffineX(), P256_BYTES)));
            key.put("y", url(unsigned(it.getW().getAffineY(), P256_BYTES)));
        }
        return set.toString();
    }

    static String url(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static byte[] unsigned(BigInteger number, int length) {
        byte[] signed = number.toByteArray();
        byte[] bytes = new byte[length];
        int count = Math.min(length, signed.length);
        System.arraycopy(signed, signed.length - count, bytes, length - count, count);
        return bytes;
    }
}
