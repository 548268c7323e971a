// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Who holds the leadership Lease.
 *
 * @param pod the master's pod
 * @param epoch number of the leadership
 * @param holder the holder's identity: the pod's name and a number of this life of its process
 * @param since when it was taken, by the master's clock; empty when the Lease does not say
 */
public record Leadership(String pod, long epoch, String holder, Optional<Instant> since) {
    /** Between the pod's name and the random part of the holder's identity. */
    private static final char SEPARATOR = '_';

    /** As the pool's own Lease among its objects says; empty when there is none, or no master of the pool holds it. */
    public static Optional<Leadership> among(List<HasMetadata> children, KvCachePool pool) {
        return lease(children, pool).flatMap(Leadership::of);
    }

    /** Whether the pool's own Lease says that it was ever held. */
    public static boolean wasTaken(List<HasMetadata> children, KvCachePool pool) {
        return lease(children, pool)
                .map(Lease::getSpec)
                .filter(spec -> spec.getHolderIdentity() != null
                        || spec.getAcquireTime() != null
                        || Objects.requireNonNullElse(spec.getLeaseTransitions(), 0) > 0)
                .isPresent();
    }

    private static Optional<Lease> lease(List<HasMetadata> children, KvCachePool pool) {
        String name =
                new PoolNames(pool.getMetadata().getName(), pool.getMetadata().getNamespace()).lease();
        return children.stream()
                .filter(child ->
                        child instanceof Lease && child.getMetadata().getName().equals(name))
                .map(Lease.class::cast)
                .findFirst();
    }

    /** Empty when the Lease has no holder, or one that is not a master. */
    public static Optional<Leadership> of(Lease lease) {
        if (lease.getSpec() == null || lease.getSpec().getHolderIdentity() == null) {
            return Optional.empty();
        }
        String holder = lease.getSpec().getHolderIdentity();
        int end = holder.lastIndexOf(SEPARATOR);
        if (end <= 0) {
            return Optional.empty();
        }
        int epoch = Objects.requireNonNullElse(lease.getSpec().getLeaseTransitions(), 0);
        Optional<Instant> since =
                Optional.ofNullable(lease.getSpec().getAcquireTime()).map(ZonedDateTime::toInstant);
        return Optional.of(new Leadership(holder.substring(0, end), epoch, holder, since));
    }
}
