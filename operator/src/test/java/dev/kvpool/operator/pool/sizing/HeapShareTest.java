// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.sizing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The operator sizes masters' pods, their options divide what they got; both must mean the same share. */
class HeapShareTest {
    private static final Path OPTIONS = Path.of("../data-plane/src/main/dist/lib/options/master");

    @Test
    void theirOptionsGiveTheHeapWhatTheOperatorReckonsWith() throws IOException {
        assertThat(Files.readAllLines(OPTIONS))
                .filteredOn(line -> line.contains("MaxRAMPercentage"))
                .singleElement()
                .asString()
                .endsWith("-XX:MaxRAMPercentage=" + MasterMemory.HEAP_PERCENT);
    }
}
