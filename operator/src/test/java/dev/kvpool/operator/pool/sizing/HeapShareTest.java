// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.sizing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The operator sizes masters' pods, their launcher divides what they got; both must mean the same share. */
class HeapShareTest {
    private static final Path LAUNCHER = Path.of("../data-plane/src/main/dist/bin/kvpool");

    @Test
    void theLauncherGivesTheHeapWhatTheOperatorReckonsWith() throws IOException {
        assertThat(Files.readAllLines(LAUNCHER))
                .filteredOn(line -> line.strip().startsWith("master)"))
                .singleElement()
                .asString()
                .contains("-XX:MaxRAMPercentage=" + MasterMemory.HEAP_PERCENT + "\"");
    }
}
