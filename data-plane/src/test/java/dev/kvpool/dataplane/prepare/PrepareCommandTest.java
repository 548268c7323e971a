// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.ChildJvm;
import dev.kvpool.dataplane.Kvpool;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rehearsal with a real master, a real storage node and a real client. */
class PrepareCommandTest {
    /** A process of its own: a master ends the one that it is in when any thread there fails. */
    @Test
    void aPoolLivesAndLeavesNothing(@TempDir Path temporary) throws Exception {
        List<String> command =
                ChildJvm.command(Kvpool.class, ChildJvm.NATIVE, List.of("-Djava.io.tmpdir=" + temporary));
        command.add("prepare");
        Process kvpool = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();

        assertThat(kvpool.getInputStream().readAllBytes())
                .asString(StandardCharsets.UTF_8)
                .isEmpty();
        assertThat(kvpool.waitFor()).isEqualTo(ExitCode.OK);
        assertThat(temporary).isDirectoryNotContaining("glob:**kvpool-prepare-*");
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
}
