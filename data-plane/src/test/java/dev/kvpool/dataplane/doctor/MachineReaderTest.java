// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.doctor.Machine.HugePages;
import dev.kvpool.dataplane.doctor.Machine.PortRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineReaderTest {
    private static final String LIMITS = """
            Limit                     Soft Limit           Hard Limit           Units
            Max open files            1024                 524288               files
            Max locked memory         %-20s unlimited            bytes
            """;

    @TempDir
    Path root;

    @Test
    void readsTheSoftLimits() throws IOException {
        write("proc/self/limits", LIMITS.formatted("8388608"));

        assertThat(read().lockedBytesMax()).hasValue(8388608);
        assertThat(read().openFilesMax()).hasValue(1024);
    }

    @Test
    void noLimitIsTheLargestNumber() throws IOException {
        write("proc/self/limits", LIMITS.formatted("unlimited"));

        assertThat(read().lockedBytesMax()).hasValue(Long.MAX_VALUE);
    }

    @Test
    void readsPoolsOfHugePagesFromSmallToLarge() throws IOException {
        write("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "2\n");
        write("sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "1\n");
        write("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n");
        write("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "500\n");
        write("sys/kernel/mm/hugepages/something/nr_hugepages", "x\n");

        assertThat(read().hugePages())
                .containsExactly(new HugePages(2L << 20, 512, 500), new HugePages(1L << 30, 2, 1));
    }

    @Test
    void readsPortRangesInBothFormsOfTheKernel() throws IOException {
        write("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        write("proc/sys/net/ipv4/ip_local_reserved_ports", "8080,9003-9010\n");

        assertThat(read().ephemeralPorts()).hasValue(new PortRange(32768, 60999));
        assertThat(read().reservedPorts()).containsExactly(new PortRange(8080, 8080), new PortRange(9003, 9010));
    }

    @Test
    void noReservedPortsIsAnEmptyLine() throws IOException {
        write("proc/sys/net/ipv4/ip_local_reserved_ports", "\n");

        assertThat(read().reservedPorts()).isEmpty();
    }

    @Test
    void whatCannotBeReadIsEmpty() throws IOException {
        write("proc/self/limits", "what no kernel writes");

        Machine machine = new MachineReader(root.resolve("proc"), root.resolve("sys")).read(root.resolve("nowhere"));

        assertThat(machine.lockedBytesMax()).isEqualTo(OptionalLong.empty());
        assertThat(machine.openFilesMax()).isEqualTo(OptionalLong.empty());
        assertThat(machine.hugePages()).isEmpty();
        assertThat(machine.ephemeralPorts()).isEmpty();
        assertThat(machine.room()).isEmpty();
    }

    private Machine read() {
        return new MachineReader(root.resolve("proc"), root.resolve("sys")).read(root);
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
