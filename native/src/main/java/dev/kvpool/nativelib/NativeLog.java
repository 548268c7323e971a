// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

/** How much libkvpool writes to stderr; the default of the library is {@link #WARNING}. */
public enum NativeLog {
    OFF(0),
    ERROR(1),
    WARNING(2),
    INFO(3),
    DEBUG(4);

    private final int level;

    NativeLog(int level) {
        this.level = level;
    }

    /** Makes this the least severity that is written, for the whole process. */
    public void use() {
        int status = LoadedLibrary.get().logLevel(level);
        if (status != Status.OK.code()) {
            throw ErrorText.failure("cannot set the log level " + this, status);
        }
    }
}
