// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.machine.MemoryRoom;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where objects are to go that have to leave memory.
 *
 * @param path as it was named
 * @param kind what is there
 * @param isWritable by this process
 * @param room on the file system of a directory; empty for everything else, and where it cannot be read
 */
record SsdPlace(Path path, Kind kind, boolean isWritable, Optional<MemoryRoom> room) {
    /** What a path leads to. */
    enum Kind {
        NOTHING,
        DIRECTORY,
        BLOCK_DEVICE,
        SOMETHING_ELSE
    }

    private static final int FILE_TYPE = 0170000;
    private static final int BLOCK_DEVICE = 0060000;

    /** Looks; nothing is written. */
    static SsdPlace at(Path path) {
        Kind kind = kind(path);
        return new SsdPlace(
                path, kind, Files.isWritable(path), kind == Kind.DIRECTORY ? MemoryRoom.find(path) : Optional.empty());
    }

    private static Kind kind(Path path) {
        if (Files.isDirectory(path)) {
            return Kind.DIRECTORY;
        }
        try {
            int mode = (Integer) Files.getAttribute(path, "unix:mode");
            return (mode & FILE_TYPE) == BLOCK_DEVICE ? Kind.BLOCK_DEVICE : Kind.SOMETHING_ELSE;
        } catch (IOException e) {
            return Kind.NOTHING;
        }
    }
}
