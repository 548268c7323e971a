// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.seal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.GrantMac;
import dev.kvpool.dataplane.wire.message.GrantSecret;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GrantSealTest {
    /** The test of the same name in C++ reads it too. */
    private static final Path MACS = Path.of("../native/schema/grant-macs.txt");

    private static final GrantSecret SECRET = GrantSecret.of(new byte[GrantSecret.BYTES]);

    @Test
    void agreesWithWhatOthersCompute() throws IOException {
        List<String> rows = Files.readAllLines(MACS).stream()
                .filter(line -> !line.startsWith("#"))
                .toList();
        assertThat(rows).hasSize(6);
        for (String row : rows) {
            String[] words = row.split(" ", -1);
            GrantSeal seal = new GrantSeal(GrantSecret.of(HexFormat.of().parseHex(words[0])));
            int pins = Integer.parseInt(words[6]);
            Retention retention =
                    new Retention((pins & 1) != 0, (pins & 2) != 0, Long.parseLong(words[7]), number(words[8]));
            for (int time = 1; time <= 2; time++) {
                GrantMac mac = seal.of(
                        new Authority(number(words[1]), number(words[2])),
                        new ObjectId(number(words[3]), number(words[4])),
                        number(words[5]),
                        retention,
                        key(words[9]));
                assertThat(hex(mac.first()) + hex(mac.second()))
                        .as("time %d of %s", time, row)
                        .isEqualTo(words[10]);
            }
        }
    }

    private static long number(String word) {
        return Long.parseUnsignedLong(word);
    }

    private static Key key(String word) {
        return word.contains("*")
                ? Key.of(word.substring(0, 1).repeat(Integer.parseInt(word.substring(2))))
                : Key.of(HexFormat.of().parseHex(word));
    }

    private static String hex(long number) {
        return HexFormat.of().toHexDigits(Long.reverseBytes(number));
    }

    @Test
    void eachNodeAndEachTermHasASecretOfItsOwn() {
        TermSecret secret = new TermSecret(new Random(1));
        Set<GrantSecret> seen = new HashSet<>();
        for (int term = 1; term <= 3; term++) {
            secret.begin();
            for (String node : List.of("a", "b", "узел-☂", "a-1")) {
                assertThat(secret.of(node)).isEqualTo(secret.of(node));
                assertThat(seen.add(secret.of(node)))
                        .as("that of %s in term %d", node, term)
                        .isTrue();
            }
        }
    }

    @Test
    void aSecretIsNotShownAndHasItsLength() {
        byte[] bytes = "a secret of thirty-two bytes ...".getBytes(StandardCharsets.US_ASCII);
        assertThat(GrantSecret.of(bytes).toString()).isEqualTo("a grant secret");
        assertThatThrownBy(() -> GrantSecret.of(new byte[31])).hasMessage("a grant secret has 32 bytes, not 31");
    }

    @Test
    void aKeysTenantIsPartOfIt() {
        GrantSeal seal = new GrantSeal(SECRET);
        GrantMac plain = seal.of(Authority.NONE, ObjectId.NONE, 1, Retention.NONE, Key.of("k"));
        GrantMac qualified = seal.of(Authority.NONE, ObjectId.NONE, 1, Retention.NONE, Key.of("\0a\0k"));
        assertThat(qualified).isNotEqualTo(plain);
    }
}
