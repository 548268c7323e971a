// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.operator.engine.TransferEngineReconciler;
import dev.kvpool.operator.event.recorder.EventRecorder;
import dev.kvpool.operator.health.LostWatchCheck;
import dev.kvpool.operator.health.ReconciliationWatch;
import dev.kvpool.operator.health.StuckReconcilerCheck;
import dev.kvpool.operator.pool.GonePoolReconciler;
import dev.kvpool.operator.pool.KvCachePoolReconciler;
import dev.kvpool.operator.pool.PlainSpec;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.report.PollInterval;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.ConfigurationServiceOverrider;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The operator without Quarkus, at the shared API server, with the rights of the chart and with scripted masters. Registered as a
 * static extension it runs for all tests of a class; {@link #start} starts it for one.
 */
public final class OperatorUnderTest implements BeforeAllCallback, AfterAllCallback, AutoCloseable {
    static final OperatorSettings SETTINGS = new OperatorSettings("kvpool:0.1.0", "0.1.0", "kvpool-system");

    static {
        // Only what fails waits for so long; a busy machine takes its time.
        Awaitility.setDefaultTimeout(Duration.ofMinutes(2));
    }

    private final List<String> namespaces;
    private final ScriptedMasters masters = new ScriptedMasters();
    private final LostWatchCheck watches = new LostWatchCheck();
    private LongSupplier nanos = System::nanoTime;

    /** Tests wait for what the operator sees when it looks again, so it looks often. */
    private PollInterval interval = new PollInterval(Duration.ofMillis(500), Duration.ofMillis(200));

    private OperatorSettings settings = SETTINGS;
    private RequestedRights requested = new RequestedRights();
    private Consumer<ConfigurationServiceOverrider> configuration = any -> {};
    private KubernetesClient restricted;
    private KubernetesClient client;
    private ClusterActor cluster;
    private ReconciliationWatch moves;
    private Operator operator;

    private OperatorUnderTest(List<String> namespaces) {
        this.namespaces = namespaces;
    }

    /** An operator, not started yet, for pools in these namespaces, which come to be with it. */
    public static OperatorUnderTest in(String... namespaces) {
        return new OperatorUnderTest(List.of(namespaces));
    }

    /** How often it looks at a pool again when nothing changes. */
    public OperatorUnderTest looking(Duration calm, Duration hurried) {
        interval = new PollInterval(calm, hurried);
        return this;
    }

    /** It looks at a pool only when something changes. */
    OperatorUnderTest lookingOnChangesOnly() {
        return looking(Duration.ofHours(1), Duration.ofHours(1));
    }

    /**
     * Another way to the API server.
     *
     * @param way is closed with this operator
     * @param notes what the requests are noted by, as part of that way
     */
    OperatorUnderTest reaching(KubernetesClient way, RequestedRights notes) {
        restricted = way;
        requested = notes;
        return this;
    }

    OperatorUnderTest configured(Consumer<ConfigurationServiceOverrider> more) {
        configuration = more;
        return this;
    }

    /** Time by which reconciliations are too long. */
    OperatorUnderTest timedBy(LongSupplier time) {
        nanos = time;
        return this;
    }

    public OperatorUnderTest start() {
        namespaces.forEach(ApiServer.shared()::createNamespace);
        client = ApiServer.shared().client();
        cluster = new ClusterActor(client, namespaces.getFirst());
        moves = new ReconciliationWatch(nanos);
        if (restricted == null) {
            restricted = ApiServer.shared().operatorClient(requested);
        }
        operator = started();
        return this;
    }

    @Override
    public void beforeAll(ExtensionContext tests) {
        start();
    }

    @Override
    public void afterAll(ExtensionContext tests) {
        close();
    }

    /** Stops this process and starts another, which knows nothing but what the API server has. */
    public void restart() {
        operator.stop();
        operator = started();
    }

    /** The same for an operator that was installed with another image for its pools. */
    public void restart(OperatorSettings others) {
        settings = others;
        restart();
    }

    /**
     * As installed with another build, which makes other pods of the same specs.
     *
     * @param pools how many are brought to them at a time
     */
    static OperatorSettings otherBuild(int pools) {
        return new OperatorSettings(
                SETTINGS.image(),
                SETTINGS.version(),
                SETTINGS.namespace(),
                SETTINGS.serviceAccount(),
                SETTINGS.drainTaints(),
                true,
                false,
                SETTINGS.rotation(),
                new OperatorSettings.RolloutTerms(pools, false));
    }

    /** Waits until it has looked so often at pools, all together. */
    void awaitLooks(int looks) {
        long asked = masters.questions();
        Awaitility.await().until(() -> masters.questions() > asked + looks);
    }

    /** From now on no operator looks at the pools. */
    public void stop() {
        operator.stop();
    }

    private Operator started() {
        Operator operator = new Operator(overrider -> {
            overrider
                    .withKubernetesClient(restricted)
                    .withCloseClientOnStop(false)
                    .withInformerStoppedHandler(watches)
                    .withMetrics(moves);
            configuration.accept(overrider);
        });
        InstantSource clock = InstantSource.system();
        EventRecorder events = new EventRecorder(restricted, clock, "test");
        Set<String> watched = Set.copyOf(namespaces);
        operator.register(
                new KvCachePoolReconciler(masters, settings, events, clock, interval, new SimpleMeterRegistry()),
                watcher -> watcher.settingNamespaces(watched));
        operator.register(new TransferEngineReconciler(clock), watcher -> watcher.settingNamespaces(watched));
        operator.register(new GonePoolReconciler(settings, events), watcher -> watcher.settingNamespaces(watched));
        operator.start();
        return operator;
    }

    /** A client that may do everything, for the test. */
    public KubernetesClient client() {
        return client;
    }

    /** Plays controllers and kubelets in the first namespace. */
    public ClusterActor cluster() {
        return cluster;
    }

    public ScriptedMasters masters() {
        return masters;
    }

    /** The requests of the operator that could have changed something, in their order. */
    public List<String> writes() {
        return requested.writes();
    }

    /** Rights that its requests needed, as GROUP/RESOURCE VERB. */
    Set<String> usedRights() {
        return requested.all();
    }

    /** Why Kubernetes would restart the operator; empty when it is alive. */
    Optional<String> dead() {
        return Stream.of(watches.call(), new StuckReconcilerCheck(moves).call())
                .filter(check -> check.getStatus() == HealthCheckResponse.Status.DOWN)
                .map(check -> check.getData().orElseThrow().get("trouble").toString())
                .findFirst();
    }

    /** A pool of this spec in the first namespace. */
    public PoolUnderTest make(String name, String spec) {
        return poolIn(namespaces.getFirst(), name).apply(spec);
    }

    /** The pool of this name in one of the namespaces, or in another, whether it is there or not. */
    PoolUnderTest poolIn(String namespace, String name) {
        return new PoolUnderTest(this, namespace, name);
    }

    /** Creates a pool in the first namespace or changes its spec. */
    public KvCachePool applyPool(String name, String spec) {
        return apply(namespaces.getFirst(), name, spec, KvCachePool.class);
    }

    /** The same of a transfer engine. */
    public TransferEngine applyEngine(String name, String spec) {
        return apply(namespaces.getFirst(), name, spec, TransferEngine.class);
    }

    <T extends HasMetadata> T apply(String namespace, String name, String spec, Class<T> kind) {
        String yaml = """
                apiVersion: kvpool.dev/v1alpha1
                kind: %s
                metadata: {name: %s, namespace: %s}
                spec: %s
                """.formatted(
                        kind.getSimpleName(), name, namespace, kind == KvCachePool.class ? PlainSpec.of(spec) : spec);
        return client.resource(client.getKubernetesSerialization().unmarshal(yaml, kind))
                .fieldManager("user")
                .serverSideApply();
    }

    public KvCachePool pool(String name) {
        return client.resources(KvCachePool.class)
                .inNamespace(namespaces.getFirst())
                .withName(name)
                .get();
    }

    public TransferEngine engine(String name) {
        return client.resources(TransferEngine.class)
                .inNamespace(namespaces.getFirst())
                .withName(name)
                .get();
    }

    /** Stops it, and takes nodes away: they are of the whole cluster, and other tests must not see them. */
    @Override
    public void close() {
        operator.stop();
        restricted.close();
        cluster.removeNodes();
        client.close();
    }
}
