// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.Kvpool;
import dev.kvpool.dataplane.cli.CommandRunner;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.StopSignal;
import dev.kvpool.dataplane.doctor.DoctorCommand;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** {@code kvpool doctor} asks a pool of real processes for its nodes, and visits them. */
class DoctorOnLocalPoolTest {
    @Test
    void whatIsWrongOnTheWayToTheNodesIsNamed() throws Exception {
        try (LocalRun local = LocalRun.start(Kvpool.class, "--storage-nodes", "2")) {
            local.awaitLines("ready ", 1);

            assertThat(doctor(local))
                    .contains("ok       storage nodes: 2 of 2 answered at their data ports")
                    .contains("ok       shared memory of nodes: used with node-0, node-1 on this machine")
                    .contains("ucx: ", "\n0 problems, ");

            Path socket = local.dataDirectory().resolve("node-1").resolve("shm.sock");
            Files.delete(socket);
            assertThat(doctor(local))
                    .contains("2 of 2 answered", "used with node-0 on this machine")
                    .contains(
                            "warning  shared memory of nodes: on this machine, and used by tcp all the same, as the node's socket"
                                    + " does not exist here: node-1 at " + socket);

            local.kill("node-1");
            await("a leader that misses it")
                    .atMost(LocalRun.PATIENCE)
                    .until(() -> doctor(local).contains("1 of 2 are not with the leader: node-1 (away"));
            assertThat(doctor(local)).contains("1 of 1 answered at their data ports");
        }
    }

    private static String doctor(LocalRun local) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        Console console = new Console(new ByteArrayInputStream(new byte[0]), print, print, new StopSignal());
        int code = new CommandRunner(List.of(new DoctorCommand()), Map.of(), console)
                .run("doctor", "--admins", "127.0.0.1:" + local.adminPort());
        String text = out.toString(StandardCharsets.UTF_8);
        assertThat(code).isEqualTo(text.contains("\n0 problems, ") ? ExitCode.OK : ExitCode.FAILURE);
        return text;
    }
}
