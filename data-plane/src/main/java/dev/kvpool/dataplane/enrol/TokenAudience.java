// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.identity.text.Quoted;
import java.io.IOException;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Which pools a token is for, by what it says. Masters verify it; who has it must know whom it may be shown to. */
final class TokenAudience {
    /** What audiences of pools begin with. */
    static final String PREFIX = "kvpool.dev/";

    private static final ObjectMapper JSON = new ObjectMapper();

    private TokenAudience() {}

    /**
     * Reads it.
     *
     * @throws IOException when it is no token, or for no pool; the message is the end of a sentence and holds nothing of the signature
     */
    static Set<UUID> pools(String token) throws IOException {
        List<String> names = names(token);
        Set<UUID> pools = names.stream()
                .filter(name -> name.startsWith(PREFIX))
                .map(name -> name.substring(PREFIX.length()).split("/", 2)[0])
                .flatMap(TokenAudience::id)
                .collect(Collectors.toUnmodifiableSet());
        if (pools.isEmpty()) {
            throw new IOException("has a token for "
                    + (names.isEmpty() ? "no service" : Quoted.cut(String.join(", ", names)))
                    + ", and not for a pool; its audience must be " + PREFIX + "POOL-ID");
        }
        return pools;
    }

    private static List<String> names(String token) throws IOException {
        String[] parts = token.split("\\.", -1);
        try {
            if (parts.length == 3) {
                JsonNode said =
                        JSON.readTree(Base64.getUrlDecoder().decode(parts[1])).path("aud");
                return Stream.concat(Stream.of(said), said.valueStream())
                        .map(name -> name.asText(""))
                        .filter(name -> !name.isEmpty())
                        .toList();
            }
        } catch (IOException | IllegalArgumentException e) {
            throw new IOException("has no token of a ServiceAccount", e);
        }
        throw new IOException("has no token of a ServiceAccount");
    }

    private static Stream<UUID> id(String text) {
        try {
            return Stream.of(UUID.fromString(text));
        } catch (IllegalArgumentException e) {
            return Stream.empty();
        }
    }
}
