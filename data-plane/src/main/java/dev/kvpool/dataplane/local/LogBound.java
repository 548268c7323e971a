// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Keeps a child's log from growing without end, which in /dev/shm would eat memory: a full one is copied to NAME.log.1
 * and cut to nothing. The child appends, so it goes on at the new end; lines written in between may be lost.
 */
final class LogBound {
    static final long BYTES_MAX = 8L << 20;

    private LogBound() {}

    static void keep(Path log) {
        try {
            if (Files.exists(log) && Files.size(log) > BYTES_MAX) {
                Files.copy(log, log.resolveSibling(log.getFileName() + ".1"), StandardCopyOption.REPLACE_EXISTING);
                try (FileChannel channel = FileChannel.open(log, StandardOpenOption.WRITE)) {
                    channel.truncate(0);
                }
            }
        } catch (IOException e) {
            // No room for the copy or the directory is gone: the next round tries again, the pool must not suffer.
        }
    }
}
