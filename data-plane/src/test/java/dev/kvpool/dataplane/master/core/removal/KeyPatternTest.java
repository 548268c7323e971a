// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.re2j.Pattern;
import dev.kvpool.dataplane.wire.message.Key;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyPatternTest {
    @ParameterizedTest
    @CsvSource({
        "^model-a/, model-a/1, true",
        "^model-a/, another/model-a/1, false",
        "a/, another/model-a/1, true",
        "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}, x/123e4567-e89b-12d3-a456-426614174000/k, true",
        "(?i)LLAMA, meta/llama-3, true",
        "☂$, rain/☂, true",
        "^.$, ☂, true",
        "\\Q{3}\\E, a{3}, true",
        "a{, a{, true",
    })
    void itMatchesSomewhereInTheKey(String pattern, String key, boolean matches) {
        assertThat(KeyPattern.of(pattern).orElseThrow().matches(Key.of(key))).isEqualTo(matches);
    }

    @Test
    void anEmptyOneMeansEveryKey() {
        assertThat(KeyPattern.of("").orElseThrow().isEverything()).isTrue();
        assertThat(KeyPattern.EVERYTHING.matches(Key.of("k"))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "(",
                "a{1001}",
                "a{257}",
                "(?=look)",
                "(a)\\1",
                "((a{10}){10}){10}",
                "((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}",
                "([)(]{999}){999}",
                "(?:[[:alpha:]\\]]{300})",
                "(\\Q(\\E{20}){20}",
                "((x{2,}){2,150})*",
                "a{100}b{100}c{100}",
            })
    void oneThatIsNoneOrTooLargeIsRefused(String pattern) {
        assertThat(KeyPattern.of(pattern)).isEmpty();
    }

    @Test
    void aLongOneIsRefused() {
        assertThat(KeyPattern.of("a".repeat(KeyPattern.LENGTH_MAX + 1))).isEmpty();
        assertThat(KeyPattern.of("a".repeat(KeyPattern.SIZE_MAX))).isPresent();
    }

    /** What is compiled is never much more than was counted before, so that nothing large is ever compiled. */
    @Test
    void theSizeIsKnownBeforeItIsCompiled() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            String text = expression(random, 4);
            long size = PatternSize.of(text);
            if (size <= 4L * KeyPattern.SIZE_MAX) {
                assertThat(Pattern.compile(text, Pattern.DOTALL).programSize())
                        .as("seed %d: %s of size %d", seed, text, size)
                        .isLessThanOrEqualTo((int) (4 * size + 8));
            }
        }
    }

    private static String expression(Random random, int depth) {
        StringBuilder text = new StringBuilder();
        for (int parts = 1 + random.nextInt(3); parts > 0; parts--) {
            text.append(
                    switch (random.nextInt(depth == 0 ? 6 : 8)) {
                        case 0 -> "a";
                        case 1 -> "[(){}a-c]";
                        case 2 -> "\\{";
                        case 3 -> "\\Q{9}(\\E";
                        case 4 -> ".";
                        case 5 -> "[^]x]";
                        case 6 -> "(" + expression(random, depth - 1) + ")";
                        default -> "(?:" + expression(random, depth - 1) + "|" + expression(random, depth - 1) + ")";
                    });
            text.append(
                    switch (random.nextInt(8)) {
                        case 0 -> "*";
                        case 1 -> "{" + (2 + random.nextInt(8)) + "}";
                        case 2 -> "{1," + (2 + random.nextInt(8)) + "}";
                        case 3 -> "{" + (1 + random.nextInt(4)) + ",}";
                        default -> "";
                    });
        }
        return text.toString();
    }
}
