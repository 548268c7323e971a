// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryRoomTest {
    @TempDir
    Path dir;

    @Test
    void whatFitsIsNoProblem() {
        assertThat(new MemoryRoom(100, "the file system", true).problem(100, "--segment-size"))
                .isEmpty();
    }

    @Test
    void whatDoesNotFitIsASentenceWithBothNumbers() {
        MemoryRoom room = new MemoryRoom(3L << 30, "the file system at /dev/shm", true);

        assertThat(room.problem(4L << 30, "--segment-size"))
                .hasValue("--segment-size needs 4.0 GiB, but the file system at /dev/shm has room for 3.0 GiB");
    }

    @Test
    void aContainerOverItsLimitHasNoRoom() {
        assertThat(new MemoryRoom(-5, "the container's memory limit", true).problem(1, "x"))
                .hasValueSatisfying(text -> assertThat(text).endsWith("room for 0 bytes"));
    }

    @Test
    void theMachinesRoomIsWhatTheKernelCallsAvailable() throws IOException {
        Files.writeString(dir.resolve("meminfo"), "MemTotal:  100 kB\nMemFree:  7 kB\nMemAvailable:   64 kB\n");

        assertThat(MemoryRoom.machine(dir)).map(MemoryRoom::bytes).hasValue(64L * 1024);
    }

    @Test
    void theContainersRoomIsItsLimitLessWhatItUses() throws IOException {
        Files.writeString(dir.resolve("memory.max"), "1000\n");
        Files.writeString(dir.resolve("memory.current"), "400\n");

        assertThat(MemoryRoom.container(dir)).map(MemoryRoom::bytes).hasValue(600L);
    }

    @Test
    void cachedFilesOfTheContainerCountAsRoom() throws IOException {
        Files.writeString(dir.resolve("memory.max"), "1000\n");
        Files.writeString(dir.resolve("memory.current"), "900\n");
        Files.writeString(dir.resolve("memory.stat"), "anon 100\nshmem 300\ninactive_file 400\nactive_file 50\n");

        assertThat(MemoryRoom.container(dir)).map(MemoryRoom::bytes).hasValue(550L);
    }

    @Test
    void noLimitIsNoRoomToCompare() throws IOException {
        Files.writeString(dir.resolve("memory.max"), "max\n");
        Files.writeString(dir.resolve("memory.current"), "400\n");

        assertThat(MemoryRoom.container(dir)).isEmpty();
        assertThat(MemoryRoom.container(dir.resolve("absent"))).isEmpty();
        assertThat(MemoryRoom.machine(dir.resolve("absent"))).isEmpty();
    }

    @Test
    void hugePagesHaveRoomForTheFreeOnesNobodyWasPromised() throws IOException {
        Path pool = Files.createDirectories(dir.resolve("hugepages-2048kB"));
        Files.writeString(pool.resolve("free_hugepages"), "10\n");
        Files.writeString(pool.resolve("resv_hugepages"), "4\n");
        MemoryRoom mount = new MemoryRoom(6L << 20, "the file system at /hugepages", true);

        assertThat(MemoryRoom.hugePages(dir, 2L << 20, 0, mount).bytes()).isEqualTo(12L << 20);
        assertThat(MemoryRoom.hugePages(dir, 2L << 20, 0, mount).problem(14L << 20, "--segment-size"))
                .hasValueSatisfying(text -> assertThat(text).contains("huge pages of 2MiB", pool + "/nr_hugepages"));
        assertThat(MemoryRoom.hugePages(dir, 2L << 20, 8L << 20, mount)).isEqualTo(mount);
        assertThat(MemoryRoom.hugePages(dir, 1L << 30, 0, mount).bytes()).isZero();
    }

    @Test
    void sharedMemoryIsInMemory() throws IOException {
        assertThat(MemoryRoom.at(Path.of("/dev/shm")).inMemory()).isTrue();
        assertThat(MemoryRoom.at(Path.of("/dev/shm")).bytes()).isPositive();
    }
}
