// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.cli.CommandRunner;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.StopSignal;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.enrol.EnrolmentSettings;
import dev.kvpool.dataplane.enrol.TokenIssuer;
import dev.kvpool.dataplane.http.AdminAnswer;
import dev.kvpool.dataplane.http.AdminCaller;
import dev.kvpool.dataplane.node.StorageNodeCommand;
import dev.kvpool.dataplane.preflight.PreflightCommand;
import dev.kvpool.dataplane.secure.ForeignAuthority;
import dev.kvpool.dataplane.secure.RefusedCertificateException;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsPlace;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.nativelib.ClientParameters;
import dev.kvpool.nativelib.KvException;
import dev.kvpool.nativelib.NativeClient;
import dev.kvpool.nativelib.Protocol;
import dev.kvpool.nativelib.Status;
import dev.kvpool.nativelib.TlsParameters;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A master, storage nodes and clients whose certificates name ServiceAccounts, as SPIRE gives them: those of a set are all alike. */
class MembersWithForeignNamesTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String RULES = "pool " + POOL + "\ntrust-domain cluster.local\n"
            + "inference/demo-master master\ninference/demo-storage node\n"
            + "team-a/engine tenant chat rw\nteam-a/reader tenant chat ro\n";
    private static final String LATER = "team-b/engine tenant search rw\n";

    private final TokenIssuer issuer = TokenIssuer.rsa("key-1");
    private final StopSignal stop = new StopSignal();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private ForeignAuthority authority;
    private MasterProcess master;

    @TempDir
    Path folder;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        authority = new ForeignAuthority(folder);
        Files.writeString(folder.resolve("keys"), issuer.keySet());
        Files.writeString(folder.resolve("rules"), "mon/monitor monitor\nkvpool/operator operator\n");
        master = MasterProcess.start(
                new LoopbackMaster(POOL, "m-0", folder)
                        .expecting("n-0", "n-1")
                        .secured(new TlsPlace(
                                Optional.of(filled("m", "inference/demo-master", RULES)), TlsMode.REQUIRED))
                        .enrolling(new EnrolmentSettings.Place(
                                Optional.empty(),
                                folder.resolve("rules"),
                                Optional.of(folder.resolve("keys")),
                                EnrolmentSettings.LIFE_MAX))
                        .config(),
                PeerSocket.VERSIONS,
                (what, cause) -> {});
    }

    @AfterEach
    void stop() {
        stop.ask();
        master.close();
    }

    private Path filled(String name, String account, String rules) throws IOException {
        Path directory = folder.resolve(name);
        authority.fill(directory, "spiffe://cluster.local/ns/" + account.replace("/", "/sa/"));
        ForeignAuthority.rules(directory, rules);
        return directory;
    }

    @Test
    void storageNodesAndEnginesAreKnownByTheirServiceAccounts() throws Exception {
        CompletableFuture<Integer> first = node("n-0", filled("n-0", "inference/demo-storage", RULES));
        CompletableFuture<Integer> second = node("n-1", filled("n-1", "inference/demo-storage", RULES));
        Path reader = filled("reader", "team-a/reader", RULES);
        try (NativeClient client = client(filled("engine", "team-a/engine", RULES))) {
            await().atMost(LONG).until(() -> put(client, "a").equals(List.of(Status.OK)));
            await().atMost(LONG).until(() -> pool(reader).status() == 403); // a tenant's certificate, and known as one
            try (NativeClient other = client(reader)) {
                assertThat(other.get(List.of("a"), LONG).getFirst().status()).isEqualTo(Status.OK);
                assertThat(put(other, "b")).containsExactly(Status.NOT_PERMITTED);
            }
        }
        assertThat(pool(reader).body()).contains("tenant/chat/ro/team-a.reader may not GET /api/v1/pool");
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();
        stop.ask();
        assertThat(first.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ExitCode.OK);
        assertThat(second.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ExitCode.OK);
    }

    /** Rules are live: an engine that has none is refused by name, and served when there is one. */
    @Test
    void anEngineWithoutARuleIsRefusedUntilThereIsOne() throws Exception {
        Path node = filled("n-0", "inference/demo-storage", RULES);
        CompletableFuture<Integer> serving = node("n-0", node);
        Path engine = filled("engine", "team-b/engine", RULES);
        String missing = "there is no rule for ServiceAccount team-b/engine";
        assertThatThrownBy(() -> client(engine)).isInstanceOf(KvException.class).hasMessageContaining(missing);

        ForeignAuthority.rules(engine, RULES + LATER); // as if a stranger wrote its own
        assertThat(pool(engine).body())
                .contains("'spiffe://cluster.local/ns/team-b/sa/engine' has no part in this pool", missing);
        ForeignAuthority.rules(folder.resolve("m"), RULES + LATER);
        ForeignAuthority.rules(node, RULES + LATER);
        try (NativeClient client = client(engine)) {
            await().atMost(LONG).until(() -> put(client, "a").equals(List.of(Status.OK)));
        }
        assertThat(serving).isNotDone();
    }

    @Test
    void aStorageNodeWithTheCertificateOfAnEngineDoesNotBegin() throws Exception {
        assertThat(node("n-0", filled("n-0", "team-a/engine", RULES)).get(LONG.toSeconds(), TimeUnit.SECONDS))
                .isNotEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("tenant/chat/rw/team-a.engine", "node/n-0");
    }

    @Test
    void withoutRulesSuchACertificateIsRefused() throws IOException {
        Path directory = filled("engine", "team-a/engine", RULES);
        Path names = folder.resolve("engine.names/names");
        Files.writeString(names, RULES + "x y\n");
        assertThatThrownBy(() -> TlsContext.read(directory, Instant.now()))
                .isInstanceOf(RefusedCertificateException.class)
                .hasMessageContaining(names + ": line 7: 'x' is not NAMESPACE/ACCOUNT");
        Files.delete(names);
        assertThatThrownBy(() -> TlsContext.read(directory, Instant.now()))
                .isInstanceOf(RefusedCertificateException.class)
                .hasMessageContaining("its trust domain is no pool id");
    }

    /** Nor is it as if there were none where they cannot be looked at, or are too long. */
    @Test
    void rulesThatCannotBeReadAreRefused() throws IOException {
        Path directory = filled("engine", "team-a/engine", RULES);
        Path names = folder.resolve("engine.names/names");
        Files.delete(names);
        Files.createSymbolicLink(names, Path.of("names")); // of itself: not even root can read it
        assertThatThrownBy(() -> TlsContext.read(directory, Instant.now()))
                .isInstanceOf(RefusedCertificateException.class)
                .hasMessageContaining("cannot read " + names);

        Files.delete(names);
        Files.writeString(names, RULES + "#" + "x".repeat((1 << 20) - RULES.length()));
        assertThatThrownBy(() -> TlsContext.read(directory, Instant.now()))
                .isInstanceOf(RefusedCertificateException.class)
                .hasMessageContaining(names + " has more than 1048576 bytes");
    }

    /** Who shows a token there must know masters by the rules as well. */
    @Test
    void whoAsksWithATokenKnowsMastersByTheRules() throws IOException {
        AdminCaller knowing = AdminCaller.trusting(List.of(authority.root()), ForeignNames.parse(RULES), Set.of(POOL));
        AdminCaller ignorant = AdminCaller.trusting(List.of(authority.root()), Set.of(POOL));

        assertThat(knowing.get(secure(), "/api/v1/pool", LONG, LONG).status()).isEqualTo(401);
        assertThatThrownBy(() -> ignorant.get(secure(), "/api/v1/pool", LONG, LONG))
                .hasMessageContaining("spiffe://cluster.local/ns/inference/sa/demo-master");
    }

    /**
     * The authority has many pools, and anybody with a namespace may make objects with the identity of this one and have the operator show a token
     * to masters of their own.
     */
    @Test
    void whatTheOperatorShowedToMastersOfAnotherAccountIsRefused() throws IOException {
        String audience = "kvpool.dev/" + POOL + "/" + CertificateAuthority.fingerprint(authority.root());
        String own = audience + "/inference/demo-master";

        assertThat(asOperator(own).status()).isEqualTo(200);
        for (String other : List.of(
                audience,
                audience + "/thief/demo-master",
                audience + "/inference/thief-master",
                own + "x",
                own + "/",
                "kvpool.dev/" + POOL)) {
            assertThat(asOperator(other).status()).as(other).isEqualTo(401);
            assertThat(asOperator(other).body()).contains("must be of audience " + own);
        }
    }

    private AdminAnswer asOperator(String audience) throws IOException {
        String token = issuer.token(TokenIssuer.claims(
                audience, "kvpool", "operator", Instant.now(), Instant.now().plusSeconds(600)));
        return AdminCaller.trusting(List.of(authority.root()), ForeignNames.parse(RULES), Set.of(POOL))
                .showing(token)
                .get(secure(), "/api/v1/pool", LONG, LONG);
    }

    /** Beside the roots, in the volume that the operator gives the check of an upgrade. */
    @Test
    void theCheckOfAnUpgradeReadsTheRulesBesideItsRoots() throws Exception {
        CompletableFuture<Integer> first = node("n-0", filled("n-0", "inference/demo-storage", RULES));
        CompletableFuture<Integer> second = node("n-1", filled("n-1", "inference/demo-storage", RULES));
        Path identity = Files.createDirectory(folder.resolve("identity"));
        Files.writeString(identity.resolve("ca.crt"), Pem.encode(authority.root()));
        Files.writeString(
                identity.resolve("token"),
                issuer.token(TokenIssuer.claims(
                        "kvpool.dev/" + POOL,
                        "mon",
                        "monitor",
                        Instant.now(),
                        Instant.now().plusSeconds(600))));
        String[] check = {
            "preflight",
            "--admins=" + secure(),
            "--token-file=" + identity.resolve("token"),
            "--roots=" + identity.resolve("ca.crt")
        };
        assertThat(run(check).get(LONG.toSeconds(), TimeUnit.SECONDS)).isNotEqualTo(ExitCode.OK);
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("spiffe://cluster.local/ns/inference/sa/demo-master");

        Files.writeString(identity.resolve("names"), RULES);
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(run(check).get(LONG.toSeconds(), TimeUnit.SECONDS))
                        .isEqualTo(ExitCode.OK));
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();
    }

    private static List<Status> put(NativeClient client, String key) {
        return client.put(Map.of(key, new byte[1000]), LONG);
    }

    private NativeClient client(Path directory) {
        return NativeClient.connect(new ClientParameters(
                "127.0.0.1:" + master.port(),
                null,
                Set.of(Protocol.TCP),
                null,
                null,
                null,
                null,
                null,
                new TlsParameters(directory.toString(), TlsParameters.Mode.REQUIRED)));
    }

    private AdminAnswer pool(Path directory) throws IOException {
        return AdminCaller.of(new TlsPlace(Optional.of(directory), TlsMode.REQUIRED))
                .get(secure(), "/api/v1/pool", LONG, LONG);
    }

    private HostPort secure() {
        return new HostPort("127.0.0.1", master.secureAdminPort().orElseThrow());
    }

    private CompletableFuture<Integer> node(String id, Path directory) throws IOException {
        Path data = Files.createDirectory(folder.resolve("data-" + id));
        return run(
                "node",
                "--pool-id=" + POOL,
                "--node-id=" + id,
                "--masters=127.0.0.1:" + master.port(),
                "--host=127.0.0.1",
                "--advertise-host=127.0.0.1",
                "--port=0",
                "--admin-port=0",
                "--secure-admin-port=0",
                "--data-dir=" + data,
                "--segment-size=32MiB",
                "--tls-dir=" + directory);
    }

    private CompletableFuture<Integer> run(String... line) {
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        Console console = new Console(InputStream.nullInputStream(), print, print, stop);
        return CompletableFuture.supplyAsync(
                () -> new CommandRunner(List.of(new StorageNodeCommand(), new PreflightCommand()), Map.of(), console)
                        .run(line),
                Executors.newVirtualThreadPerTaskExecutor());
    }
}
