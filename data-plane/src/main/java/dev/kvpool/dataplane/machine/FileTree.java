// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A directory with all that is in it. */
public final class FileTree {
    private FileTree() {}

    /**
     * Removes it; what is gone already does not matter, and links are not followed.
     *
     * @throws IOException at the first file that cannot be removed
     */
    public static void remove(Path directory) throws IOException {
        try (Stream<Path> tree = Files.walk(directory)) {
            for (Path file : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
