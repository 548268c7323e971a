// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kvpool.dataplane.enrol.RefusedTokenException.Reason;
import dev.kvpool.dataplane.http.StrictJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Believes a token of a ServiceAccount when the API server has signed it, for this pool, and its time has not passed (RFC 7519, signatures
 * RS256 and ES256 of RFC 7518). The algorithm is the key's, not the token's choice.
 */
public final class TokenVerifier {
    /** Clocks of a cluster may differ by that much. */
    static final Duration DRIFT = Duration.ofSeconds(60);

    /** Projected volumes have an hour where nothing else is said. */
    static final Duration LIFE_MAX = Duration.ofHours(24);

    static final int TOKEN_BYTES_MAX = 8 << 10;

    private final String audience;
    private final KnownKeys keys;
    private final InstantSource clock;

    /**
     * Asks for nothing yet.
     *
     * @param audience of tokens for this pool: one that was made for another service must not open this one
     * @param uptimeMs milliseconds of a clock that is never set
     */
    public TokenVerifier(String audience, KeySource source, InstantSource clock, LongSupplier uptimeMs) {
        this.audience = audience;
        this.keys = new KnownKeys(source, uptimeMs);
        this.clock = clock;
    }

    /**
     * Reads a token.
     *
     * @throws RefusedTokenException when it is not believed
     */
    public ServiceAccountToken verify(String token) throws RefusedTokenException {
        if (token.length() > TOKEN_BYTES_MAX) {
            throw malformed("it has more than " + TOKEN_BYTES_MAX + " bytes");
        }
        String[] parts = token.split("\\.", -1);
        if (parts.length != 3) {
            throw malformed("it is not of three parts");
        }
        requireSignature(parts);
        JsonNode claims = json(parts[1]);
        String issuer = claims.path("iss").asText("");
        if (!keys.isIssuer(issuer)) {
            throw new RefusedTokenException(
                    Reason.SIGNATURE,
                    "the token is of issuer '%s', the API server's are of %s; a pod from before a change of the issuer gets another token when it is made again"
                            .formatted(issuer, keys.issuers()));
        }
        Set<String> audiences = audiences(claims.path("aud"));
        Instant expires = requireTime(claims);
        return subject(claims, expires, audiences);
    }

    private void requireSignature(String[] parts) throws RefusedTokenException {
        JsonNode header = json(parts[0]);
        PublicKey key = keys.find(header.path("kid").asText(""));
        String said = header.path("alg").asText("");
        String algorithm = switch (key) {
            case RSAPublicKey _ -> requireSaid(said, "RS256", "SHA256withRSA");
            case ECPublicKey _ -> requireSaid(said, "ES256", "SHA256withECDSAinP1363Format");
            default -> throw new IllegalStateException("a key of no kind that is read");
        };
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initVerify(key);
            signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
            if (signature.verify(bytes(parts[2]))) {
                return;
            }
        } catch (GeneralSecurityException e) { // of a length that no signature has
            throw notSigned();
        }
        throw notSigned();
    }

    private static String requireSaid(String said, String expected, String algorithm) throws RefusedTokenException {
        if (!said.equals(expected)) {
            throw malformed("its algorithm is not that of its key");
        }
        return algorithm;
    }

    /** Those of this pool: its own, and those of its certificate authorities, which begin with it and a slash. */
    private Set<String> audiences(JsonNode said) throws RefusedTokenException {
        Set<String> ours = Stream.concat(Stream.of(said), said.valueStream())
                .map(each -> each.asText(""))
                .filter(each -> each.equals(audience) || each.startsWith(audience + "/"))
                .collect(Collectors.toUnmodifiableSet());
        if (ours.isEmpty()) {
            throw new RefusedTokenException(
                    Reason.AUDIENCE,
                    "the token is not for this pool; ask for one of audience " + audience
                            + ", by a projected volume serviceAccountToken or kubectl create token --audience");
        }
        return ours;
    }

    /** What it says of a token does not change with the clock: the operator has it in conditions, which else would change at each look. */
    private Instant requireTime(JsonNode claims) throws RefusedTokenException {
        Instant now = clock.instant();
        Instant expires = time(claims, "exp");
        if (!now.minus(DRIFT).isBefore(expires)) {
            throw new RefusedTokenException(
                    Reason.TIME, "the token expired at " + expires + " by the clock here; read its file again");
        }
        if (Duration.between(time(claims, "iat"), expires).compareTo(LIFE_MAX) > 0) {
            throw new RefusedTokenException(
                    Reason.TIME,
                    "the token was made for more than " + LIFE_MAX.toHours()
                            + " h, and it cannot be taken back; ask for one of an hour");
        }
        if (claims.has("nbf") && now.plus(DRIFT).isBefore(time(claims, "nbf"))) {
            throw new RefusedTokenException(
                    Reason.TIME,
                    "the token is valid from " + time(claims, "nbf")
                            + ", which is still to come by the clock here; set the clocks");
        }
        return expires;
    }

    private static Instant time(JsonNode claims, String claim) throws RefusedTokenException {
        JsonNode seconds = claims.path(claim);
        if (!seconds.isIntegralNumber()
                || !seconds.canConvertToLong()
                || seconds.asLong() < 0
                || seconds.asLong() > Instant.MAX.getEpochSecond() / 2) {
            throw malformed("its claim '" + claim + "' is no time");
        }
        return Instant.ofEpochSecond(seconds.asLong());
    }

    /** The claims of Kubernetes; the subject says the same and has to. */
    private ServiceAccountToken subject(JsonNode claims, Instant expires, Set<String> audiences)
            throws RefusedTokenException {
        JsonNode kubernetes = claims.path("kubernetes.io");
        String namespace = kubernetes.path("namespace").asText("");
        String account = kubernetes.path("serviceaccount").path("name").asText("");
        if (!claims.path("sub").asText("").equals("system:serviceaccount:" + namespace + ":" + account)
                || List.of(namespace, account).contains("")) {
            throw malformed("it is not that of a ServiceAccount");
        }
        return new ServiceAccountToken(
                namespace,
                account,
                kubernetes.path("pod").path("name").asText(""),
                kubernetes.path("node").path("name").asText(""),
                expires,
                audiences.contains(audience),
                audiences.stream()
                        .filter(each -> !each.equals(audience))
                        .map(each -> each.substring(audience.length() + 1))
                        .collect(Collectors.toUnmodifiableSet()));
    }

    private static JsonNode json(String part) throws RefusedTokenException {
        try {
            JsonNode node = StrictJson.read(new String(bytes(part), StandardCharsets.UTF_8));
            if (node.isObject()) {
                return node;
            }
        } catch (IOException e) {
            throw malformed("a part of it is not JSON");
        }
        throw malformed("a part of it is no JSON object");
    }

    private static byte[] bytes(String part) throws RefusedTokenException {
        try {
            return Base64.getUrlDecoder().decode(part);
        } catch (IllegalArgumentException e) {
            throw malformed("a part of it is not base64url");
        }
    }

    private static RefusedTokenException notSigned() {
        return new RefusedTokenException(
                Reason.SIGNATURE, "the token is not signed by a key of this cluster's API server");
    }

    private static RefusedTokenException malformed(String why) {
        return new RefusedTokenException(Reason.MALFORMED, "this is no token of a ServiceAccount: " + why);
    }
}
