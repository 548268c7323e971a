// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads files by which a kernel tells about itself. One that is not there belongs to another kind of machine. */
public final class KernelFiles {
    private KernelFiles() {}

    public static Optional<String> text(Path file) {
        try {
            return Optional.of(Files.readString(file));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** A file that holds a number; empty also for words such as "max", which mean that there is no limit. */
    public static OptionalLong number(Path file) {
        return text(file)
                .map(String::trim)
                .filter(text -> text.matches("[0-9]{1,18}"))
                .map(text -> OptionalLong.of(Long.parseLong(text)))
                .orElse(OptionalLong.empty());
    }
}
