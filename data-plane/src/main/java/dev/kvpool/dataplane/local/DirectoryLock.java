// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** The lock of one running {@code kvpool local} on its directory. The kernel frees it when the process dies. */
final class DirectoryLock implements AutoCloseable {
    private static final String NAME = "lock";

    private final FileChannel channel;

    private DirectoryLock(FileChannel channel) {
        this.channel = channel;
    }

    /** Takes the lock; empty when another process has it. */
    static Optional<DirectoryLock> tryTake(Path directory) throws IOException {
        return tryLock(directory.resolve(NAME));
    }

    /**
     * Takes the lock of a directory that was just made. The file appears under its name only when it is locked, so that a
     * process that looks for left-overs never finds a free lock here.
     */
    static DirectoryLock takeFresh(Path directory) throws IOException {
        Path unnamed = directory.resolve(NAME + ".new");
        DirectoryLock lock = tryLock(unnamed).orElseThrow(() -> new IOException(unnamed + " is locked by another"));
        Files.move(unnamed, directory.resolve(NAME));
        return lock;
    }

    /** Whether the directory has a lock file, which a directory in the making has not. */
    static boolean isThere(Path directory) {
        return Files.exists(directory.resolve(NAME));
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private static Optional<DirectoryLock> tryLock(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                return Optional.of(new DirectoryLock(channel));
            }
        } catch (OverlappingFileLockException e) {
            // held by this very process, which is as good as by another
        }
        channel.close();
        return Optional.empty();
    }
}
