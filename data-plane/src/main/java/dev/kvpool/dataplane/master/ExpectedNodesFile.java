// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/** The ids of the nodes that should be there, one per line, in a file that its owner may replace at any time. */
final class ExpectedNodesFile {
    private static final long BYTES_MAX = 4 << 20;

    private final Path file;
    private Set<String> last;

    ExpectedNodesFile(Path file) {
        this.file = file;
    }

    /** Reads the file; blank lines and lines that begin with # do not count. */
    Set<String> read() throws IOException {
        if (Files.size(file) > BYTES_MAX) {
            throw new IOException("the file of expected nodes " + file + " is larger than " + BYTES_MAX + " bytes");
        }
        try {
            Set<String> ids = new LinkedHashSet<>();
            for (String line : Files.readAllLines(file)) {
                String id = line.strip();
                if (!id.isEmpty() && !id.startsWith("#")) {
                    ids.add(id);
                }
            }
            last = ids;
            return ids;
        } catch (CharacterCodingException e) {
            throw new IOException("the file of expected nodes " + file + " is not UTF-8", e);
        }
    }

    /** Reads the file again; the ids when they differ from the last ones. */
    Optional<Set<String>> readIfChanged() throws IOException {
        Set<String> before = last;
        Set<String> now = read();
        return now.equals(before) ? Optional.empty() : Optional.of(now);
    }
}
