// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.Kvpool;
import dev.kvpool.dataplane.cli.CommandRunner;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.StopSignal;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.http.AdminAnswer;
import dev.kvpool.dataplane.http.AdminCaller;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.nativelib.ClientParameters;
import dev.kvpool.nativelib.KvException;
import dev.kvpool.nativelib.NativeClient;
import dev.kvpool.nativelib.Protocol;
import dev.kvpool.nativelib.Status;
import dev.kvpool.nativelib.TlsParameters;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** A whole pool of real processes that require TLS, and a real client: every byte goes encrypted, and a dead leader costs nothing. */
class LocalTlsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofSeconds(3);
    private static final int OBJECTS = 400;
    private static final int VALUE_BYTES_MAX = 20_000;
    private static final int CLIENTS = 12;
    private static final Pattern HANDSHAKES =
            Pattern.compile("kvpool_tls_handshakes_total\\{result=\"ok\"} ([0-9.E]+)");

    private final Acknowledged acknowledged = new Acknowledged(24);

    @Test
    void theLeaderIsKilledAndEverythingIsThere() throws Exception {
        try (LocalRun local = LocalRun.start(
                Kvpool.class, "--masters", "2", "--storage-nodes", "2", "--restart", "--tls", "required")) {
            local.awaitLines("KVPOOL_TLS_DIR=", 1);
            try (NativeClient client = connect(local)) {
                acknowledged.putSome(client, OBJECTS, VALUE_BYTES_MAX);
                local.kill("master-0");
                acknowledged.awaitAllReadBack(client);
                acknowledged.awaitPut(client, "after the takeover");
                local.kill("node-1");
                local.awaitLines("started node-1", 2);
                acknowledged.awaitAllReadBack(client);
            }
        }
    }

    /** Clients are connected to the standby before it leads; some may have lost that connection on a busy machine. */
    @Test
    void aTakeoverNeedsNoHandshakesOfClients() throws Exception {
        List<NativeClient> clients = new ArrayList<>();
        try (LocalRun local = LocalRun.start(Kvpool.class, "--masters", "2", "--tls", "required")) {
            local.awaitLines("KVPOOL_TLS_DIR=", 1);
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(connect(local));
            }
            acknowledged.awaitPut(clients.getFirst(), "before the takeover");
            int leader = leads(local, 0) ? 0 : 1;
            int standby = 1 - leader;
            await("handshakes with the standby")
                    .atMost(LocalRun.PATIENCE)
                    .until(() -> handshakes(local, standby) >= CLIENTS + 1); // and the node's
            double before = handshakes(local, standby);
            local.kill("master-" + leader);
            for (NativeClient client : clients) {
                acknowledged.awaitAllReadBack(client);
            }
            assertThat(leads(local, standby)).isTrue();
            assertThat(handshakes(local, standby) - before).as("handshakes").isLessThan(CLIENTS);
        } finally {
            clients.forEach(NativeClient::close);
        }
    }

    private static boolean leads(LocalRun local, int master) throws Exception {
        AdminCaller admin = AdminCaller.with(TlsContext.read(certificates(local, "admin"), Instant.now()));
        HostPort place = new HostPort("127.0.0.1", local.secureAdminPort() + master);
        return admin.get(place, "/role", TIMEOUT, TIMEOUT).body().equals("leader");
    }

    private static double handshakes(LocalRun local, int master) throws Exception {
        HostPort admin = new HostPort("127.0.0.1", local.adminPort() + master);
        Matcher line = HANDSHAKES.matcher(
                AdminCaller.PLAIN.get(admin, "/metrics", TIMEOUT, TIMEOUT).body());
        assertThat(line.find()).isTrue();
        return Double.parseDouble(line.group(1));
    }

    @Test
    void whoHasNoCertificateGetsNothing() throws Exception {
        try (LocalRun local = LocalRun.start(Kvpool.class, "--tls", "required")) {
            local.awaitLines("KVPOOL_TLS_DIR=", 1);
            HostPort admin = new HostPort("127.0.0.1", local.secureAdminPort());
            plainAdminHasHealthAndMetricsOnly(local);
            refusedPlain(local);
            assertThat(leads(local, 0)).isTrue();
            AdminCaller operator = AdminCaller.with(TlsContext.read(certificates(local, "admin"), Instant.now()));
            AdminCaller tenant = AdminCaller.with(TlsContext.read(certificates(local, "client"), Instant.now()));
            AdminAnswer refused = tenant.get(admin, "/role", TIMEOUT, TIMEOUT);
            assertThat(refused.status()).isEqualTo(403);
            assertThat(refused.body()).contains("tenant/default/rw/local may not GET /role");
            assertThat(operator.get(admin, "/metrics", TIMEOUT, TIMEOUT).body())
                    .containsPattern("kvpool_auth_refusals_total\\{reason=\"plaintext\"} [1-9]")
                    .containsPattern("kvpool_tls_handshakes_total\\{result=\"ok\"} [1-9]");
            HostPort node = new HostPort("127.0.0.1", local.nodeSecureAdminPort());
            assertThat(operator.get(node, "/api/v1/node", TIMEOUT, TIMEOUT).status())
                    .isEqualTo(200);
            try (NativeClient client = connect(local)) {
                acknowledged.awaitPut(client, "still serves");
            }
        }
    }

    /** As kubelets and Prometheus ask. */
    private static void plainAdminHasHealthAndMetricsOnly(LocalRun local) throws Exception {
        assertThat(local.out()).contains("secure-admins=127.0.0.1:" + local.secureAdminPort());
        for (int offset : List.of(0, local.nodeAdminPort() - local.adminPort())) {
            HostPort plain = new HostPort("127.0.0.1", local.adminPort() + offset);
            for (String open : List.of("/healthz", "/readyz", "/version", "/metrics")) {
                assertThat(AdminCaller.PLAIN.get(plain, open, TIMEOUT, TIMEOUT).status())
                        .as(open)
                        .isEqualTo(200);
            }
            for (String closed : List.of("/role", "/api/v1/pool", "/api/v1/node", "/nowhere")) {
                AdminAnswer refused = AdminCaller.PLAIN.get(plain, closed, TIMEOUT, TIMEOUT);
                assertThat(refused.status()).as(closed).isEqualTo(403);
                assertThat(refused.body())
                        .contains("is answered over HTTPS only: port "
                                + (local.secureAdminPort() + (offset == 0 ? 0 : 10)));
            }
        }
    }

    /** Either the client cannot be made, or it never finds a leader. */
    private static void refusedPlain(LocalRun local) {
        try (NativeClient plain = NativeClient.connect(parameters(local, TlsParameters.OFF))) {
            assertThat(plain.put(Map.of("plain", new byte[1]), SHORT)).doesNotContain(Status.OK);
        } catch (KvException e) {
            assertThat(e.status()).isNotEqualTo(Status.OK);
        }
    }

    @Test
    void theDoctorShowsItsCertificate() throws Exception {
        try (LocalRun local = LocalRun.start(Kvpool.class, "--tls", "required", "--storage-nodes", "2")) {
            local.awaitLines("KVPOOL_TLS_DIR=", 1);
            assertThat(doctor(local, "--tls-dir", certificates(local, "admin").toString()))
                    .contains("ok       storage nodes: 2 of 2 answered at their data ports")
                    .contains("\n0 problems, ");
            assertThat(doctor(local)).doesNotContain("\n0 problems, ");
        }
    }

    private static String doctor(LocalRun local, String... more) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        Console console = new Console(new ByteArrayInputStream(new byte[0]), print, print, new StopSignal());
        List<String> arguments = new ArrayList<>(List.of("doctor", "--masters", local.masters(1)));
        arguments.addAll(List.of("--admins", "127.0.0.1:" + local.secureAdminPort()));
        arguments.addAll(List.of(more));
        new CommandRunner(Kvpool.COMMANDS, Map.of(), console).run(arguments.toArray(String[]::new));
        return out.toString(StandardCharsets.UTF_8);
    }

    private static Path certificates(LocalRun local, String name) {
        return local.dataDirectory().resolve("tls").resolve(name);
    }

    private static NativeClient connect(LocalRun local) {
        String directory = local.out().stream()
                .filter(line -> line.startsWith("KVPOOL_TLS_DIR="))
                .map(line -> line.substring(line.indexOf('=') + 1))
                .findFirst()
                .orElseThrow();
        return NativeClient.connect(parameters(local, new TlsParameters(directory, TlsParameters.Mode.REQUIRED)));
    }

    /** By tcp alone: shared memory is not what is tried here. */
    private static ClientParameters parameters(LocalRun local, TlsParameters tls) {
        return new ClientParameters(local.masters(2), null, Set.of(Protocol.TCP), null, null, null, null, null, tls);
    }
}
