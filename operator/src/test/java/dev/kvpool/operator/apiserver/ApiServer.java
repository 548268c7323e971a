// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.operator.memory.SharedFields;
import dev.kvpool.operator.memory.ShortPods;
import io.fabric8.kubeapitest.KubeAPIServer;
import io.fabric8.kubeapitest.KubeAPIServerConfigBuilder;
import io.fabric8.kubeapitest.KubeAPITestException;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A real Kubernetes API server and its etcd, without controllers, shared by all tests of this JVM: it takes seconds to
 * start. Surefire has two JVMs. Tests keep apart by using namespaces of their own.
 */
public final class ApiServer {
    private static final List<String> CRD_FILES =
            List.of("kvcachepools.kvpool.dev.yaml", "transferengines.kvpool.dev.yaml");
    private static final Path MANIFEST = Path.of("..", "manifests", "kvpool.yaml");
    private static final int CRD_TIMEOUT_S = 30;
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

    private static ApiServer shared;

    /** Whose rights the chart describes. */
    public static final String OPERATOR_USER = "system:serviceaccount:kvpool-system:kvpool";

    private final String kubeconfig;
    private final Config config;

    private ApiServer(String kubeconfig) {
        this.kubeconfig = kubeconfig;
        this.config = Config.fromKubeconfig(kubeconfig);
    }

    /** The server with the CRDs applied; the first call starts it. */
    public static synchronized ApiServer shared() {
        if (shared == null) {
            shared = start(binaries());
        }
        return shared;
    }

    /** What other programs need to reach it, with all rights. */
    public String kubeconfig() {
        return kubeconfig;
    }

    public KubernetesClient client() {
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    /** The same of another server at the same etcd. */
    KubernetesClient client(String url) {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(config).withMasterUrl(url).build())
                .build();
    }

    String url() {
        return config.getMasterUrl();
    }

    /** The same; the interceptor sees its requests, and none is tried again. */
    public KubernetesClient client(Interceptor interceptor) {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(config)
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("test", interceptor))
                .build();
    }

    /** A client with the rights that the chart gives the operator, and no others. */
    public KubernetesClient operatorClient() {
        return operatorClient(new RequestedRights());
    }

    /** The same; the interceptor sees its requests. */
    KubernetesClient operatorClient(Interceptor notes) {
        return operatorClient(url(), notes);
    }

    /** The same at another server with the same etcd. */
    KubernetesClient operatorClient(String url, Interceptor notes) {
        return clientOf(OPERATOR_USER, url, asTheOperatorReads(), notes);
    }

    /** A client of an operator that was installed otherwise; the interceptor sees its requests. */
    KubernetesClient clientOf(String user, Interceptor notes) {
        return clientOf(user, url(), asTheOperatorReads(), notes);
    }

    /** A client of a user with what the chart adds to the roles view and edit; no controller of this server joins them. */
    public KubernetesClient editorClient() {
        return clientOf("editor", "kvpool-view", "kvpool-edit");
    }

    /** A client of a user with what Kubernetes itself has in the role view. */
    public KubernetesClient viewerClient() {
        return clientOf("viewer", "system:aggregate-to-view");
    }

    private KubernetesClient clientOf(String user, String... roles) {
        try (KubernetesClient admin = client()) {
            for (String role : roles) {
                admin.resource(new ClusterRoleBindingBuilder()
                                .withNewMetadata()
                                .withName("test-%s-%s".formatted(user, role))
                                .endMetadata()
                                .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", role)
                                .addNewSubject("rbac.authorization.k8s.io", "User", user, null)
                                .build())
                        .serverSideApply();
            }
        }
        return clientOf(user, url(), new KubernetesSerialization(), new RequestedRights());
    }

    private static KubernetesSerialization asTheOperatorReads() {
        return new KubernetesSerialization(
                new ObjectMapper().registerModules(SharedFields.module(), ShortPods.module()), true);
    }

    /** The same, that reads in its own way. */
    KubernetesClient operatorClient(KubernetesSerialization serialization) {
        return clientOf(OPERATOR_USER, url(), serialization, new RequestedRights());
    }

    private KubernetesClient clientOf(
            String user, String url, KubernetesSerialization serialization, Interceptor notes) {
        Config restricted = new ConfigBuilder(config)
                .withMasterUrl(url)
                .withImpersonateUsername(user)
                .build();
        return new KubernetesClientBuilder()
                .withConfig(restricted)
                .withKubernetesSerialization(serialization)
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("test", notes))
                .build();
    }

    /** Creates it unless it is there. */
    public void createNamespace(String name) {
        try (KubernetesClient client = client()) {
            client.resource(new NamespaceBuilder()
                            .withNewMetadata()
                            .withName(name)
                            .endMetadata()
                            .build())
                    .serverSideApply();
        }
    }

    private static ApiServer start(Path binaries) {
        var server = new KubeAPIServer(KubeAPIServerConfigBuilder.anAPIServerConfig()
                .withTestDir(binaries.toString())
                .withOfflineMode(true)
                // As on OpenShift: an owner reference of an object is changed only by who may delete it.
                .withApiServerFlag("--enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
                .withStartupTimeout((int) START_TIMEOUT.toMillis())
                .build());
        startAlone(server, binaries);
        Runtime.getRuntime().addShutdownHook(new Thread(server::stop));
        var api = new ApiServer(server.getKubeConfigYaml());
        api.applyCrds();
        api.applyRights();
        return api;
    }

    /** Not while another JVM starts one: the first start ever makes certificates for all, and ports are free before they are used. */
    private static void startAlone(KubeAPIServer server, Path binaries) {
        try (FileChannel file = FileChannel.open(
                        binaries.resolve("start.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock _ = file.lock()) {
            awaitTheNextDayIfNear();
            server.start();
        } catch (KubeAPITestException e) {
            server.stop();
            throw e;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The library's wait for a server compares times of day, so that one that would end after midnight has ended before
     * it began: "Kube API Server did not start properly", for every start in the last minute of a day.
     */
    private static void awaitTheNextDayIfNear() {
        Duration left = Duration.between(LocalTime.now(ZoneId.systemDefault()), LocalTime.MAX);
        if (left.compareTo(START_TIMEOUT) <= 0) {
            LockSupport.parkNanos(left.plusSeconds(1).toNanos());
        }
    }

    private void applyCrds() {
        try (KubernetesClient client = client()) {
            for (String file : CRD_FILES) {
                CustomResourceDefinition crd = client.apiextensions()
                        .v1()
                        .customResourceDefinitions()
                        .load(crdYaml(file))
                        .serverSideApply();
                client.resource(crd).waitUntilCondition(ApiServer::established, CRD_TIMEOUT_S, TimeUnit.SECONDS);
            }
        }
    }

    /** The cluster-wide rights as they are in the manifest that is made from the chart. */
    private void applyRights() {
        try (KubernetesClient client = client();
                InputStream manifest = Files.newInputStream(MANIFEST)) {
            client.load(manifest).items().stream()
                    .filter(item -> item instanceof ClusterRole || item instanceof ClusterRoleBinding)
                    .forEach(item -> client.resource(item).serverSideApply());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The rights by which operators elect one of them, with the namespace they are in. */
    public void applyElectionRights() {
        try (KubernetesClient client = client();
                InputStream manifest = Files.newInputStream(MANIFEST)) {
            client.load(manifest).items().stream()
                    .filter(item -> item instanceof Namespace || item instanceof Role || item instanceof RoleBinding)
                    .forEach(item -> client.resource(item).serverSideApply());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static InputStream crdYaml(String file) {
        return ApiServer.class.getResourceAsStream("/META-INF/kvpool/crds/" + file);
    }

    private static boolean established(CustomResourceDefinition crd) {
        if (crd == null || crd.getStatus() == null || crd.getStatus().getConditions() == null) {
            return false;
        }
        return crd.getStatus().getConditions().stream()
                .anyMatch(c -> "Established".equals(c.getType()) && "True".equals(c.getStatus()));
    }

    /** The directory of the API server's binaries; a missing one is a failure, never a skipped test. */
    private static Path binaries() {
        Path directory = Optional.ofNullable(System.getProperty("KUBE_API_TEST_DIR"))
                .or(() -> Optional.ofNullable(System.getenv("KUBE_API_TEST_DIR")))
                .map(Path::of)
                .orElse(Path.of(System.getProperty("user.home"), ".cache", "kvpool", "kubeapitest"));
        Path versions = directory.resolve("k8s");
        try (var entries = Files.isDirectory(versions) ? Files.list(versions) : Stream.<Path>empty()) {
            if (entries.noneMatch(version -> Files.isExecutable(version.resolve("kube-apiserver")))) {
                throw new IllegalStateException("no kube-apiserver in " + versions + "/VERSION-linux-ARCH/: run `make"
                        + " apiserver`, or point KUBE_API_TEST_DIR at a directory that holds it");
            }
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
