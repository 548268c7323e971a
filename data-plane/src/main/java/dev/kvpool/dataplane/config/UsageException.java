// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.util.List;

/** The command line or the environment is not good; the command was not run. */
public final class UsageException extends Exception {
    private final List<String> problems;

    public UsageException(List<String> problems) {
        super(String.join("\n", problems));
        this.problems = List.copyOf(problems);
    }

    /** Everything that is wrong, a sentence each. */
    public List<String> problems() {
        return problems;
    }
}
