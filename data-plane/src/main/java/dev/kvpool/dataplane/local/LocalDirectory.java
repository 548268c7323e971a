// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.machine.FileTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The files of a local pool: pool-id, lease.json, cache-rules, logs/NAME.log and a directory for each node. One {@code kvpool local}
 * at a time uses it.
 */
final class LocalDirectory implements AutoCloseable {
    private static final String PREFIX = "kvpool-local-";

    private final Path path;
    private final DirectoryLock lock;
    private final boolean temporary;

    private LocalDirectory(Path path, DirectoryLock lock, boolean temporary) {
        this.path = path;
        this.lock = lock;
        this.temporary = temporary;
    }

    /** Uses the directory the user named, which stays; makes it when it is not there. */
    static LocalDirectory at(Path directory) throws FailureException {
        Path path = directory.toAbsolutePath().normalize();
        try {
            Files.createDirectories(path);
            Optional<DirectoryLock> lock = DirectoryLock.tryTake(path);
            if (lock.isEmpty()) {
                throw new FailureException("--data-dir " + path + " is used by another kvpool local that is running;"
                        + " stop that one or choose another directory");
            }
            return new LocalDirectory(path, lock.get(), false);
        } catch (IOException e) {
            throw new FailureException("cannot use --data-dir " + path + ": " + IoText.of(e), e);
        }
    }

    /** Makes a directory that goes with this run, after removing those of runs that were killed. */
    static LocalDirectory temporary(Path parent) throws FailureException {
        try {
            removeLeftOvers(parent);
            Path path = Files.createTempDirectory(
                    parent, PREFIX, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            return new LocalDirectory(path, DirectoryLock.takeFresh(path), true);
        } catch (IOException e) {
            throw new FailureException(
                    "cannot make a directory in " + parent + ": " + IoText.of(e) + "; name one with --data-dir", e);
        }
    }

    Path path() {
        return path;
    }

    boolean isTemporary() {
        return temporary;
    }

    Path lease() {
        return path.resolve("lease.json");
    }

    /** Rules of the cache that were changed while the pool ran. */
    Path rules() {
        return path.resolve("cache-rules");
    }

    /** Certificates and the keys that belong to them. */
    Path tls() {
        return path.resolve("tls");
    }

    Path log(String child) {
        return path.resolve("logs").resolve(child + ".log");
    }

    Path node(String id) {
        return path.resolve(id);
    }

    /** Makes what the children need. */
    void prepare(List<String> nodeIds) throws FailureException {
        try {
            Files.createDirectories(path.resolve("logs"));
            for (String id : nodeIds) {
                Files.createDirectories(node(id));
            }
        } catch (IOException e) {
            throw new FailureException("cannot make directories in " + path + ": " + IoText.of(e), e);
        }
    }

    /** Directories of nodes that an earlier run had and this one has not: their objects are away. */
    List<String> nodesWithout(List<String> nodeIds) throws FailureException {
        try (Stream<Path> files = Files.list(path)) {
            return files.filter(Files::isDirectory)
                    .map(file -> file.getFileName().toString())
                    .filter(name -> name.matches("node-[0-9]+") && !nodeIds.contains(name))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new FailureException("cannot read " + path + ": " + IoText.of(e), e);
        }
    }

    /**
     * The pool's id: made once, kept with the segments it stands in.
     *
     * @param named what the user calls for
     */
    UUID poolId(Optional<UUID> named, Supplier<UUID> random) throws FailureException {
        Path file = path.resolve("pool-id");
        try {
            if (Files.exists(file)) {
                UUID kept = UUID.fromString(Files.readString(file).trim());
                if (named.isPresent() && !named.get().equals(kept)) {
                    throw new FailureException("--data-dir " + path + " holds pool " + kept + ", but --pool-id is "
                            + named.get() + ": leave --pool-id out, or choose another directory");
                }
                return kept;
            }
            UUID id = named.orElseGet(random);
            Files.writeString(file, id + "\n");
            return id;
        } catch (IOException e) {
            throw new FailureException("cannot read or write " + file + ": " + IoText.of(e), e);
        } catch (IllegalArgumentException e) {
            throw new FailureException(
                    file + " holds no UUID; without the right one the segments of this directory"
                            + " cannot be used: restore it, or remove the directory",
                    e);
        }
    }

    @Override
    public void close() {
        try {
            if (temporary) {
                FileTree.remove(path);
            }
            lock.close();
        } catch (IOException e) {
            // The process ends anyway; a temporary directory is removed by the next run.
        }
    }

    private static void removeLeftOvers(Path parent) throws IOException {
        try (Stream<Path> files = Files.list(parent)) {
            for (Path file : files.filter(LocalDirectory::isOurs).toList()) {
                removeIfLeftOver(file);
            }
        }
    }

    private static boolean isOurs(Path file) {
        return file.getFileName().toString().startsWith(PREFIX)
                && Files.isDirectory(file)
                && DirectoryLock.isThere(file);
    }

    private static void removeIfLeftOver(Path directory) {
        try {
            Optional<DirectoryLock> lock = DirectoryLock.tryTake(directory);
            if (lock.isPresent()) {
                FileTree.remove(directory);
                lock.get().close();
            }
        } catch (IOException e) {
            // Of another user, or just being removed by another local: not ours to care for.
        }
    }
}
