// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SigningKeysTest {
    @Test
    void keysOfBothKindsAreReadAndOthersLeftOut() throws IOException {
        assertThat(SigningKeys.parse(TokenIssuer.rsa("a").keySet()).find("a")).isPresent();
        assertThat(SigningKeys.parse(TokenIssuer.ec("b").keySet()).find("b")).isPresent();
        for (String other : new String[] {
            "{\"kid\": \"c\", \"kty\": \"oct\", \"k\": \"AAAA\"}",
            "{\"kid\": \"c\", \"kty\": \"EC\", \"crv\": \"P-384\", \"x\": \"AA\", \"y\": \"AA\"}",
            "{\"kid\": \"c\", \"kty\": \"RSA\", \"n\": \"_w\", \"e\": \"AQAB\"}",
            "{\"kid\": \"c\", \"kty\": \"EC\", \"crv\": \"P-256\", \"use\": \"enc\", \"x\": \"AA\", \"y\": \"AA\"}",
            "{}"
        }) {
            assertThat(SigningKeys.parse("{\"keys\": [" + other + "]}").find("c"))
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "no",
                "[]",
                "{\"keys\": {}}",
                "{\"keys\": [{\"kid\": \"c\", \"kty\": \"RSA\", \"n\": \"\", \"e\": \"AQAB\"}]}",
                "{\"keys\": [{\"kid\": \"c\", \"kty\": \"RSA\", \"n\": \"+/\", \"e\": \"AQAB\"}]}"
            })
    void whatIsNoKeySetIsRefused(String text) {
        assertThatThrownBy(() -> SigningKeys.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
