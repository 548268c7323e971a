// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import dev.kvpool.dataplane.cli.FailureException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Looks at the directory before the library listens in it, to say in a sentence what would else be an error number. */
final class SocketDirectory {
    private static final String SOCKET = "agent.sock";

    /** What the kernel takes for the path of a unix socket. */
    private static final int PATH_BYTES_MAX = 107;

    private SocketDirectory() {}

    static Path socket(Path directory) {
        return directory.toAbsolutePath().resolve(SOCKET);
    }

    static void check(Path directory) throws FailureException {
        String name = "--socket-dir " + directory;
        if (!Files.isDirectory(directory)) {
            throw new FailureException(
                    name + (Files.exists(directory) ? " is no directory" : " does not exist; create it"));
        }
        if (!Files.isWritable(directory)) {
            throw new FailureException(name + " cannot be written by user " + System.getProperty("user.name")
                    + "; change its owner or mode");
        }
        int bytes = socket(directory).toString().getBytes(StandardCharsets.UTF_8).length;
        if (bytes > PATH_BYTES_MAX) {
            throw new FailureException(name + " is too long: " + socket(directory) + " has " + bytes
                    + " bytes, the path of a socket may have " + PATH_BYTES_MAX + "; choose a shorter one");
        }
    }
}
