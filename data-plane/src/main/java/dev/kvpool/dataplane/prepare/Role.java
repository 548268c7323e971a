// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.prepare;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.CommandRunner;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.cli.StopSignal;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** A command that runs in a thread as it would in a process of its own, from its arguments on. */
final class Role {
    private final String name;
    private final StopSignal stop = new StopSignal();
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final Thread thread;

    private Role(List<Command> commands, List<String> arguments) {
        name = arguments.getFirst();
        PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
        Console console = new Console(InputStream.nullInputStream(), out, out, stop);
        CommandRunner runner = new CommandRunner(commands, Map.of(), console);
        thread = Thread.ofPlatform().name(name).start(() -> {
            int code = runner.run(arguments.toArray(String[]::new));
            stop.finished(code);
        });
    }

    static Role start(List<Command> commands, List<String> arguments) {
        return new Role(commands, arguments);
    }

    /** Fails with what the command said when it has ended already. */
    void requireAlive() throws FailureException {
        if (!thread.isAlive()) {
            throw new FailureException(
                    name + " ended: " + said.toString(StandardCharsets.UTF_8).strip());
        }
    }

    void stop() throws InterruptedException {
        stop.ask();
        thread.join();
    }
}
