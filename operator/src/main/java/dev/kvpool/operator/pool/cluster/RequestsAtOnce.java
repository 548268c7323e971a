// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/**
 * Requests to the API server about several objects, which take as long as the slowest of them. One after the other, they would be
 * nearly all that a reconciliation of a new pool waits for.
 *
 * @param <K> what each request is about
 * @param <A> the answers
 */
final class RequestsAtOnce<K, A> {
    /** Of one reconciliation. More need connections of their own, which the next ones do not. */
    private static final int AT_ONCE_MAX = 8;

    private final IdentityHashMap<K, Future<A>> answers = new IdentityHashMap<>();

    private RequestsAtOnce() {}

    /** Sends them, and returns when every answer is there. */
    static <K, A> RequestsAtOnce<K, A> send(List<K> about, Function<K, A> request) {
        RequestsAtOnce<K, A> sent = new RequestsAtOnce<>();
        if (about.isEmpty()) {
            return sent;
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(
                Math.min(AT_ONCE_MAX, about.size()), Thread.ofVirtual().factory())) {
            about.forEach(one -> sent.answers.put(one, threads.submit(() -> request.apply(one))));
        }
        return sent;
    }

    /**
     * The answer to the request about one of the given.
     *
     * @throws KubernetesClientException when there is none
     */
    A answer(K about) {
        Future<A> answer = answers.get(about);
        return switch (answer.state()) {
            case SUCCESS -> answer.resultNow();
            case FAILED -> throw failure(answer.exceptionNow());
            case CANCELLED, RUNNING -> throw new KubernetesClientException("the request was broken off");
        };
    }

    private static RuntimeException failure(Throwable thrown) {
        return thrown instanceof RuntimeException e ? e : new CompletionException(thrown);
    }
}
