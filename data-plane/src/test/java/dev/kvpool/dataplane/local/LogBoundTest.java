// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogBoundTest {
    @TempDir
    Path dir;

    private Path log;

    @BeforeEach
    void name() {
        log = dir.resolve("node-0.log");
    }

    @Test
    void aFullLogIsKeptOnceAndTheWriterGoesOnAtTheNewEnd() throws IOException {
        Files.write(log, new byte[(int) LogBound.BYTES_MAX + 1]);
        try (OutputStream child = Files.newOutputStream(log, StandardOpenOption.APPEND)) {
            LogBound.keep(log);
            child.write("next line\n".getBytes(StandardCharsets.UTF_8));
        }

        assertThat(dir.resolve("node-0.log.1")).hasSize(LogBound.BYTES_MAX + 1);
        assertThat(log).hasContent("next line\n");
    }

    @Test
    void aLogBelowTheBoundStays() throws IOException {
        Files.writeString(log, "line\n");

        LogBound.keep(log);

        assertThat(log).hasContent("line\n");
        assertThat(dir.resolve("node-0.log.1")).doesNotExist();
    }

    @Test
    void aMissingLogIsNoMatter() {
        LogBound.keep(log);

        assertThat(log).doesNotExist();
    }
}
