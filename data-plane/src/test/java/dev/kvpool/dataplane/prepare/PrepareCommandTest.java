// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.Kvpool;
import dev.kvpool.dataplane.cli.CommandRunner;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.cli.StopSignal;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rehearsal with a real master, a real storage node and a real client. */
class PrepareCommandTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
    private final Console console = new Console(InputStream.nullInputStream(), out, out, new StopSignal());

    @Test
    void aPoolLivesAndLeavesNothing() throws Exception {
        List<Path> before = leftOvers();

        int code = new CommandRunner(Kvpool.COMMANDS, Map.of(), console).run("prepare");

        assertThat(said.toString(StandardCharsets.UTF_8)).isEmpty();
        assertThat(code).isEqualTo(ExitCode.OK);
        assertThat(leftOvers()).isEqualTo(before);
    }

    @Test
    void aCommandThatEndsEarlySaysWhy() throws Exception {
        Role role = Role.start(Kvpool.COMMANDS, List.of("master", "--port", "99999"));
        role.stop();

        assertThatThrownBy(role::requireAlive)
                .isInstanceOf(FailureException.class)
                .hasMessageStartingWith("master ended: ")
                .hasMessageContaining("--port");
    }

    private static List<Path> leftOvers() throws Exception {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(file -> file.getFileName().toString().startsWith("kvpool-prepare-"))
                    .sorted()
                    .toList();
        }
    }
}
