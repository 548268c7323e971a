// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What the API server has under the names of planned objects that the informers do not show: nothing, or what is somebody
 * else's or was made a moment ago. A new pool has more than a dozen of them, so they are asked for all at once.
 */
final class UnseenChildren {
    private final IdentityHashMap<HasMetadata, Future<HasMetadata>> answers = new IdentityHashMap<>();

    private UnseenChildren() {}

    /** Asks, and returns when every answer is there. */
    static UnseenChildren ask(KubernetesClient client, List<HasMetadata> unseen) {
        UnseenChildren asked = new UnseenChildren();
        try (ExecutorService requests = Executors.newVirtualThreadPerTaskExecutor()) {
            unseen.forEach(child -> asked.answers.put(
                    child, requests.submit(() -> client.resource(child).get())));
        }
        return asked;
    }

    /**
     * What is stored under the name of one of the objects that were asked for.
     *
     * @throws KubernetesClientException when the API server did not say
     */
    Optional<HasMetadata> find(HasMetadata child) {
        Future<HasMetadata> answer = answers.get(child);
        return switch (answer.state()) {
            case SUCCESS -> Optional.ofNullable(answer.resultNow());
            case FAILED -> throw failure(answer.exceptionNow());
            case CANCELLED, RUNNING -> throw new KubernetesClientException("the question was broken off");
        };
    }

    private static RuntimeException failure(Throwable thrown) {
        return thrown instanceof RuntimeException e ? e : new CompletionException(thrown);
    }
}
