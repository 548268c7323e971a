// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.doctor.Machine.HugePages;
import dev.kvpool.dataplane.doctor.Machine.PortRange;
import dev.kvpool.dataplane.machine.KernelFiles;
import dev.kvpool.dataplane.machine.MemoryRoom;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads {@link Machine} from the kernel's files. */
final class MachineReader {
    private static final Pattern LIMIT = Pattern.compile(" {2,}(\\d{1,18}|unlimited) {2,}");
    private static final Pattern RANGE = Pattern.compile("(\\d{1,5})(?:[-\\s]+(\\d{1,5}))?");
    private static final Pattern PAGES = Pattern.compile("hugepages-(\\d{1,12})kB");

    private final Path proc;
    private final Path sys;

    /** @param proc where procfs is, {@code /proc}; {@code sys} where sysfs is, {@code /sys} */
    MachineReader(Path proc, Path sys) {
        this.proc = proc;
        this.sys = sys;
    }

    Machine read(Path directory) {
        return new Machine(
                limit("Max locked memory"),
                limit("Max open files"),
                hugePages(),
                ranges("net/ipv4/ip_local_port_range").stream().findFirst(),
                ranges("net/ipv4/ip_local_reserved_ports"),
                directory,
                MemoryRoom.find(directory));
    }

    /** The soft limit, which is the one that counts for a process as it is. */
    private OptionalLong limit(String name) {
        return KernelFiles.text(proc.resolve("self/limits"))
                .flatMap(text ->
                        text.lines().filter(line -> line.startsWith(name)).findFirst())
                .map(LIMIT::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1).equals("unlimited")
                        ? OptionalLong.of(Long.MAX_VALUE)
                        : OptionalLong.of(Long.parseLong(found.group(1))))
                .orElse(OptionalLong.empty());
    }

    private List<HugePages> hugePages() {
        List<HugePages> found = new ArrayList<>();
        try (DirectoryStream<Path> sizes = Files.newDirectoryStream(sys.resolve("kernel/mm/hugepages"))) {
            for (Path size : sizes) {
                Matcher name = PAGES.matcher(size.getFileName().toString());
                OptionalLong total = KernelFiles.number(size.resolve("nr_hugepages"));
                OptionalLong free = KernelFiles.number(size.resolve("free_hugepages"));
                if (name.matches() && total.isPresent() && free.isPresent()) {
                    found.add(new HugePages(Long.parseLong(name.group(1)) << 10, total.getAsLong(), free.getAsLong()));
                }
            }
        } catch (IOException e) {
            return List.of(); // a kernel without huge pages
        }
        return found.stream()
                .sorted(Comparator.comparingLong(HugePages::pageBytes))
                .toList();
    }

    /** "32768 60999", or "8080,9003-9010". */
    private List<PortRange> ranges(String setting) {
        List<PortRange> ranges = new ArrayList<>();
        for (String part : KernelFiles.text(proc.resolve("sys").resolve(setting))
                .orElse("")
                .trim()
                .split(",", -1)) {
            Matcher range = RANGE.matcher(part.trim());
            if (range.matches()) {
                int first = Integer.parseInt(range.group(1));
                ranges.add(new PortRange(first, range.group(2) == null ? first : Integer.parseInt(range.group(2))));
            }
        }
        return ranges;
    }
}
