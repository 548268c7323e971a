// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.CapturedLog;
import dev.kvpool.dataplane.admin.TrustInEffect;
import dev.kvpool.dataplane.cert.IssuedDirectory;
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
import dev.kvpool.dataplane.master.loop.CoreLoop;
import dev.kvpool.dataplane.node.StorageNodeCommand;
import dev.kvpool.dataplane.preflight.PreflightCommand;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsPlace;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.certificate.TrustBundle;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.nativelib.ClientParameters;
import dev.kvpool.nativelib.NativeClient;
import dev.kvpool.nativelib.ObjectValue;
import dev.kvpool.nativelib.Protocol;
import dev.kvpool.nativelib.Status;
import dev.kvpool.nativelib.TlsParameters;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A master and a {@code kvpool node} whose directories of certificates others fill, as the operator's pods have them with such a source. */
class MembersOfDirectoriesTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration BRIEF = Duration.ofSeconds(8);

    private final CertificateAuthority authority =
            CertificateAuthority.create(POOL, Instant.now(), DAY.multipliedBy(9));
    private final TokenIssuer issuer = TokenIssuer.rsa("key-1");
    private final StopSignal stop = new StopSignal();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private MasterProcess master;
    private int plain;

    @TempDir
    Path folder;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        fill("m", "master/m-0", authority, authority.certificate());
        fill("n", "node/n-0", authority, authority.certificate());
        Files.writeString(folder.resolve("roots"), Pem.encode(authority.certificate()));
        Files.writeString(folder.resolve("keys"), issuer.keySet());
        Files.writeString(
                folder.resolve("rules"), "mon/monitor monitor\nmon/operator operator\nmon/engine tenant a rw\n");
        Files.createDirectory(folder.resolve("data"));
        master = MasterProcess.start(
                new LoopbackMaster(POOL, "m-0", folder)
                        .expecting("n-0")
                        .secured(new TlsPlace(Optional.of(folder.resolve("m")), TlsMode.REQUIRED))
                        .enrolling(new EnrolmentSettings.Place(
                                Optional.empty(),
                                folder.resolve("rules"),
                                Optional.of(folder.resolve("keys")),
                                EnrolmentSettings.LIFE_MAX))
                        .config(),
                PeerSocket.VERSIONS,
                (what, cause) -> {});
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            plain = free.getLocalPort();
        }
    }

    @AfterEach
    void stop() {
        stop.ask();
        master.close();
    }

    /** As cert-manager does: another key and certificate under the same names. */
    private void fill(String directory, String name, CertificateAuthority by, X509Certificate... roots)
            throws IOException {
        fill(DAY, directory, name, by, roots);
    }

    private void fill(Duration life, String directory, String name, CertificateAuthority by, X509Certificate... roots)
            throws IOException {
        CertificateAuthority.Issued issued = by.issue(PeerName.ofPath(POOL, name), List.of(), Instant.now(), life);
        IssuedDirectory.write(
                folder.resolve(directory),
                Arrays.stream(roots).map(Pem::encode).collect(Collectors.joining()),
                issued.key(),
                Pem.encode(issued.certificate()));
    }

    @Test
    void aPoolFollowsItsDirectoriesToAnotherAuthority() throws Exception {
        CompletableFuture<Integer> ended = node();
        await().atMost(LONG).ignoreExceptions().until(() -> probe("/readyz").isOk());
        CertificateAuthority next = CertificateAuthority.create(POOL, Instant.now(), DAY.multipliedBy(30));
        X509Certificate old = authority.certificate();

        fill("m", "master/m-0", authority, old, next.certificate());
        fill("n", "node/n-0", authority, old, next.certificate());
        awaitSigner(authority, 2);
        fill("m", "master/m-0", next, next.certificate(), old);
        fill("n", "node/n-0", next, next.certificate(), old);
        awaitSigner(next, 2);
        fill("m", "master/m-0", next, next.certificate());
        fill("n", "node/n-0", next, next.certificate());
        awaitSigner(next, 1);

        assertThat(probe("/readyz").isOk()).isTrue();
        assertThat(ended).isNotDone();
        stop.ask();
        assertThat(ended.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(ExitCode.OK);
    }

    /** The storage node is libkvpool's: its proofs are taken by a master of this language. No object is out of reach meanwhile. */
    @Test
    void aStorageNodesConnectionStaysBeyondTheCertificatesByWhichItWasOpened() throws Exception {
        X509Certificate root = authority.certificate();
        fill("c", "tenant/default/rw/c", authority, root);
        fill(BRIEF, "n", "node/n-0", authority, root);
        CompletableFuture<Integer> ended = node();
        await().atMost(LONG).ignoreExceptions().until(() -> probe("/readyz").isOk());
        try (CapturedLog proofs = new CapturedLog(SessionHandler.class.getName());
                CapturedLog log = new CapturedLog(CoreLoop.class.getName());
                NativeClient client = client()) {
            byte[] value = "v".getBytes(StandardCharsets.UTF_8);
            assertThat(client.put(Map.of("k", value), LONG)).as(client::explain).containsExactly(Status.OK);
            Instant until = Instant.now().plus(BRIEF.multipliedBy(5).dividedBy(2));
            for (Instant refill = Instant.now(); Instant.now().isBefore(until); Thread.sleep(50)) {
                if (!Instant.now().isBefore(refill)) {
                    fill(BRIEF, "n", "node/n-0", authority, root);
                    fill("m", "master/m-0", authority, root);
                    refill = refill.plus(BRIEF.dividedBy(3));
                }
                ObjectValue found = client.get(List.of("k"), LONG).getFirst();
                assertThat(found.status()).as(client::explain).isEqualTo(Status.OK);
            }
            assertThat(proofs.lines()).as("not taken").noneMatch(line -> line.contains("ends with the one before"));
            assertThat(log.lines()).as("its directory comes again").noneMatch(line -> line.startsWith("node n-0 away"));
        }
        assertThat(ended).isNotDone();
    }

    private NativeClient client() {
        return NativeClient.connect(new ClientParameters(
                "127.0.0.1:" + master.port(),
                null,
                Set.of(Protocol.TCP),
                null,
                null,
                null,
                null,
                null,
                new TlsParameters(folder.resolve("c").toString(), TlsParameters.Mode.REQUIRED)));
    }

    private void awaitSigner(CertificateAuthority by, int roots) throws IOException {
        String digest = digest(roots);
        await().atMost(LONG).untilAsserted(() -> {
            TrustInEffect trust = master.trust().orElseThrow();
            assertThat(trust.authority()).isEqualTo(CertificateAuthority.fingerprint(by.certificate()));
            assertThat(trust.roots()).isEqualTo(digest);
        });
        long first = TrustBundle.parse(Files.readString(folder.resolve("n/ca.crt"))).roots().stream()
                .mapToLong(root -> root.getNotAfter().toInstant().getEpochSecond())
                .min()
                .orElseThrow();
        await().atMost(LONG).untilAsserted(() -> assertThat(ends()).contains(first));
    }

    /** Of the storage node's certificate and of what it trusts, in seconds since 1970. */
    private List<Long> ends() throws IOException {
        return probe("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("kvpool_certificate_not_after_seconds"))
                .map(line -> Math.round(Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1))))
                .toList();
    }

    private String digest(int roots) throws IOException {
        TrustBundle bundle = TrustBundle.parse(Files.readString(folder.resolve("m/ca.crt")));
        assertThat(bundle.roots()).hasSize(roots);
        return bundle.digest();
    }

    /** What the operator makes of it: whether the directory is still filled. */
    @Test
    void aMasterSaysHowLongItsCertificateIsValid() {
        TrustInEffect.Own own = master.trust().orElseThrow().own();
        assertThat(own.notAfter()).isBetween(Instant.now(), Instant.now().plus(DAY));
        assertThat(own.notBefore()).isBefore(own.notAfter());
    }

    @Test
    void theCheckOfAnUpgradeAsksByItsToken() throws Exception {
        Files.writeString(folder.resolve("token"), token("monitor", "kvpool.dev/" + POOL));
        CompletableFuture<Integer> ended = node();

        await().atMost(LONG)
                .untilAsserted(() -> assertThat(run(
                                        new PreflightCommand(),
                                        "--admins=" + secure(),
                                        "--token-file=" + folder.resolve("token"),
                                        "--roots=" + folder.resolve("roots"))
                                .get(LONG.toSeconds(), TimeUnit.SECONDS))
                        .isEqualTo(ExitCode.OK));
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("\"verdict\":\"rolling-warm\"");
        assertThat(ended).isNotDone();
    }

    @ParameterizedTest
    @CsvSource({
        "monitor, POOL, 200",
        "operator, POOL/ROOT, 200",
        "operator, POOL/0123456789abcdef, 401",
        "operator, POOL, 401",
        "engine, POOL, 403",
        "stranger, POOL, 403"
    })
    void tokensStandForCertificatesOfSomeRoles(String account, String audience, int status) throws IOException {
        String text = audience.replace("POOL", "kvpool.dev/" + POOL)
                .replace("ROOT", CertificateAuthority.fingerprint(authority.certificate()));
        AdminAnswer answer = AdminCaller.trusting(List.of(authority.certificate()), Set.of(POOL))
                .showing(token(account, text))
                .get(secure(), "/api/v1/pool", LONG, LONG);

        assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    }

    @Test
    void itSignsNothing() throws IOException {
        AdminAnswer answer = AdminCaller.trusting(List.of(authority.certificate()), Set.of(POOL))
                .post(secure(), "/api/v1/enrol?key=AA&proof=AA", token("engine", "kvpool.dev/" + POOL), LONG, LONG);

        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.body()).contains("signs no certificates", "KVPOOL_TLS_DIR");
    }

    private String token(String account, String audience) {
        return issuer.token(TokenIssuer.claims(
                audience, "mon", account, Instant.now(), Instant.now().plusSeconds(600)));
    }

    private HostPort secure() {
        return new HostPort("127.0.0.1", master.secureAdminPort().orElseThrow());
    }

    private AdminAnswer probe(String path) throws IOException {
        return AdminCaller.PLAIN.get(new HostPort("127.0.0.1", plain), path, LONG, LONG);
    }

    private CompletableFuture<Integer> node() {
        return run(
                new StorageNodeCommand(),
                "--pool-id=" + POOL,
                "--node-id=n-0",
                "--masters=127.0.0.1:" + master.port(),
                "--host=127.0.0.1",
                "--advertise-host=127.0.0.1",
                "--port=0",
                "--admin-port=" + plain,
                "--secure-admin-port=0",
                "--data-dir=" + folder.resolve("data"),
                "--segment-size=32MiB",
                "--tls-dir=" + folder.resolve("n"));
    }

    private CompletableFuture<Integer> run(Command command, String... arguments) {
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        Console console = new Console(InputStream.nullInputStream(), print, print, stop);
        return CompletableFuture.supplyAsync(
                () -> new CommandRunner(List.of(command), Map.of(), console)
                        .run(Stream.concat(Stream.of(command.name()), Arrays.stream(arguments))
                                .toArray(String[]::new)),
                Executors.newVirtualThreadPerTaskExecutor());
    }
}
