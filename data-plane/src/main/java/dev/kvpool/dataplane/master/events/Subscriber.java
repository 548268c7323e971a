// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * What one subscriber is shown. That of a tenant learns nothing of others' objects: its positions count only what it is shown, and
 * are those of no other subscriber.
 *
 * @param caller of which tenant the one is that asks; empty: of none, but an operator's, or one without a certificate
 * @param tenant whose objects alone it is shown, the caller's own if that has one; empty: all
 * @param until when the certificate ends by which it may
 */
public record Subscriber(Optional<Tenant> caller, Optional<Tenant> tenant, Instant until) {
    /** One that is shown everything, for as long as it likes. */
    static final Subscriber OF_ALL = new Subscriber(Optional.empty(), Optional.empty(), Instant.MAX);

    boolean isShown(Change change) {
        return tenant.isEmpty() || change.tenant().isEmpty() || change.tenant().equals(tenant);
    }

    /**
     * The leadership as positions name it. That of a tenant's differs: numbers of one count other changes than those of another, so a
     * position that comes from elsewhere must not be taken for one of these.
     */
    Authority named(Authority leadership) {
        return tenant.map(it -> UUID.nameUUIDFromBytes(it.name().getBytes(UTF_8)))
                .map(hash -> new Authority(leadership.epoch(), leadership.nonce() ^ hash.getMostSignificantBits()))
                .orElse(leadership);
    }
}
