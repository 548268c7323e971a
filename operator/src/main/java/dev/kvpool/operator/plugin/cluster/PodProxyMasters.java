// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.master.MasterReports;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.http.KeptTokens;
import dev.kvpool.operator.master.http.MasterPaths;
import dev.kvpool.operator.master.http.PoolTokens;
import dev.kvpool.operator.master.http.ServiceAccountTokens;
import dev.kvpool.operator.plugin.failure.RefusedByPodException;
import dev.kvpool.operator.plugin.failure.Sentences;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Gatherers;
import java.util.stream.Stream;

/**
 * Asks masters through the API server, by the names of their pods: their addresses can be reached from inside the cluster only.
 * Needs the right {@code get} and {@code create} on {@code pods/proxy}.
 */
public final class PodProxyMasters implements MasterReports {
    private static final String STATUS = "Status";
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int GATEWAY_TIMEOUT = 504;

    /** Pods asked at the same time: each holds a connection to the API server. */
    private static final int AT_ONCE = 16;

    /** Pods of a machine without power refuse nothing, and the API server would wait for half a minute for each. */
    private static final Duration ANSWER_MAX = Duration.ofSeconds(5);

    private final ObjectMapper json = new ObjectMapper();
    private final KubernetesClient client;
    private final String namespace;
    private final Duration answerMax;
    private final Map<String, PoolTokens> admins = new ConcurrentHashMap<>();

    PodProxyMasters(KubernetesClient client, String namespace) {
        this(client, namespace, ANSWER_MAX);
    }

    /** @param answerMax how long a pod may take to say what it knows; what is asked of it to do has the client's time */
    PodProxyMasters(KubernetesClient client, String namespace, Duration answerMax) {
        this.client = client;
        this.namespace = namespace;
        this.answerMax = answerMax;
    }

    /** What many pods answer, in their order; they are asked at the same time. */
    public static <T, R> Stream<R> atOnce(Collection<T> pods, Function<T, R> ask) {
        return pods.stream().gather(Gatherers.mapConcurrent(AT_ONCE, ask));
    }

    @Override
    public Map<String, MasterAnswer> ask(Map<String, MasterEndpoint> masters) {
        Map<String, MasterAnswer> answers = new LinkedHashMap<>();
        atOnce(masters.entrySet(), pod -> Map.entry(pod.getKey(), askOne(pod.getValue())))
                .forEach(answer -> answers.put(answer.getKey(), answer.getValue()));
        return answers;
    }

    /** Has the leader wait no more for a node; that is never the operator's to decide. Answers why it did not, or nothing. */
    public Optional<String> forget(MasterEndpoint leader, String node) {
        return command(leader, "POST", MasterPaths.forget(node));
    }

    /**
     * What a pod of the pool answers at a path of its admin port.
     *
     * @param port of its HTTP, which counts where no identity is expected
     * @throws KubernetesClientException when it does not
     */
    public String text(MasterEndpoint pod, int port, String path) {
        String answer = soon(() -> get(pod, port, path));
        if (answer == null) {
            throw new KubernetesClientException("there is no such pod, or no such path in it", NOT_FOUND, null);
        }
        return answer;
    }

    /** The client itself has one time limit for all its requests. */
    private String soon(Callable<String> request) {
        FutureTask<String> answer = new FutureTask<>(request);
        Thread.ofVirtual().name("asking").start(answer);
        try {
            return answer.get(answerMax.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw new KubernetesClientException(
                    "it did not answer within %.1f s".formatted(answerMax.toMillis() / 1e3), GATEWAY_TIMEOUT, null);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KubernetesClientException known
                    ? known
                    : new KubernetesClientException(e.getCause().getMessage(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KubernetesClientException("interrupted", e);
        }
    }

    private MasterAnswer askOne(MasterEndpoint pod) {
        try {
            return new MasterAnswer.Report(
                    json.readValue(text(pod, PoolNames.MASTER_ADMIN_PORT, MasterPaths.POOL), PoolReport.class));
        } catch (JacksonException e) {
            return new MasterAnswer.Silent("its answer is not a pool report: " + e.getOriginalMessage());
        } catch (KubernetesClientException e) {
            return new MasterAnswer.Silent(why(e));
        }
    }

    private Optional<String> command(MasterEndpoint leader, String method, String pathAndQuery) {
        try {
            if (leader.identity().isPresent()) {
                secured(leader, method, pathAndQuery);
            } else {
                // Java's own client turns a request without a body into GET.
                client.raw(uri(leader.host(), PoolNames.MASTER_ADMIN_PORT, pathAndQuery), method, "");
            }
            return Optional.empty();
        } catch (KubernetesClientException e) {
            return Optional.of(why(e));
        }
    }

    private String get(MasterEndpoint pod, int port, String path) {
        return pod.identity().isPresent() ? secured(pod, "GET", path) : client.raw(uri(pod.host(), port, path));
    }

    /** As an administrator of the pool, to whom the API server gives a token if this user may have one. */
    private String secured(MasterEndpoint master, String method, String pathAndQuery) {
        HttpClient http = client.getHttpClient();
        String server = client.getMasterUrl().toString().replaceFirst("/$", "");
        HttpRequest request = http.newHttpRequestBuilder()
                .uri(server + uri("https:" + master.host(), PoolNames.SECURE_ADMIN_PORT, pathAndQuery))
                .header("X-Kvpool-Token", token(master.identity().orElseThrow()))
                .method(method, "text/plain", method.equals("GET") ? null : "")
                .build();
        try {
            HttpResponse<String> answer = http.sendAsync(request, String.class).get();
            if (!answer.isSuccessful()) {
                throw refusal(answer.code(), answer.bodyString());
            }
            return answer.body();
        } catch (ExecutionException | IOException e) {
            throw new KubernetesClientException(String.valueOf(e.getMessage()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KubernetesClientException("interrupted", e);
        }
    }

    /** The API server's own answers are objects of kind Status; what else comes, the pod has said. */
    private KubernetesClientException refusal(int code, String body) {
        try {
            Status status = json.readValue(body, Status.class);
            if (status != null && STATUS.equals(status.getKind()) && status.getCode() != null) {
                return new KubernetesClientException(status);
            }
        } catch (JacksonException e) {
            return new RefusedByPodException(code, body);
        }
        return new RefusedByPodException(code, body);
    }

    private String token(MasterEndpoint.Identity identity) {
        String account = new PoolNames(identity.pool(), namespace).admins();
        // The shortest: it goes through the API server to a pod that is not verified.
        try {
            return admins.computeIfAbsent(
                            account,
                            name -> new KeptTokens(
                                    new ServiceAccountTokens(
                                            client, namespace, name, ServiceAccountTokens.SHORTEST_LIFE),
                                    InstantSource.system()))
                    .token(PoolTokens.ofPool(identity.poolId()));
        } catch (IOException e) {
            throw new KubernetesClientException(
                    "%s; administrators of a secure pool need the right create on serviceaccounts/token of %s"
                            .formatted(e.getMessage(), account),
                    e);
        }
    }

    private String uri(String pod, int port, String pathAndQuery) {
        return "/api/v1/namespaces/%s/pods/%s:%d/proxy%s".formatted(namespace, pod, port, pathAndQuery);
    }

    private static String why(KubernetesClientException e) {
        if (e.getCode() == FORBIDDEN && !(e instanceof RefusedByPodException)) {
            return "you may not reach pods through the API server; that needs the rights get and create on pods/proxy";
        }
        return Sentences.of(e);
    }
}
