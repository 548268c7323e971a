// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cert;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Writes files with their rights from the first moment on, whatever the umask of the process allows. */
public final class PrivateFiles {
    private PrivateFiles() {}

    /** Makes a directory that only its owner may enter, unless it is there. */
    public static void directory(Path directory) throws IOException {
        try {
            if (!Files.isDirectory(directory)) {
                if (directory.toAbsolutePath().getParent() != null) {
                    Files.createDirectories(directory.toAbsolutePath().getParent());
                }
                Files.createDirectory(
                        directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            }
        } catch (IOException e) {
            throw new IOException("cannot make directory " + directory + ": " + e, e);
        }
    }

    static void writePrivate(Path file, String text) throws IOException {
        write(file, text, "rw-------");
    }

    static void writePublic(Path file, String text) throws IOException {
        write(file, text, "rw-r--r--");
    }

    private static void write(Path file, String text, String permissions) throws IOException {
        Path next = file.resolveSibling("." + file.getFileName() + ".new");
        try {
            Files.deleteIfExists(next);
            try (FileChannel channel = FileChannel.open(
                    next,
                    Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
                ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
            Files.setPosixFilePermissions(next, PosixFilePermissions.fromString(permissions));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new IOException("cannot write " + file + ": " + e, e);
        }
    }
}
