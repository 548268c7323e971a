// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.Sizes;
import dev.kvpool.dataplane.machine.MemoryRoom;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Looks at the directory before the library opens the segment in it, to say in a sentence what would else be an error
 * number, or a process killed for its memory.
 */
final class DataDirectory {
    private static final String SEGMENT = "segment-0.kvs";

    private DataDirectory() {}

    /**
     * Checks that a segment of this size can be opened or created.
     *
     * @return what is allowed but unlikely to be meant, a sentence each
     */
    static List<String> check(Path directory, long segmentBytes) throws FailureException {
        if (!Files.isDirectory(directory)) {
            throw new FailureException("--data-dir " + directory
                    + (Files.exists(directory) ? " is no directory" : " does not exist; create it on a tmpfs"));
        }
        if (!Files.isWritable(directory)) {
            throw new FailureException("--data-dir " + directory + " cannot be written by user "
                    + System.getProperty("user.name") + "; change its owner or mode");
        }
        try {
            return checkRoom(directory, segmentBytes);
        } catch (IOException e) {
            throw new FailureException("cannot examine --data-dir " + directory + ": " + e.getMessage(), e);
        }
    }

    private static List<String> checkRoom(Path directory, long segmentBytes) throws IOException, FailureException {
        List<String> warnings = new ArrayList<>();
        MemoryRoom room = MemoryRoom.at(directory);
        if (!room.inMemory()) {
            warnings.add("--data-dir " + directory + " is not on tmpfs or hugetlbfs: every object goes to disk, and"
                    + " reads wait for it");
        }
        Path segment = directory.resolve(SEGMENT);
        if (Files.exists(segment)) {
            long bytes = Files.size(segment);
            if (bytes != segmentBytes) {
                warnings.add(segment + " keeps its size of " + Sizes.format(bytes) + ", --segment-size "
                        + Sizes.format(segmentBytes)
                        + " is for a new one; remove the file to change it, which loses its"
                        + " objects");
            }
            return warnings;
        }
        Optional<String> problem = room.problem(segmentBytes, "--segment-size");
        if (problem.isPresent()) {
            throw new FailureException(
                    problem.get() + ". Make the segment smaller, or the tmpfs, the pool of huge pages"
                            + " or the memory limit larger (in Kubernetes: sizeLimit of the volume and the container's memory"
                            + " or hugepages limit).");
        }
        return warnings;
    }
}
