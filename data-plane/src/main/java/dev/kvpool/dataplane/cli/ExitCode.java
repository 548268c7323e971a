// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

/** What the exit codes of {@code kvpool} mean. */
public final class ExitCode {
    public static final int OK = 0;

    /** It started but could not go on. */
    public static final int FAILURE = 1;

    /** Flags or environment are not good; nothing was started. */
    public static final int USAGE = 2;

    /** It found its own state broken, or hung, and ended at once. As EX_SOFTWARE of sysexits.h. */
    public static final int DEFECT = 70;

    private ExitCode() {}
}
