// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** The buffer into which a C function writes a sentence: why it failed, or what it was asked to tell. */
final class ErrorText {
    private static final int BYTES = 2048;

    private final MemorySegment memory;

    ErrorText(Arena arena) {
        memory = arena.allocate(BYTES);
    }

    long address() {
        return memory.address();
    }

    int size() {
        return BYTES;
    }

    /** What was written, or the empty string. The library cuts to fit, so the last character may be torn. */
    String text() {
        byte[] bytes = memory.toArray(ValueLayout.JAVA_BYTE);
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    /** The exception for a failed call: the library's sentence, or the status' own text when it wrote none. */
    KvException exception(String what, int code) {
        return failure(what, code, text());
    }

    /** The exception for a failed call that gives no sentence. */
    static KvException failure(String what, int code) {
        return failure(what, code, "");
    }

    private static KvException failure(String what, int code, String sentence) {
        Status status = Status.of(code);
        String name = Status.find(code).map(Status::nativeName).orElse("unknown status " + code);
        String cause = sentence.isEmpty() ? status.text() : sentence;
        return new KvException(status, what + ": " + cause + " (" + name + ")");
    }
}
