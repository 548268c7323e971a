// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.machine;

import dev.kvpool.dataplane.config.Sizes;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * How many bytes a file on some directory may take, and what sets the limit. On tmpfs that is not only the size of the
 * file system: its pages are memory of the machine and of the container, and a container over its limit is killed
 * without a word.
 *
 * @param bytes room
 * @param limitedBy the sentence part that says what the room is of
 * @param inMemory whether the directory is on a file system that lives in memory
 */
public record MemoryRoom(long bytes, String limitedBy, boolean inMemory) {
    private static final String HUGE_PAGES = "hugetlbfs";
    private static final List<String> MEMORY_FILE_SYSTEMS = List.of("tmpfs", HUGE_PAGES, "ramfs");

    /** The room at a directory; empty where it cannot be read. */
    public static Optional<MemoryRoom> find(Path directory) {
        try {
            return Optional.of(at(directory));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** The room at a directory that exists. */
    public static MemoryRoom at(Path directory) throws IOException {
        FileStore store = Files.getFileStore(directory);
        boolean inMemory = MEMORY_FILE_SYSTEMS.contains(store.type());
        MemoryRoom fileSystem = new MemoryRoom(store.getUsableSpace(), "the file system at " + directory, inMemory);
        if (!inMemory) {
            return fileSystem;
        }
        if (store.type().equals(HUGE_PAGES)) {
            return hugePages(
                    Path.of("/sys/kernel/mm/hugepages"), store.getBlockSize(), store.getTotalSpace(), fileSystem);
        }
        return Stream.of(Optional.of(fileSystem), machine(Path.of("/proc")), container(Path.of("/sys/fs/cgroup")))
                .flatMap(Optional::stream)
                .min(Comparator.comparingLong(MemoryRoom::bytes))
                .orElseThrow();
    }

    /**
     * Huge pages are taken from a pool of their own, not from the memory that is free, and no container's limit counts
     * them. A mount without a size of its own has room for the whole pool, and says that it has 0 bytes.
     */
    static MemoryRoom hugePages(Path pools, long pageBytes, long mountBytes, MemoryRoom fileSystem) {
        Path pool = pools.resolve("hugepages-" + pageBytes / 1024 + "kB");
        long free = KernelFiles.number(pool.resolve("free_hugepages")).orElse(0);
        long promised = KernelFiles.number(pool.resolve("resv_hugepages")).orElse(0);
        MemoryRoom left = new MemoryRoom(
                Math.max(free - promised, 0) * pageBytes,
                "the pool of huge pages of " + Sizes.format(pageBytes) + " (" + pool + "/nr_hugepages)",
                true);
        return mountBytes > 0 && fileSystem.bytes() < left.bytes() ? fileSystem : left;
    }

    /** Why so many bytes have no room here, empty when they have. */
    public Optional<String> problem(long wanted, String what) {
        if (wanted <= bytes) {
            return Optional.empty();
        }
        return Optional.of(what + " needs " + Sizes.about(wanted) + ", but " + limitedBy + " has room for "
                + Sizes.about(Math.max(bytes, 0)));
    }

    static Optional<MemoryRoom> machine(Path proc) {
        return KernelFiles.text(proc.resolve("meminfo"))
                .flatMap(text -> text.lines()
                        .filter(line -> line.startsWith("MemAvailable:"))
                        .findFirst())
                .map(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
                .map(bytes -> new MemoryRoom(bytes, "the machine's memory", true));
    }

    /** The room below the container's memory limit (cgroup version 2, as the container sees its own). */
    static Optional<MemoryRoom> container(Path cgroup) {
        OptionalLong limit = KernelFiles.number(cgroup.resolve("memory.max"));
        OptionalLong used = KernelFiles.number(cgroup.resolve("memory.current"));
        if (limit.isEmpty() || used.isEmpty()) {
            return Optional.empty();
        }
        long room = limit.getAsLong() - used.getAsLong() + cachedFiles(cgroup.resolve("memory.stat"));
        return Optional.of(new MemoryRoom(room, "the container's memory limit", true));
    }

    /** Pages of files on disk count as used but are given up when memory is wanted; those of tmpfs are not among them. */
    private static long cachedFiles(Path memoryStat) {
        return KernelFiles.text(memoryStat).stream()
                .flatMap(String::lines)
                .filter(line -> line.matches("(active|inactive)_file [0-9]{1,18}"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(' ') + 1)))
                .sum();
    }
}
