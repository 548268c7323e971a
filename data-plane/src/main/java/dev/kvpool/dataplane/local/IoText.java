// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;

/** What went wrong with a file, where the exception's message is only the file's name. */
final class IoText {
    private IoText() {}

    static String of(IOException e) {
        return switch (e) {
            case AccessDeniedException denied -> "permission denied for " + denied.getFile();
            case NoSuchFileException missing -> missing.getFile() + " does not exist";
            case FileAlreadyExistsException there -> there.getFile() + " exists and is no directory";
            default -> e.getMessage();
        };
    }
}
