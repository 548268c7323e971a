// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.cli.FailureException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DataDirectoryTest {
    private static final long MEGABYTE = 1 << 20;

    /** The build directory: where temporary files go may be a tmpfs. */
    private final Path onDisk = Path.of("target").toAbsolutePath();

    private Path inMemory;

    @BeforeEach
    void make() throws IOException {
        inMemory = Files.createTempDirectory(Path.of("/dev/shm"), "kvpool-test-");
    }

    @AfterEach
    void remove() throws IOException {
        Files.deleteIfExists(inMemory.resolve("segment-0.kvs"));
        Files.delete(inMemory);
    }

    @Test
    void aDirectoryWithRoomIsFine() throws FailureException {
        assertThat(DataDirectory.check(inMemory, MEGABYTE)).isEmpty();
    }

    @Test
    void aMissingDirectoryIsNamed() {
        Path absent = inMemory.resolve("absent");

        assertThatThrownBy(() -> DataDirectory.check(absent, MEGABYTE))
                .hasMessageContainingAll(absent.toString(), "does not exist");
    }

    @Test
    void aFileIsNoDirectory() throws IOException {
        Path file = Files.write(inMemory.resolve("segment-0.kvs"), new byte[1]);

        assertThatThrownBy(() -> DataDirectory.check(file, MEGABYTE)).hasMessageContaining("is no directory");
    }

    @Test
    void aSegmentWithoutRoomIsRefusedWithBothNumbers() {
        assertThatThrownBy(() -> DataDirectory.check(inMemory, 32L << 40))
                .isInstanceOf(FailureException.class)
                .hasMessageContainingAll("--segment-size needs 32.0 TiB", "has room for", "sizeLimit");
    }

    @Test
    void aSegmentThatIsThereNeedsNoRoomAndKeepsItsSize() throws Exception {
        Files.write(inMemory.resolve("segment-0.kvs"), new byte[4096]);

        assertThat(DataDirectory.check(inMemory, 32L << 40))
                .singleElement()
                .asString()
                .contains("keeps its size of 4KiB", "32TiB");
    }

    @Test
    void aDirectoryOnDiskIsAllowedButMentioned() throws Exception {
        assertThat(DataDirectory.check(onDisk, MEGABYTE))
                .singleElement()
                .asString()
                .contains("not on tmpfs");
    }
}
