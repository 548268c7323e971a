// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Since when this operator has seen what happens, without a break. While the API server does not answer, the caches stand still and
 * say nothing of it: a step of an upgrade that was done meanwhile would look like one that takes too long, and the pool go back.
 */
final class ApiContact {
    /** An API server that answers later has stood still: its watches have too. */
    private static final Duration PROMPT = Duration.ofSeconds(5);

    private final InstantSource clock;

    /** Nothing while it is lost, and before it was sought. */
    private final AtomicReference<Instant> since = new AtomicReference<>();

    ApiContact(InstantSource clock) {
        this.clock = clock;
    }

    /** Since when the pool was seen; asks the API server where it matters, which is while something of the pool waits for time to pass. */
    Instant since(KvCachePool pool, KubernetesClient client, Instant now) {
        boolean matters = pool.getStatus() != null && isTimed(pool.getStatus());
        if (matters && !answersPromptly(pool, client)) {
            since.set(null);
        } else if (matters) {
            since.compareAndSet(null, now);
        }
        Instant known = since.get();
        return known == null ? now : known;
    }

    /** Steps of an upgrade and drains have their time, and so have versions that the pool is about to change to. */
    private static boolean isTimed(KvCachePoolStatus status) {
        return status.roll() != null
                || !status.steps().isEmpty()
                || (status.version() != null && status.version().pending() != null);
    }

    /** Any object that the operator may read would do; this one each pool has. */
    private boolean answersPromptly(KvCachePool pool, KubernetesClient client) {
        Instant asked = clock.instant();
        try {
            client.leases()
                    .inNamespace(pool.getMetadata().getNamespace())
                    .withName(new PoolNames(
                                    pool.getMetadata().getName(),
                                    pool.getMetadata().getNamespace())
                            .masters())
                    .get();
        } catch (KubernetesClientException e) {
            if (!isAnswer(e.getCode())) {
                return false;
            }
        }
        return Duration.between(asked, clock.instant()).compareTo(PROMPT) <= 0;
    }

    /** One that knows the operator and refuses: a namespace may have lost its RoleBinding, and all other pools still have their time. */
    private static boolean isAnswer(int code) {
        return code >= 400 && code < 500 && code != 401 && code != 429;
    }
}
