// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.operator.engine.TransferEngineReconciler;
import dev.kvpool.operator.event.EventRecorder;
import dev.kvpool.operator.health.LostWatchCheck;
import dev.kvpool.operator.health.ReconciliationWatch;
import dev.kvpool.operator.health.StuckReconcilerCheck;
import dev.kvpool.operator.pool.KvCachePoolReconciler;
import dev.kvpool.operator.pool.gone.GonePoolReconciler;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.report.PollInterval;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.eclipse.microprofile.health.HealthCheckResponse;

/** The operator without Quarkus, with the rights of the chart, and with masters that say what a test wants. */
public final class OperatorUnderTest implements AutoCloseable {
    static final OperatorSettings SETTINGS = new OperatorSettings("kvpool:0.1.0", "0.1.0", "kvpool-system");

    private final String namespace;
    private final KubernetesClient client;
    private final KubernetesClient restricted;
    private final ScriptedMasters masters = new ScriptedMasters();
    private final PollInterval interval;
    private final RequestedRights requested;
    private final LostWatchCheck watches = new LostWatchCheck();
    private final ReconciliationWatch moves = new ReconciliationWatch(System::nanoTime);
    private OperatorSettings settings = SETTINGS;
    private Operator operator;

    public OperatorUnderTest(String namespace) {
        this(namespace, PollInterval.DEFAULT);
    }

    public OperatorUnderTest(String namespace, PollInterval interval) {
        this(namespace, interval, new RequestedRights());
    }

    /** An operator whose requests are noted. */
    OperatorUnderTest(String namespace, RequestedRights requested) {
        this(namespace, PollInterval.DEFAULT, requested);
    }

    private OperatorUnderTest(String namespace, PollInterval interval, RequestedRights requested) {
        this(namespace, interval, requested, ApiServer.shared().operatorClient(requested));
    }

    /** An operator with another way to the API server, which notes its requests. */
    OperatorUnderTest(String namespace, PollInterval interval, RequestedRights requested, KubernetesClient restricted) {
        this.namespace = namespace;
        this.interval = interval;
        this.requested = requested;
        ApiServer.shared().createNamespace(namespace);
        client = ApiServer.shared().client();
        this.restricted = restricted;
        operator = start();
    }

    /** What a new process knows: nothing but what the API server has. */
    public void restart() {
        operator.stop();
        operator = start();
    }

    /** The same for an operator that was installed with another image for its pools. */
    public void restart(OperatorSettings others) {
        settings = others;
        restart();
    }

    /** Nobody looks at the pools any more. */
    public void stop() {
        operator.stop();
    }

    private Operator start() {
        Operator operator = new Operator(configuration -> configuration
                .withKubernetesClient(restricted)
                .withCloseClientOnStop(false)
                .withInformerStoppedHandler(watches)
                .withMetrics(moves));
        InstantSource clock = InstantSource.system();
        operator.register(
                new KvCachePoolReconciler(
                        masters, settings, new EventRecorder(restricted, clock, "test"), clock, interval),
                configuration -> configuration.settingNamespace(namespace));
        operator.register(
                new TransferEngineReconciler(clock), configuration -> configuration.settingNamespace(namespace));
        operator.register(
                new GonePoolReconciler(settings, new EventRecorder(restricted, clock, "test")),
                configuration -> configuration.settingNamespace(namespace));
        operator.start();
        return operator;
    }

    /** A client that may do everything, for the test. */
    public KubernetesClient client() {
        return client;
    }

    /** The requests of the operator that could have changed something, in their order. */
    public List<String> writes() {
        return requested.writes();
    }

    /** Why Kubernetes would start it anew; empty when it is alive. */
    Optional<String> dead() {
        return Stream.of(watches.call(), new StuckReconcilerCheck(moves).call())
                .filter(check -> check.getStatus() == HealthCheckResponse.Status.DOWN)
                .map(check -> check.getData().orElseThrow().toString())
                .findFirst();
    }

    public ScriptedMasters masters() {
        return masters;
    }

    /** Creates a pool or changes its spec. */
    public KvCachePool applyPool(String name, String spec) {
        return client.resource(resource("KvCachePool", name, spec, KvCachePool.class))
                .fieldManager("user")
                .serverSideApply();
    }

    public TransferEngine applyEngine(String name, String spec) {
        return client.resource(resource("TransferEngine", name, spec, TransferEngine.class))
                .fieldManager("user")
                .serverSideApply();
    }

    public KvCachePool pool(String name) {
        return client.resources(KvCachePool.class)
                .inNamespace(namespace)
                .withName(name)
                .get();
    }

    public TransferEngine engine(String name) {
        return client.resources(TransferEngine.class)
                .inNamespace(namespace)
                .withName(name)
                .get();
    }

    private <T> T resource(String kind, String name, String spec, Class<T> type) {
        String yaml = """
                apiVersion: kvpool.dev/v1alpha1
                kind: %s
                metadata: {name: %s, namespace: %s}
                spec: %s
                """.formatted(kind, name, namespace, spec);
        return client.getKubernetesSerialization().unmarshal(yaml, type);
    }

    @Override
    public void close() {
        operator.stop();
        restricted.close();
        client.close();
    }
}
