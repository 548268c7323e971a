// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import java.util.List;

/** One subcommand of {@code kvpool}. */
public interface Command {
    String name();

    /** One sentence for the help. */
    String summary();

    List<Setting<?>> settings();

    default List<Rule> rules() {
        return List.of();
    }

    /**
     * Runs until the work is done or the process is asked to stop.
     *
     * @return the exit code, see {@link ExitCode}
     * @throws FailureException when it cannot go on; its message is what the user reads
     */
    int run(Settings settings, Console console) throws FailureException, InterruptedException;
}
