// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import dev.kvpool.dataplane.FreePort;
import dev.kvpool.dataplane.cli.CommandRunner;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.StopSignal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The whole command on this machine. */
class DoctorCommandTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @Test
    void whatCannotWorkIsAProblemAndTheExitCodeSaysSo() throws Exception {
        int code = doctor("--segment-size", "32TiB", "--ports", String.valueOf(FreePort.next()));

        assertThat(code).isEqualTo(ExitCode.FAILURE);
        assertThat(text()).contains("problem  shared memory: ", "32.0 TiB", "  -> make the segment smaller");
        assertThat(text()).containsPattern("1 problems, [0-9]+ warnings");
    }

    @Test
    void aPortInUseIsAWarningThatNamesIt() throws Exception {
        try (ServerSocket taken = new ServerSocket(0)) {
            assertThat(doctor("--ports", String.valueOf(taken.getLocalPort()))).isEqualTo(ExitCode.OK);
            assertThat(text()).contains("warning  port " + taken.getLocalPort(), "ss -ltnp");
        }
    }

    @Test
    void programsGetJson() throws Exception {
        assertThat(doctor(
                        "--json",
                        "--masters",
                        "127.0.0.1:" + FreePort.next(),
                        "--ports",
                        String.valueOf(FreePort.next())))
                .isEqualTo(ExitCode.FAILURE);

        JsonNode findings = new ObjectMapper().readTree(text());
        assertThat(findings).isNotEmpty();
        assertThat(findings.get(findings.size() - 1).path("level").asText()).isEqualTo("problem");
        assertThat(findings.get(findings.size() - 1).path("subject").asText()).startsWith("master 127.0.0.1:");
        assertThat(findings).allSatisfy(finding -> assertThat(finding.size()).isEqualTo(4));
    }

    @Test
    void clocksAreReadFromTheAdminAddresses() throws Exception {
        HttpServer admin = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        admin.createContext("/healthz", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        admin.start();
        try {
            String address = "127.0.0.1:" + admin.getAddress().getPort();
            assertThat(doctor("--admins", address, "--ports", String.valueOf(FreePort.next())))
                    .isEqualTo(ExitCode.OK);
            assertThat(text()).contains("ok       clock of " + address + ": within 2 s of ours");
        } finally {
            admin.stop(0);
        }
    }

    private int doctor(String... flags) {
        String[] arguments = new String[flags.length + 1];
        arguments[0] = "doctor";
        System.arraycopy(flags, 0, arguments, 1, flags.length);
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        Console console = new Console(new ByteArrayInputStream(new byte[0]), print, print, new StopSignal());
        return new CommandRunner(List.of(new DoctorCommand()), Map.of(), console).run(arguments);
    }

    private String text() {
        return out.toString(StandardCharsets.UTF_8);
    }
}
