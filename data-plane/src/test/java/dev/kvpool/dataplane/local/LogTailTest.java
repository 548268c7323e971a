// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogTailTest {
    @TempDir
    Path dir;

    @Test
    void theLastLinesOfALongLog() throws IOException {
        Path log = dir.resolve("log");
        Files.write(log, IntStream.range(0, 10_000).mapToObj(i -> "line " + i).toList());

        assertThat(LogTail.of(log)).hasSize(20).last().isEqualTo("line 9999");
    }

    @Test
    void aShortLogWhole() throws IOException {
        Path log = Files.writeString(dir.resolve("log"), "one\ntwo");

        assertThat(LogTail.of(log)).isEqualTo(List.of("one", "two"));
    }

    @Test
    void aMissingLogIsSaidSo() {
        assertThat(LogTail.of(dir.resolve("absent"))).singleElement().asString().contains("cannot read");
    }
}
