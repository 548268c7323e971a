// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The public keys of an API server, a JSON Web Key Set (RFC 7517), by key id. */
final class SigningKeys {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int RSA_BITS_MIN = 2048;
    private static final int RSA_BITS_MAX = 8192;
    private static final int KEYS_MAX = 64;

    private final Map<String, PublicKey> byId;

    private SigningKeys(Map<String, PublicKey> byId) {
        this.byId = Map.copyOf(byId);
    }

    /**
     * Reads a key set. Keys of a kind that tokens are not signed with here are left out.
     *
     * @throws IllegalArgumentException when it is no key set, or a key in it is damaged
     */
    static SigningKeys parse(String json) {
        Map<String, PublicKey> keys = new HashMap<>();
        JsonNode list = list(json);
        if (list.size() > KEYS_MAX) {
            throw new IllegalArgumentException("a key set of " + list.size() + " keys; at most " + KEYS_MAX);
        }
        for (JsonNode key : list) {
            String id = key.path("kid").asText("");
            boolean signs = key.path("use").asText("sig").equals("sig");
            if (!id.isEmpty() && signs) {
                key(key).ifPresent(it -> keys.put(id, it));
            }
        }
        return new SigningKeys(keys);
    }

    Optional<PublicKey> find(String id) {
        return Optional.ofNullable(byId.get(id));
    }

    private static JsonNode list(String json) {
        try {
            JsonNode list = JSON.readTree(json).path("keys");
            if (list.isArray()) {
                return list;
            }
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the key set is not JSON: " + e.getOriginalMessage(), e);
        }
        throw new IllegalArgumentException("the key set has no list 'keys'");
    }

    private static Optional<PublicKey> key(JsonNode key) {
        try {
            return switch (key.path("kty").asText()) {
                case "RSA" -> rsa(number(key, "n"), number(key, "e"));
                case "EC" ->
                    key.path("crv").asText().equals("P-256")
                            ? Optional.of(ec(number(key, "x"), number(key, "y")))
                            : Optional.empty();
                default -> Optional.empty();
            };
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("a key of the key set is damaged: " + e.getMessage(), e);
        }
    }

    private static Optional<PublicKey> rsa(BigInteger modulus, BigInteger exponent) throws GeneralSecurityException {
        int bits = modulus.bitLength();
        return bits < RSA_BITS_MIN || bits > RSA_BITS_MAX
                ? Optional.empty()
                : Optional.of(KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(modulus, exponent)));
    }

    private static PublicKey ec(BigInteger x, BigInteger y) throws GeneralSecurityException {
        AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
        curve.init(new ECGenParameterSpec("secp256r1"));
        return KeyFactory.getInstance("EC")
                .generatePublic(new ECPublicKeySpec(new ECPoint(x, y), curve.getParameterSpec(ECParameterSpec.class)));
    }

    private static BigInteger number(JsonNode key, String field) {
        byte[] bytes = Base64.getUrlDecoder().decode(key.path(field).asText());
        if (bytes.length == 0) {
            throw new IllegalArgumentException("a key of the key set has no '" + field + "'");
        }
        return new BigInteger(1, bytes);
    }
}
