// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueryTest {
    @Test
    void parametersAreDecoded() {
        assertThat(Query.parse("key=a%2Fb+%C3%A4&x&y=1=2").parameters())
                .isEqualTo(Map.of("key", "a/b ä", "x", "", "y", "1=2"));
        assertThat(Query.parse("key=a%2Fb+%C3%A4&x&y=1=2").problem()).isEmpty();
        assertThat(Query.parse(null)).isEqualTo(Query.parse(""));
        assertThat(Query.parse("").parameters()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "key=a&key=b | parameter key stands twice: give it once",
                "key=a&key=a | parameter key stands twice: give it once",
                "tenant&tenant | parameter tenant stands twice: give it once",
                "k%65y=a&key=b | parameter key stands twice: give it once",
                "key=%FF | parameter key is not UTF-8: write each byte of its UTF-8 form that is not ASCII as %XX",
                "key=%C3 | parameter key is not UTF-8: write each byte of its UTF-8 form that is not ASCII as %XX",
                "%ED%A0%80=1 | parameter %ED%A0%80 is not UTF-8: write each byte of its UTF-8 form that is not ASCII as %XX",
                "key=Ã¤ | parameter key is not UTF-8: write each byte of its UTF-8 form that is not ASCII as %XX",
            })
    void whatCouldBeReadInTwoWaysIsRefused(String raw, String problem) {
        assertThat(Query.parse(raw).problem()).contains(problem);
    }

    @Test
    void aNameOfAnyLengthIsShownInPart() {
        String name = "n".repeat(100_000);

        assertThat(Query.parse(name + "&" + name).problem().orElseThrow())
                .isEqualTo("parameter " + "n".repeat(64) + "... stands twice: give it once");
    }
}
