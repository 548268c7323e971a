// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * How to reach the pool, in the layout of servicebinding.io, for tools that project such Secrets into pods. Nothing in it is secret.
 *
 * <p>Its name follows from what is in it, so one that is there is right and is never changed: the operator needs the right to create
 * Secrets, and none to read, change or delete any.
 */
public final class BindingSecret {
    private static final String TYPE = "servicebinding.io/kvpool";
    private static final String KVPOOL = "kvpool";

    private BindingSecret() {}

    /** Builds it. */
    public static Secret of(PoolBlueprint pool) {
        SortedMap<String, String> entries = entries(pool);
        SortedMap<String, String> data = new TreeMap<>();
        entries.forEach((key, value) ->
                data.put(key, Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8))));
        return new SecretBuilder()
                .withMetadata(pool.metadata(
                        pool.names().binding(digest(pool.poolId(), entries)),
                        PoolLabels.ofPool(pool.names().pool())))
                .withType(TYPE)
                .withImmutable(true)
                .withData(data)
                .build();
    }

    private static SortedMap<String, String> entries(PoolBlueprint pool) {
        PoolNames names = pool.names();
        String host = "%s.%s.svc".formatted(names.leaderService(), names.namespace());
        String masters = pool.masterList();
        SortedMap<String, String> entries = new TreeMap<>();
        entries.put("type", KVPOOL);
        entries.put("provider", KVPOOL);
        entries.put("host", host);
        entries.put("port", Integer.toString(PoolNames.MASTER_PORT));
        entries.put("uri", "mooncakestore://%s:%d/".formatted(host, PoolNames.MASTER_PORT));
        entries.put("masters", masters);
        entries.put(ClientConfigMap.FILE, ClientConfigMap.file(pool));
        return entries;
    }

    /** With the pool's identity in it: the Secret of a pool that had the name before may be about to go. */
    private static String digest(String poolId, SortedMap<String, String> entries) {
        byte[] content = (poolId + entries).getBytes(StandardCharsets.UTF_8);
        return UUID.nameUUIDFromBytes(content).toString().substring(0, 8);
    }
}
