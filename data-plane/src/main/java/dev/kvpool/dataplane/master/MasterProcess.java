// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.admin.MasterRoutes;
import dev.kvpool.dataplane.admin.TrustInEffect;
import dev.kvpool.dataplane.admin.mooncake.MooncakeRoutes;
import dev.kvpool.dataplane.audit.AuditLog;
import dev.kvpool.dataplane.election.Candidate;
import dev.kvpool.dataplane.election.Elector;
import dev.kvpool.dataplane.election.ElectorThread;
import dev.kvpool.dataplane.election.LeaseStore;
import dev.kvpool.dataplane.election.Sight;
import dev.kvpool.dataplane.enrol.EnrolRoute;
import dev.kvpool.dataplane.enrol.Enrolment;
import dev.kvpool.dataplane.enrol.EnrolmentFiles;
import dev.kvpool.dataplane.enrol.OwnCertificate;
import dev.kvpool.dataplane.enrol.TrustRoute;
import dev.kvpool.dataplane.health.Defects;
import dev.kvpool.dataplane.health.HangWatch;
import dev.kvpool.dataplane.http.AdminPorts;
import dev.kvpool.dataplane.http.AdminServers;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.http.TokenNames;
import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.events.EventStreams;
import dev.kvpool.dataplane.master.file.ExpectedNodesFile;
import dev.kvpool.dataplane.master.file.FileWatch;
import dev.kvpool.dataplane.master.loop.ConnectionCounts;
import dev.kvpool.dataplane.master.loop.CoreLoop;
import dev.kvpool.dataplane.master.warmup.WarmUp;
import dev.kvpool.dataplane.metrics.MasterMetrics;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.dataplane.secure.MemberReports;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.dataplane.secure.RefusedCertificateException;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsIdentity;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.Handshake;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.TrustBundle;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import dev.kvpool.nativelib.Uptime;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running master: the core on its event loop, the server for nodes and clients, the elector, the admin endpoint. */
public final class MasterProcess implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MasterProcess.class);
    private static final long TICK_MS = 10;
    private static final long STATUS_MS = 50;

    /** A pause of the collector is shorter, and else the elector waits for the turn. */
    private static final long TURN_MS_MAX = 300;

    /** Ticks, heartbeats and the like in that time; a put batch is three. */
    private static final long INPUTS_AT_REST = 20;

    /** Within so long of a change of role peers come because of it. */
    private static final long TAKEOVER_MS_MAX = 10_000;

    private static final long CLOSE_MS_MAX = 2_000;

    private final MasterConfig config;
    private final Handshake.Self self;
    private final MultiThreadIoEventLoopGroup group;
    private final CoreLoop loop;
    private final Optional<EvictionLog> evictionLog;
    private final LocalRequests localRequests = new LocalRequests();
    private final ConnectionCounts counts = new ConnectionCounts();
    private final ConnectedPeers peers = new ConnectedPeers();
    private final LeaseStore leases;
    private final LeadershipEvents leadership;
    private final EventStreams events;
    private final ElectorThread elector;
    private final HangWatch hangs;
    private final RulesFollower follower;
    private final CoreSettings settings;
    private final EarlyTakeover early;
    private final HandingOver handingOver;
    private final Optional<EnrolmentFiles> enrolment;
    private final MemberReports memberReports = new MemberReports(MasterProcess::clockMs);
    private final PoolSecurity security;
    private final AuditLog audit;
    private final BehindTimes behind = new BehindTimes();
    private volatile PoolStatus status;
    private volatile boolean closing;
    private volatile boolean busy;
    private volatile boolean takesOver;
    private volatile long opened;
    private OptionalLong roleSinceMs = OptionalLong.empty();
    private long inputsSeen;
    private WarmUp warmUp;
    private MasterServer server;
    private AdminServers admin;

    /**
     * Starts a master and returns when it listens; whether it leads is decided later.
     *
     * @param defects told when the master can no longer be trusted; the process should end then
     * @throws IOException when a port or file is not usable; the message names it
     */
    public static MasterProcess start(MasterConfig config, Versions versions, Defects defects)
            throws IOException, InterruptedException {
        int timeoutMs = (int) Math.max(1, config.times().renewDeadlineMs() / 2);
        return start(config, versions, config.lease().open(timeoutMs), defects);
    }

    /** As above, with a store of the Lease that this process takes over. */
    static MasterProcess start(MasterConfig config, Versions versions, LeaseStore leases, Defects defects)
            throws IOException, InterruptedException {
        MasterProcess process = new MasterProcess(config, versions, leases, defects);
        try {
            process.listen();
            return process;
        } catch (IOException | InterruptedException | RuntimeException e) {
            process.close();
            throw e;
        }
    }

    private MasterProcess(MasterConfig config, Versions versions, LeaseStore leases, Defects defects)
            throws IOException {
        this.config = config;
        this.leases = leases;
        SecureRandom secure = new SecureRandom();
        self = new Handshake.Self(config.name(), config.poolId(), nonZero(secure), versions);
        enrolment = config.enrolment().isPresent()
                ? Optional.of(new EnrolmentFiles(config.enrolment().get(), config.poolId(), InstantSource.system()))
                : Optional.empty();
        security = security();
        audit = AuditLog.of(config.auditLog(), InstantSource.system(), MasterProcess::clockMs);
        follower = new RulesFollower(config);
        settings = new CoreSettings(
                config.name(),
                follower.rules(),
                config.times().leaseDurationMs(),
                config.times().renewDeadlineMs(),
                config.evictionLog().isPresent(),
                IndexMemory.ofHeap(Runtime.getRuntime().maxMemory()),
                versions.wire().max(),
                config.tls().mode() == TlsMode.REQUIRED);
        RandomGenerator random = RandomGenerator.getDefault();
        Map<String, String> expected = expectedNodes();
        MasterCore core = new MasterCore(settings, expected.keySet(), random, secure);
        core.expectNodes(expected, clockMs());
        status = core.status();
        evictionLog = openEvictionLog(config);
        group = new MultiThreadIoEventLoopGroup(1, ioHandler());
        EventLoop eventLoop = group.next();
        loop = new CoreLoop(
                core,
                eventLoop,
                MasterProcess::clockMs,
                leaders(),
                localRequests::answered,
                this::log,
                counts,
                defects);
        events = new EventStreams(loop::ask, () -> status.isLeader(clockMs()), MasterProcess::clockMs);
        leadership = new LeadershipEvents(loop);
        Elector runner = new Elector(
                // The nonce is what peers hear in the Welcome: whoever dials a leader can tell it from its successor.
                new Candidate(config.name(), self.incarnation()),
                config.times(),
                leases,
                MasterProcess::clockMs,
                InstantSource.system(),
                () -> new Sight(status.highestEpoch(), status.isHalfConnected(), coreTurns()),
                leadership);
        elector = new ElectorThread(
                runner,
                config.times().retryPeriodMs(),
                (_, e) -> defects.found("the elector of this master has ended", e));
        hangs = new HangWatch("the core of this master", loop.beat()::ageMs, loop.beat()::position, defects);
        early = new EarlyTakeover(new LeaderProbe(self, security::current), elector, MasterProcess::clockMs);
        handingOver = new HandingOver(loop, elector, MasterProcess::clockMs);
    }

    private void listen() throws IOException, InterruptedException {
        warmUp = WarmUp.start(
                settings,
                MasterProcess::clockMs,
                config.warmUp(),
                () -> busy,
                () -> takesOver,
                () -> opened,
                security::current);
        EventLoop eventLoop = group.next();
        server = MasterServer.listen(
                eventLoop,
                config.host(),
                config.port(),
                loop,
                self,
                counts,
                peers,
                security,
                audit,
                MasterProcess::clockMs);
        MasterMetrics metrics =
                new MasterMetrics(this::status, counts, events, security, audit::dropped, MasterProcess::clockMs);
        AdminPorts ports = new AdminPorts(config.host(), config.adminPort(), config.secureAdminPort());
        Optional<Enrolment> giving = enrolment.flatMap(EnrolmentFiles::enrolment);
        Optional<TokenNames> tokens = enrolment.map(
                files -> giving.map(Enrolment::names).orElseGet(() -> files.names(this::trustedAuthorities)));
        admin = AdminServers.start(ports, routes(metrics, giving), security, tokens, audit);
        every(TICK_MS, loop::tick);
        every(STATUS_MS, () -> loop.apply(this::look));
        if (config.expectedNodesFile().isPresent()) {
            watch(new ExpectedNodesFile(config.expectedNodesFile().get()));
        }
        follower.start(loop, () -> closing);
        elector.start();
        hangs.start();
    }

    /** With certificates of a directory, or with one that it signs itself. */
    private PoolSecurity security() throws RefusedCertificateException {
        TlsMode mode = config.tls().mode();
        if (mode == TlsMode.OFF || config.tls().directory().isPresent()) {
            return PoolSecurity.open(config.tls(), TlsIdentity.member(PeerRole.MASTER, config.name(), config.poolId()));
        }
        try {
            PeerName name = PeerName.ofPath(config.poolId(), PeerRole.MASTER.word() + "/" + config.name());
            return PoolSecurity.following(
                    mode,
                    new OwnCertificate(
                            enrolment.orElseThrow()::authority,
                            name,
                            config.enrolment().orElseThrow().life(),
                            InstantSource.system(),
                            MasterProcess::clockMs));
        } catch (IllegalArgumentException e) {
            throw new RefusedCertificateException(
                    "a master of this --name can have no certificate: " + e.getMessage(), e);
        }
    }

    private List<Route> routes(MasterMetrics metrics, Optional<Enrolment> giving) {
        AdminQuestions admin = admin();
        List<Route> routes = new ArrayList<>(MasterRoutes.of(admin, metrics));
        routes.addAll(MooncakeRoutes.of(admin, InstantSource.system()));
        if (giving.isPresent()) {
            routes.add(EnrolRoute.of(giving.get(), audit));
            routes.add(TrustRoute.of(giving.get(), memberReports, audit));
        }
        if (enrolment.isPresent()) {
            if (giving.isEmpty()) {
                routes.add(EnrolRoute.refusing());
            }
            FileWatch.start(
                    "enrolment",
                    enrolment.get()::look,
                    problem -> {
                        if (!problem.isEmpty()) {
                            LOG.warn("certificates are given, and tokens taken, as before: {}", problem);
                        }
                    },
                    () -> closing);
        }
        return routes;
    }

    /** What is not to be done but written down, before the rest is done. */
    private void log(List<Action> actions) {
        evictionLog.ifPresent(log -> log.write(actions));
        events.heard(actions);
    }

    /** A core that hangs must be followed as soon as one whose whole process does: its Lease is not renewed from then on. */
    private boolean coreTurns() {
        return loop.beat().ageMs() <= Math.min(TURN_MS_MAX, config.times().renewDeadlineMs() / 2);
    }

    /**
     * Looks at the core, and at whether there is work that whoever waits for would miss a core for: much to receive, or a node that
     * tells its directory. A Lease that was left to masters which see more need not be left to them any longer.
     */
    private void look(MasterCore core) {
        boolean sawEnough = status.isHalfConnected();
        boolean led = leads(status);
        status = core.status();
        if (leads(status) != led) {
            roleSinceMs = OptionalLong.of(clockMs());
        }
        takesOver = roleSinceMs.isPresent() && clockMs() - roleSinceMs.getAsLong() < TAKEOVER_MS_MAX;
        behind.look(status.register().register().behind(), Instant.now());
        if (!sawEnough && status.isHalfConnected()) {
            elector.look();
        }
        boolean readsANode = status.nodes().stream().anyMatch(node -> node.state() == PoolStatus.NodeState.SYNCING);
        busy = readsANode || loop.inputs() - inputsSeen > INPUTS_AT_REST;
        inputsSeen = loop.inputs();
        opened = loop.opened();
    }

    private static boolean leads(PoolStatus status) {
        return status.state() == PoolStatus.State.RECOVERING || status.state() == PoolStatus.State.SERVING;
    }

    void announce() {
        LOG.info(
                "master {} of pool {} listens on port {}, admin on {}, Lease {}",
                config.name(),
                config.poolId(),
                port(),
                admin,
                leases.place());
    }

    /** The port for nodes and clients that was really bound. */
    public int port() {
        return server.port();
    }

    public int adminPort() {
        return admin.port();
    }

    /** The port for HTTPS that was really bound; empty where TLS is off. */
    public Optional<Integer> secureAdminPort() {
        return admin.securePort();
    }

    /** What this master knew at most 50 ms ago. */
    public PoolStatus status() {
        return status;
    }

    /**
     * Hands over and ends: takes no more requests, answers who waits, gives the Lease back, has the nodes tell the other
     * masters, and closes every connection.
     */
    @Override
    public void close() {
        if (closing) {
            return;
        }
        closing = true;
        hangs.close();
        security.close();
        enrolment.ifPresent(EnrolmentFiles::close);
        if (warmUp != null) {
            warmUp.close();
        }
        leadership.stop();
        handingOver.forGood();
        leases.close();
        if (admin != null) {
            admin.close();
        }
        if (server != null) {
            server.close();
        }
        group.shutdownGracefully(0, CLOSE_MS_MAX, TimeUnit.MILLISECONDS).awaitUninterruptibly();
        evictionLog.ifPresent(MasterProcess::close);
    }

    private static void close(EvictionLog log) {
        try {
            log.close();
        } catch (IOException e) {
            LOG.warn("the eviction log may lack its last lines", e);
        }
    }

    private static Optional<EvictionLog> openEvictionLog(MasterConfig config) throws IOException {
        return config.evictionLog().isEmpty()
                ? Optional.empty()
                : Optional.of(EvictionLog.open(config.evictionLog().get(), InstantSource.system(), System::nanoTime));
    }

    private AdminQuestions admin() {
        return new AdminQuestions(
                config,
                self.versions(),
                loop,
                localRequests,
                this::status,
                behind,
                leadership,
                peers::all,
                early,
                handingOver,
                follower,
                events,
                this::trust);
    }

    /** As tokens of the operator name them. */
    private Set<String> trustedAuthorities() {
        return security.current().map(TlsContext::credentials).stream()
                .flatMap(own -> new TrustBundle(own.roots())
                        .fingerprints().stream()
                                .flatMap(fingerprint -> own.foreign().mastersUnder(fingerprint).stream()))
                .collect(Collectors.toUnmodifiableSet());
    }

    /** The roots are those of the connections of this moment, which follow the files some seconds later. */
    Optional<TrustInEffect> trust() {
        return enrolment.flatMap(files -> security.current().map(tls -> {
            Credentials own = tls.credentials();
            TrustBundle bundle = new TrustBundle(own.roots());
            Optional<X509Certificate> authority =
                    config.enrolment().get().authority().isPresent()
                            ? Optional.of(files.authority().certificate())
                            : bundle.signerOf(own.chain().getFirst());
            long now = clockMs();
            return new TrustInEffect(
                    bundle.digest(),
                    authority.map(CertificateAuthority::fingerprint).orElse(""),
                    authority.map(it -> it.getNotAfter().toInstant()).orElseGet(own::rootsNotAfter),
                    new TrustInEffect.Own(own.chain().getFirst().getNotBefore().toInstant(), own.notAfter()),
                    memberReports.all().stream()
                            .map(said -> new TrustInEffect.Member(
                                    said.name(), said.roots(), said.authority(), said.notAfter(), now - said.atMs()))
                            .toList());
        }));
    }

    /** Zones by node id, empty where none is known. */
    private Map<String, String> expectedNodes() throws IOException {
        if (config.expectedNodesFile().isPresent()) {
            return new ExpectedNodesFile(config.expectedNodesFile().get()).read();
        }
        Map<String, String> zones = new HashMap<>();
        config.expectedNodes().forEach(id -> zones.put(id, ""));
        return zones;
    }

    private void watch(ExpectedNodesFile file) {
        FileWatch.start(
                "expected-nodes",
                () -> file.readIfChanged().ifPresent(zones -> {
                    LOG.info("{} nodes are expected now", zones.size());
                    loop.submit(core -> core.expectNodes(zones, loop.nowMs()));
                }),
                problem -> {
                    if (!problem.isEmpty()) {
                        LOG.warn("the expected nodes stay as they are: {}", problem);
                    }
                },
                () -> closing);
    }

    private void every(long periodMs, Runnable task) {
        var _ = group.next().scheduleAtFixedRate(task, periodMs, periodMs, TimeUnit.MILLISECONDS);
    }

    private CoreLoop.Leaders leaders() {
        return new CoreLoop.Leaders() {
            @Override
            public void raiseAbove(long epoch) {
                elector.raiseAbove(epoch);
            }

            @Override
            public void store(Authority leader, Register register) {
                elector.store(leader, register);
            }

            @Override
            public void lostView(Authority ours) {
                events.ended();
                var _ = elector.handOver(ours, HandingOver.ABSTAIN_MS);
            }

            @Override
            public void handsOver() {
                Thread.ofVirtual().name("hand-over").start(handingOver::giveAway);
            }

            @Override
            public void left() {
                early.leaderLeft();
            }

            @Override
            public void crashed(Authority authority, String address) {
                early.leaderCrashed(authority, address);
            }

            @Override
            public void silent(Action.LeaderSilent what) {
                early.leaderSilent(what.authority(), what.address(), what.proved(), what.atMs());
            }
        };
    }

    private static long clockMs() {
        return Uptime.ms();
    }

    private static long nonZero(SecureRandom random) {
        long number = random.nextLong();
        return number == 0 ? 1 : number;
    }

    private static IoHandlerFactory ioHandler() {
        return Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    }
}
