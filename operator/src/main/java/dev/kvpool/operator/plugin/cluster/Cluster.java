// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kvpool.api.v1alpha1.ApiGroup;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.plugin.http.EndingHttpClients;
import dev.kvpool.operator.plugin.observation.PoolExcerpts;
import dev.kvpool.operator.plugin.observation.PoolOverview;
import dev.kvpool.operator.pool.cluster.PoolReader;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.security.RotationTerms;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/** The cluster a command is about, with the rights of the user who typed it. */
public final class Cluster implements AutoCloseable {
    private static final String OPERATOR = "app.kubernetes.io/part-of=kvpool,app.kubernetes.io/component=operator";
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]*[a-z0-9])?");
    private static final List<String> FABRICS = List.of("ucx", "ascend");
    private static final String TRUST_STORE = "javax.net.ssl.trustStore";
    private static final int REQUEST_TIMEOUT_MS = 20_000;
    private static final int TRIES = 10;

    private final KubernetesClient client;
    private final String namespace;
    private final PodProxyMasters masters;

    /** Takes over the client. */
    public Cluster(KubernetesClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
        this.masters = new PodProxyMasters(client, namespace);
    }

    /** Reads the kubeconfig; nothing is asked yet. */
    public static Cluster open(ClusterOptions options) {
        Config config = Config.autoConfigure(options.context());
        List<String> contexts =
                config.getContexts().stream().map(NamedContext::getName).toList();
        if (options.context() != null && !contexts.contains(options.context())) {
            throw new PluginException("your kubeconfig has no context %s; it has: %s"
                    .formatted(options.context(), contexts.isEmpty() ? "none" : String.join(", ", contexts)));
        }
        config.setRequestTimeout(REQUEST_TIMEOUT_MS);
        config.setConnectionTimeout(REQUEST_TIMEOUT_MS);
        config.setRequestRetryBackoffLimit(0);
        // A command makes few requests: the older protocol is set up sooner.
        config.setHttp2Disable(true);
        String wanted = options.namespace() == null ? config.getNamespace() : options.namespace();
        return new Cluster(connect(config), wanted == null ? "default" : wanted);
    }

    /**
     * The client. As kubectl's, it trusts no other authority than that of the kubeconfig, if it names one: Java's own hundreds would take
     * longer to read than the request.
     */
    private static KubernetesClient connect(Config config) {
        String trusted = System.getProperty(TRUST_STORE);
        boolean named = config.getCaCertData() != null || config.getCaCertFile() != null;
        if (named && trusted == null) {
            System.setProperty(TRUST_STORE, "/dev/null");
        }
        try {
            return new KubernetesClientBuilder()
                    .withConfig(config)
                    .withHttpClientFactory(new EndingHttpClients())
                    .build();
        } finally {
            if (named && trusted == null) {
                System.clearProperty(TRUST_STORE);
            }
        }
    }

    /** Begins to learn how to read a kubeconfig, which every command will need, beside what else is done. */
    public static void getReady() {
        beside("kubeconfig", () -> Serialization.unmarshal("{}", io.fabric8.kubernetes.api.model.Config.class));
    }

    /** Learns how to read a kind: for the first object of a kind that takes longer than the request for it. */
    private void getReadyFor(Class<?> kind) {
        KubernetesSerialization text = client.getKubernetesSerialization();
        beside("reading", () -> text.unmarshal("{}", kind));
    }

    private static void beside(String name, Runnable task) {
        Thread.ofPlatform().daemon().name(name).start(task);
    }

    public KubernetesClient client() {
        return client;
    }

    public String namespace() {
        return namespace;
    }

    public PodProxyMasters masters() {
        return masters;
    }

    public PoolReader reader() {
        return new PoolReader(client, masters, InstantSource.system());
    }

    public PoolObservation observe(String pool) {
        getReadyFor(Pod.class);
        return reader().read(pool(pool));
    }

    /**
     * How a pool is, without what only decisions are made from. One request after the other: each at the same time would need a
     * connection of its own, whose set-up takes longer.
     */
    public PoolOverview overview(String pool) {
        checkName(pool);
        beside("reading", PoolExcerpts::getReady);
        JsonNode found = written(path("kvcachepools/" + pool)).orElseThrow(() -> noPool(pool));
        Optional<Lease> lease = lease(pool);
        List<Pod> pods = written("/api/v1/namespaces/%s/pods?labelSelector=%s%%3D%s"
                        .formatted(namespace, PoolLabels.POOL.replace("/", "%2F"), pool))
                .stream()
                .flatMap(list -> list.path("items").valueStream())
                .map(PoolExcerpts::pod)
                .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
                .toList();
        return new PoolOverview(reader().overview(PoolExcerpts.pool(found), lease, pods), pods, fabricOf(found));
    }

    private String fabricOf(JsonNode pool) {
        String engine = pool.at("/spec/transferEngine").asText();
        return engine.isEmpty()
                ? ""
                : written(path("transferengines/" + engine)).stream()
                        .flatMap(it -> it.at("/spec/protocols").valueStream())
                        .map(JsonNode::asText)
                        .filter(FABRICS::contains)
                        .findFirst()
                        .orElse("");
    }

    private Optional<JsonNode> written(String path) {
        return Optional.ofNullable(client.raw(path))
                .map(text -> client.getKubernetesSerialization().unmarshal(text, JsonNode.class));
    }

    /** Of objects of kvpool in the namespace. */
    private String path(String objects) {
        return "/apis/%s/%s/namespaces/%s/%s".formatted(ApiGroup.GROUP, ApiGroup.VERSION, namespace, objects);
    }

    /** All pools of the namespace. */
    public List<KvCachePool> pools() {
        getReadyFor(KvCachePool.class);
        return client.resources(KvCachePool.class).inNamespace(namespace).list().getItems();
    }

    /** The same as the API server writes them, for what needs little of each: to learn the whole kind takes longer than to read it so. */
    public List<JsonNode> poolsAsWritten() {
        // Fabric8 would read the same of the class's annotations, for each of which Java makes a class.
        JsonNode list = written(path("kvcachepools"))
                .orElseThrow(() ->
                        new PluginException("the cluster has no kind KvCachePool; kvpool is not installed there"));
        return list.path("items").valueStream().toList();
    }

    public List<String> poolNames() {
        return poolsAsWritten().stream()
                .map(pool -> pool.at("/metadata/name").asText())
                .toList();
    }

    /** The pods of a pool, in order of their names. */
    public List<Pod> pods(String pool) {
        return client.pods().inNamespace(namespace).withLabel(PoolLabels.POOL, pool).list().getItems().stream()
                .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
                .toList();
    }

    /** Sets an annotation of a pool, and nothing else of it: how the operator is asked for something. */
    public void annotate(KvCachePool pool, String annotation, String text) {
        patch(pool, "", annotation, "\"" + text + "\"");
    }

    /**
     * Changes an annotation of a pool by what the pool is, and again when the pool has changed since it was read: the operator writes the
     * status of the same object, and other users may ask for something.
     *
     * @param text what it is to be, of the pool as it was read: empty to be taken away, nothing to stay
     * @return the pool as it was before
     */
    public KvCachePool reannotate(String pool, String annotation, Function<KvCachePool, Optional<String>> text) {
        for (int i = 0; i < TRIES; i++) {
            KvCachePool read = pool(pool);
            Optional<String> next = text.apply(read);
            if (next.isEmpty() || annotateAsRead(read, annotation, next.get())) {
                return read;
            }
        }
        throw new PluginException(
                "pool %s was changed by others each time; try again, or change its annotation %s by hand"
                        .formatted(pool, annotation));
    }

    /** Whether it was set, or taken away where the text is empty: it is not when the pool has changed since it was read. */
    private boolean annotateAsRead(KvCachePool pool, String annotation, String text) {
        try {
            patch(
                    pool,
                    "\"resourceVersion\":\"%s\",".formatted(pool.getMetadata().getResourceVersion()),
                    annotation,
                    text.isEmpty() ? "null" : "\"" + text + "\"");
            return true;
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
                return false;
            }
            throw e;
        }
    }

    private void patch(KvCachePool pool, String condition, String annotation, String json) {
        client.resource(pool)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{%s\"annotations\":{\"%s\":%s}}}".formatted(condition, annotation, json));
    }

    public KvCachePool pool(String name) {
        getReadyFor(KvCachePool.class);
        KvCachePool pool = client.resources(KvCachePool.class)
                .inNamespace(namespace)
                .withName(name)
                .get();
        if (pool == null) {
            throw noPool(name);
        }
        return pool;
    }

    /** What cannot be a name would be another path. */
    private void checkName(String pool) {
        if (!NAME.matcher(pool).matches()) {
            throw noPool(pool);
        }
    }

    private PluginException noPool(String name) {
        String others = String.join(", ", poolNames());
        return new PluginException("there is no KvCachePool %s in namespace %s%s"
                .formatted(
                        name,
                        namespace,
                        others.isEmpty() ? ", nor any other; -n names another namespace" : "; there are: " + others));
    }

    /**
     * The master that holds the leadership Lease, for what needs nothing else of the pool.
     *
     * @throws PluginException when none does
     */
    public MasterEndpoint leader(String pool) {
        checkName(pool);
        beside("reading", PoolExcerpts::getReady);
        Optional<Lease> lease = lease(pool);
        if (lease.isEmpty()) {
            pool(pool);
        }
        String leader = lease.flatMap(Leadership::of)
                .map(Leadership::pod)
                .orElseThrow(() -> new PluginException("no master of pool %s leads".formatted(pool)));
        Optional<Pod> pod = written("/api/v1/namespaces/%s/pods/%s".formatted(namespace, leader))
                .map(PoolExcerpts::pod);
        return pod.isPresent() && ObservedPod.of(pod.get()).security().isOn()
                ? new MasterEndpoint(
                        leader,
                        Optional.of(new MasterEndpoint.Identity(
                                pool, lease.get().getMetadata().getAnnotations().get(PoolLabels.POOL_ID), leader, "")))
                : MasterEndpoint.plain(leader);
    }

    /** That of the leadership. */
    private Optional<Lease> lease(String pool) {
        return written("/apis/coordination.k8s.io/v1/namespaces/%s/leases/%s"
                        .formatted(namespace, new PoolNames(pool, namespace).lease()))
                .map(PoolExcerpts::lease);
    }

    /**
     * What the operator was installed with, as its Deployment says.
     *
     * @param in the operator's namespace; null to look in all
     */
    public OperatorSettings operatorSettings(String in) {
        List<Deployment> found = operators(in);
        if (found.size() != 1) {
            throw new PluginException("%s in %s; name the operator's namespace with --operator-namespace"
                    .formatted(
                            found.isEmpty() ? "there is no kvpool operator" : "there are several kvpool operators",
                            in == null ? "this cluster" : "namespace " + in));
        }
        Deployment deployment = found.getFirst();
        return new OperatorSettings(
                variable(deployment, "KVPOOL_IMAGE"),
                variable(deployment, "KVPOOL_VERSION"),
                deployment.getMetadata().getNamespace(),
                deployment.getSpec().getTemplate().getSpec().getServiceAccountName(),
                List.of(variable(deployment, "KVPOOL_DRAIN_TAINTS").split(",", -1)),
                Boolean.parseBoolean(variable(deployment, "KVPOOL_PLATFORM_USER")),
                // Users may not read what the device plugin says of NPUs.
                false,
                new RotationTerms(
                        span(deployment, "KVPOOL_AUTHORITIES_LIFE"),
                        span(deployment, "KVPOOL_AUTHORITIES_RENEW_BEFORE"),
                        span(deployment, "KVPOOL_AUTHORITIES_CLIENT_WAIT"),
                        span(deployment, "KVPOOL_AUTHORITIES_KEEP_PREVIOUS")),
                new OperatorSettings.RolloutTerms(
                        Integer.parseInt(variable(deployment, "KVPOOL_ROLLOUT_POOLS")),
                        Boolean.parseBoolean(variable(deployment, "KVPOOL_ROLLOUT_STORAGE_VOLUMES"))));
    }

    private List<Deployment> operators(String in) {
        var all = client.apps().deployments();
        try {
            return (in == null ? all.inAnyNamespace() : all.inNamespace(in))
                    .withLabelSelector(OPERATOR)
                    .list()
                    .getItems();
        } catch (KubernetesClientException e) {
            if (e.getCode() != HttpURLConnection.HTTP_FORBIDDEN) {
                throw e;
            }
            throw new PluginException(
                    "a plan is made with the settings of the operator's Deployment, and you may not list Deployments in %s%s"
                            .formatted(
                                    in == null ? "all namespaces" : "namespace " + in,
                                    in == null ? "; name the operator's namespace with --operator-namespace" : ""));
        }
    }

    /** As the chart's schema has them: a number and s, m, h or d. */
    private static Duration span(Deployment deployment, String name) {
        String text = variable(deployment, name);
        try {
            return Duration.parse((text.endsWith("d") ? "P" : "PT") + text);
        } catch (DateTimeParseException e) {
            throw new PluginException("Deployment %s has %s=%s, which is not a number and s, m, h or d"
                    .formatted(deployment.getMetadata().getName(), name, text));
        }
    }

    private static String variable(Deployment deployment, String name) {
        return deployment.getSpec().getTemplate().getSpec().getContainers().stream()
                .flatMap(container -> container.getEnv().stream())
                .filter(variable -> variable.getName().equals(name))
                // The API server leaves an empty value out.
                .map(variable -> Objects.requireNonNullElse(variable.getValue(), ""))
                .findFirst()
                .orElseThrow(
                        () -> new PluginException("Deployment %s does not say %s: it is of another version than this"
                                        .formatted(deployment.getMetadata().getName(), name)
                                + " plugin"));
    }

    @Override
    public void close() {
        client.close();
    }
}
