// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.admin.TrustInEffect;
import dev.kvpool.dataplane.agent.AgentCommand;
import dev.kvpool.dataplane.cert.AuthorityDirectory;
import dev.kvpool.dataplane.cli.Command;
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
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsPlace;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.certificate.TrustBundle;
import dev.kvpool.identity.name.PeerNames;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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

/** {@code kvpool node} and {@code kvpool agent} that get their certificates themselves, of a real master that signs its own. */
class MembersEnrolTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration LONG = Duration.ofSeconds(60);

    /** The pod and Kubernetes node of {@link TokenIssuer#claims}. */
    private static final String NODE = "demo-a-0";

    private static final String AGENT = "worker-1";

    private final TokenIssuer issuer = TokenIssuer.rsa("key-1");
    private final StopSignal stop = new StopSignal();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private MasterProcess master;
    private int plain;

    @TempDir
    Path folder;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        AuthorityDirectory.write(
                folder.resolve("ca"), CertificateAuthority.create(POOL, Instant.now(), Duration.ofDays(9)));
        Files.writeString(folder.resolve("keys"), issuer.keySet());
        Files.writeString(folder.resolve("rules"), "");
        Files.createDirectory(folder.resolve("data"));
        Files.createDirectory(folder.resolve("sockets"));
        startMaster();
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            plain = free.getLocalPort();
        }
    }

    private void startMaster() throws IOException, InterruptedException {
        master = MasterProcess.start(
                new LoopbackMaster(POOL, "m-0", folder)
                        .expecting(NODE)
                        .secured(new TlsPlace(Optional.empty(), TlsMode.REQUIRED))
                        .enrolling(new EnrolmentSettings.Place(
                                Optional.of(folder.resolve("ca")),
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

    @Test
    void aNodeWaitsForItsCertificateAndServesWithIt() throws Exception {
        CompletableFuture<Integer> ended = node(NODE);
        await().atMost(LONG)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(probe("/readyz").body())
                        .contains("waits for a certificate", "ServiceAccount mon/member has no part in this pool"));
        assertThat(probe("/healthz").status()).isEqualTo(200);
        assertThat(folder.resolve("tls/tls.crt")).doesNotExist();

        Files.writeString(folder.resolve("rules"), "mon/member node\n");
        await().atMost(LONG).ignoreExceptions().until(() -> probe("/readyz").isOk());
        assertThat(name()).isEqualTo("node/" + NODE);
        assertThat(probe("/api/v1/node").status()).as("HTTPS only").isEqualTo(403);
        stop.ask();
        assertThat(ended.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ExitCode.OK);
    }

    @Test
    void aCertificateThatIsThereServesAtOnceAndIsReplaced() throws Exception {
        Files.writeString(folder.resolve("rules"), "mon/member node\n");
        StopSignal first = new StopSignal();
        CompletableFuture<Integer> run = node(NODE, first);
        await().atMost(LONG).ignoreExceptions().until(() -> probe("/readyz").isOk());
        first.ask();
        assertThat(run.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ExitCode.OK);
        String before = Files.readString(folder.resolve("tls/tls.crt"));
        Files.writeString(folder.resolve("rules"), "");
        await().atMost(LONG).until(this::isRefusedNow);

        CompletableFuture<Integer> ended = node(NODE);
        await().atMost(LONG).ignoreExceptions().until(() -> probe("/readyz").isOk());
        assertThat(Files.readString(folder.resolve("tls/tls.crt"))).isEqualTo(before);
        Files.writeString(folder.resolve("rules"), "mon/member node\n");
        await().atMost(LONG)
                .until(() -> !Files.readString(folder.resolve("tls/tls.crt")).equals(before));
        stop.ask();
        assertThat(ended.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ExitCode.OK);
    }

    /** No certificate outlives its CA, so those of one that ends soon are renewed soon. */
    @Test
    void aNodeRenewsItsCertificateWhileItRuns() throws Exception {
        master.close();
        Files.delete(folder.resolve("ca/ca.crt"));
        Files.delete(folder.resolve("ca/ca.key"));
        AuthorityDirectory.write(
                folder.resolve("ca"), CertificateAuthority.create(POOL, Instant.now(), Duration.ofSeconds(50)));
        Files.writeString(folder.resolve("rules"), "mon/member node\n");
        startMaster();
        CompletableFuture<Integer> ended = node(NODE);
        await().atMost(LONG).ignoreExceptions().until(() -> probe("/readyz").isOk());
        X509Certificate first = leaf();
        await().atMost(LONG).ignoreExceptions().until(() -> !leaf().equals(first));
        X509Certificate second = leaf();
        assertThat(second.getNotBefore()).isAfter(first.getNotBefore());
        assertThat(second.getPublicKey()).isNotEqualTo(first.getPublicKey());
        assertThat(PeerNames.of(second).path()).isEqualTo("node/" + NODE);
        assertThat(ended).isNotDone();
        stop.ask();
        assertThat(ended.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ExitCode.OK);
    }

    /** By files alone, while node and master run: both roots, a certificate by the next authority, its root alone; and it says so each time. */
    @Test
    void aNodeFollowsAChangeOfTheAuthorityAndTellsHowFarItIs() throws Exception {
        Files.writeString(folder.resolve("rules"), "mon/member node\n");
        CompletableFuture<Integer> ended = node(NODE);
        await().atMost(LONG).ignoreExceptions().until(() -> probe("/readyz").isOk());
        X509Certificate old =
                Pem.certificates(Files.readString(folder.resolve("ca/ca.crt"))).getFirst();
        CertificateAuthority authority = CertificateAuthority.create(POOL, Instant.now(), Duration.ofDays(9));
        X509Certificate next = authority.certificate();
        awaitSaid(old, old);

        Files.writeString(folder.resolve("ca/roots.crt"), Pem.encode(next));
        Files.writeString(folder.resolve("roots"), Pem.encode(old) + Pem.encode(next));
        awaitSaid(old, old, next);

        Files.writeString(folder.resolve("ca/roots.crt"), Pem.encode(old));
        Files.writeString(folder.resolve("ca/ca.key"), Pem.encodeKey(authority.key()));
        Files.writeString(folder.resolve("ca/ca.crt"), Pem.encode(next));
        Files.writeString(folder.resolve("roots"), Pem.encode(next) + Pem.encode(old));
        awaitSaid(next, next, old);

        Files.delete(folder.resolve("ca/roots.crt"));
        Files.writeString(folder.resolve("roots"), Pem.encode(next));
        awaitSaid(next, next);
        assertThat(TrustBundle.parse(Files.readString(folder.resolve("tls/ca.crt")))
                        .roots())
                .containsExactly(next);
        assertThat(probe("/readyz").isOk()).isTrue();
        assertThat(ended).isNotDone();
        stop.ask();
        assertThat(ended.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ExitCode.OK);
    }

    private void awaitSaid(X509Certificate signer, X509Certificate... roots) {
        String digest = new TrustBundle(List.of(roots)).digest();
        await().atMost(LONG.multipliedBy(3)).untilAsserted(() -> {
            TrustInEffect trust = master.trust().orElseThrow();
            assertThat(trust.roots()).isEqualTo(digest);
            assertThat(trust.authority()).isEqualTo(CertificateAuthority.fingerprint(signer));
            assertThat(trust.members()).singleElement().satisfies(member -> {
                assertThat(member.name()).isEqualTo("node/" + NODE);
                assertThat(member.roots()).isEqualTo(digest);
                assertThat(member.authority()).isEqualTo(CertificateAuthority.fingerprint(signer));
                assertThat(member.notAfter()).contains(leaf().getNotAfter().toInstant());
            });
        });
    }

    private X509Certificate leaf() throws IOException {
        return Pem.certificates(Files.readString(folder.resolve("tls/tls.crt"))).getFirst();
    }

    @Test
    void aNodeThatWaitsEndsWhenItIsAsked() throws Exception {
        CompletableFuture<Integer> ended = node(NODE);
        await().atMost(LONG)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(probe("/readyz").status()).isEqualTo(503));
        stop.ask();
        assertThat(ended.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ExitCode.OK);
    }

    @Test
    void aNameThatIsNotThatOfTheProcessEndsIt() throws Exception {
        Files.writeString(folder.resolve("rules"), "mon/member node\n");
        CompletableFuture<Integer> ended = node("another");
        assertThat(ended.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("it is for spiffe://" + POOL + "/node/" + NODE, "node/another");
    }

    @Test
    void anAgentEnrolsToo() throws Exception {
        Files.writeString(folder.resolve("rules"), "mon/member agent\n");
        CompletableFuture<Integer> ended =
                run(new AgentCommand(), stop, "--socket-dir=" + folder.resolve("sockets"), "--host=127.0.0.1");
        await().atMost(LONG).ignoreExceptions().until(() -> name().equals("agent/" + AGENT));
        await().atMost(LONG).ignoreExceptions().until(() -> probe("/healthz").isOk());
        stop.ask();
        assertThat(ended.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ExitCode.OK);
    }

    @Test
    void flagsThatBelongTogetherAreAskedForTogether() throws Exception {
        Console console = console(stop);
        int code = new CommandRunner(List.of(new StorageNodeCommand()), Map.of(), console)
                .run(
                        "node",
                        "--pool-id=" + POOL,
                        "--node-id=n",
                        "--masters=127.0.0.1:1",
                        "--advertise-host=127.0.0.1",
                        "--data-dir=" + folder.resolve("data"),
                        "--segment-size=32MiB",
                        "--enrol-at=127.0.0.1:1");
        assertThat(code).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("give --enrol-at, --token-file, --roots and --tls-dir together");
    }

    /** Whether the master has seen that no rule names the account. */
    private boolean isRefusedNow() throws IOException {
        return AdminCaller.trusting(Pem.certificates(Files.readString(folder.resolve("ca/ca.crt"))), Set.of(POOL))
                .post(secure(), "/api/v1/remove_all", Files.readString(folder.resolve("token")), LONG, LONG)
                .body()
                .contains("has no part");
    }

    private HostPort secure() {
        return new HostPort("127.0.0.1", master.secureAdminPort().orElseThrow());
    }

    private String name() throws IOException {
        return TlsContext.read(folder.resolve("tls"), Instant.now())
                .credentials()
                .name()
                .path();
    }

    private AdminAnswer probe(String path) throws IOException {
        return AdminCaller.PLAIN.get(new HostPort("127.0.0.1", plain), path, LONG, LONG);
    }

    private CompletableFuture<Integer> node(String id) throws IOException {
        return node(id, stop);
    }

    private CompletableFuture<Integer> node(String id, StopSignal until) throws IOException {
        return run(
                new StorageNodeCommand(),
                until,
                "--pool-id=" + POOL,
                "--node-id=" + id,
                "--host=127.0.0.1",
                "--advertise-host=127.0.0.1",
                "--port=0",
                "--data-dir=" + folder.resolve("data"),
                "--segment-size=32MiB");
    }

    private CompletableFuture<Integer> run(Command command, StopSignal until, String... more) throws IOException {
        Files.writeString(
                folder.resolve("token"),
                issuer.token(TokenIssuer.claims(
                        "kvpool.dev/" + POOL,
                        "mon",
                        "member",
                        Instant.now(),
                        Instant.now().plusSeconds(600))));
        Files.copy(folder.resolve("ca/ca.crt"), folder.resolve("roots"), StandardCopyOption.REPLACE_EXISTING);
        List<String> arguments = new ArrayList<>(List.of(
                command.name(),
                "--masters=127.0.0.1:" + master.port(),
                "--admin-port=" + plain,
                "--secure-admin-port=0",
                "--tls-dir=" + folder.resolve("tls"),
                "--enrol-at=127.0.0.1:1," + secure(), // nothing listens at the first
                "--token-file=" + folder.resolve("token"),
                "--roots=" + folder.resolve("roots")));
        arguments.addAll(List.of(more));
        return CompletableFuture.supplyAsync(
                () -> new CommandRunner(List.of(command), Map.of(), console(until))
                        .run(arguments.toArray(String[]::new)),
                Executors.newVirtualThreadPerTaskExecutor());
    }

    private Console console(StopSignal until) {
        PrintStream print = new PrintStream(err, true, StandardCharsets.UTF_8);
        return new Console(InputStream.nullInputStream(), print, print, until);
    }
}
