// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.prepare;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PfxOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Answers as the API server of a cluster does that has one pool and nothing else. It stores nothing: what it is sent comes back as if
 * it had been stored, and its watches tell of nothing.
 */
final class EchoingApi {
    private static final String UID = "00000000-0000-0000-0000-000000000001";
    private static final String POOL = """
            {"apiVersion": "kvpool.dev/v1alpha1", "kind": "KvCachePool",
             "metadata": {"name": "rehearsal", "namespace": "default", "uid": "%s", "generation": 1, "resourceVersion": "1"},
             "spec": {"masters": {"replicas": 2}, "storage": [{"name": "default", "capacity": "1Gi", "replicas": 2}]}}
            """.formatted(UID);
    private static final String ALL_RIGHTS = """
            {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "status": {"incomplete": false,
             "nonResourceRules": [], "resourceRules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}}
            """;
    private static final String VERSION = """
            {"major": "1", "minor": "33", "gitVersion": "v1.33.0"}
            """;

    /** Of one object or all of a kind, in a namespace or not; the groups are the kind, the name, and what of it. */
    private static final Pattern PATH =
            Pattern.compile("/(?:api|apis/[^/]+)/v\\w+(?:/namespaces/[^/]+(?=/))?/([^/]+)(?:/([^/]+)(?:/(.+))?)?");

    private static final String POOLS = "kvcachepools";
    private static final int OK = 200;
    private static final int CREATED = 201;
    private static final int NOT_FOUND = 404;

    private final KubernetesSerialization text = new KubernetesSerialization();
    private final CountDownLatch statusWritten = new CountDownLatch(1);
    private final String url;

    private EchoingApi(String host) throws IOException {
        ThrowawayKey key = ThrowawayKey.make(host, "EC");
        HttpServer server = Vertx.vertx()
                .createHttpServer(new HttpServerOptions()
                        .setHost(host)
                        .setSsl(true)
                        .setKeyCertOptions(new PfxOptions()
                                .setValue(Buffer.buffer(key.store()))
                                .setPassword(key.password())))
                .requestHandler(this::answer)
                .webSocketHandler(watch -> {});
        server.listen(0).toCompletionStage().toCompletableFuture().join();
        url = "https://%s:%d".formatted(host, server.actualPort());
    }

    /**
     * Starts it, for as long as the process lives.
     *
     * @param host address to listen at
     */
    static EchoingApi start(String host) throws IOException {
        return new EchoingApi(host);
    }

    String url() {
        return url;
    }

    /** Waits until a status is written; false when none was for so long. */
    boolean hasLedToAStatus(long limit, TimeUnit unit) throws InterruptedException {
        return statusWritten.await(limit, unit);
    }

    private void answer(HttpServerRequest request) {
        request.body().onSuccess(body -> {
            Matcher path = PATH.matcher(request.path());
            if (!path.matches()) {
                send(request, OK, VERSION);
            } else if (request.method().equals(HttpMethod.GET)) {
                boolean one = path.group(2) != null;
                send(request, one ? NOT_FOUND : OK, one ? "{}" : all(path.group(1)));
            } else if ("status".equals(path.group(3))) {
                send(request, OK, POOL);
                statusWritten.countDown();
            } else if (path.group(1).equals("selfsubjectrulesreviews")) {
                send(request, CREATED, ALL_RIGHTS);
            } else {
                int status = request.method().equals(HttpMethod.POST) ? CREATED : OK;
                send(request, status, asIfStored(body.toString(StandardCharsets.UTF_8)));
            }
        });
    }

    private static String all(String kind) {
        return """
                {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "1"}, "items": [%s]}
                """.formatted(kind.equals(POOLS) ? POOL : "");
    }

    private static void send(HttpServerRequest request, int status, String body) {
        request.response()
                .setStatusCode(status)
                .putHeader("Content-Type", "application/json")
                .end(body);
    }

    private String asIfStored(String sent) {
        GenericKubernetesResource object = text.unmarshal(sent, GenericKubernetesResource.class);
        object.getMetadata().setUid(UID);
        object.getMetadata().setResourceVersion("2");
        return text.asJson(object);
    }
}
