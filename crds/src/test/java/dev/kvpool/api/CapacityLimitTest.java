// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** A capacity that the API server takes is one that a storage node takes: both name the same limit. */
class CapacityLimitTest {
    private static final Path HEADER = Path.of("..", "native", "include", "kvpool", "kvpool.h");
    private static final Path POOLS = Path.of("yaml", "kvcachepools.kvpool.dev.yaml");

    @Test
    void theRulesNameTheLimitOfTheLibrary() throws IOException {
        Matcher limit = Pattern.compile("#define KV_SEGMENT_BYTES_MAX (\\d+)").matcher(Files.readString(HEADER));
        assertThat(limit.find()).isTrue();

        assertThat(limits()).isEqualTo(List.of(new BigDecimal(limit.group(1)), new BigDecimal(limit.group(1))));
    }

    /** Of the segment and of the SSD below it. */
    private static List<BigDecimal> limits() throws IOException {
        String oneLine = Files.readString(POOLS).replaceAll("\\\\?\\s*\\n\\s*\\\\?", " ");
        return Pattern.compile("for each storage node\" rule: \"quantity\\(string\\(self\\)\\)"
                        + "\\.compareTo\\(quantity\\('(\\d+Ti)'\\)\\) <= 0")
                .matcher(oneLine.replaceAll("\\s+", " "))
                .results()
                .map(found -> new Quantity(found.group(1)).getNumericalAmount())
                .toList();
    }
}
