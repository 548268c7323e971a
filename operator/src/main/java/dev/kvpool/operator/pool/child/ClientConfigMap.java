// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.operator.pool.PoolBlueprint;
import dev.kvpool.operator.pool.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What an inference engine needs to use the pool: as environment ({@code envFrom}) and as a file
 * ({@code MOONCAKE_CONFIG_PATH}).
 */
public final class ClientConfigMap {
    static final String FILE = "mooncake.json";

    /** A pool needs no metadata server; clients insist on naming one, and this value means none. */
    private static final String NO_METADATA_SERVER = "P2PHANDSHAKE";

    /** The control connection; bytes take the best protocol client and node have in common. */
    private static final String PROTOCOL = "tcp";

    private static final long LOCAL_BUFFER_BYTES = 512L << 20;

    private ClientConfigMap() {}

    public static ConfigMap of(PoolBlueprint pool) {
        String masters = pool.masterList();
        Map<String, String> data = new LinkedHashMap<>();
        data.put("MOONCAKE_MASTER", masters);
        data.put("MOONCAKE_TE_META_DATA_SERVER", NO_METADATA_SERVER);
        data.put("MOONCAKE_PROTOCOL", PROTOCOL);
        data.put("MOONCAKE_GLOBAL_SEGMENT_SIZE", "0");
        data.put("MOONCAKE_LOCAL_BUFFER_SIZE", Long.toString(LOCAL_BUFFER_BYTES));
        TransferEngineSpec engine = pool.engine();
        data.put("KVPOOL_PROTOCOLS", StoragePod.words(engine.protocols()));
        data.put("KVPOOL_CONNECT_TIMEOUT", engine.timeouts().connect());
        data.put("KVPOOL_TRANSFER_TIMEOUT", engine.timeouts().transfer());
        data.put("KVPOOL_RETRY_DEADLINE", engine.retry().deadline());
        if (engine.agents() != null) {
            data.put(
                    "KVPOOL_SOCKET_DIR",
                    pool.names().socketDirectory(engine.agents().path()));
        }
        // Keys are hashes of token blocks; engines must agree on them.
        data.put("PYTHONHASHSEED", "0");
        data.put(FILE, file(masters));
        return new ConfigMapBuilder()
                .withMetadata(pool.metadata(
                        pool.names().clientConfigMap(),
                        PoolLabels.ofPool(pool.names().pool())))
                .withData(data)
                .build();
    }

    static String file(String masters) {
        return """
                {
                  "metadata_server": "%s",
                  "master_server_address": "%s",
                  "protocol": "%s",
                  "device_name": "",
                  "global_segment_size": 0,
                  "local_buffer_size": %d
                }
                """.formatted(NO_METADATA_SERVER, masters, PROTOCOL, LOCAL_BUFFER_BYTES);
    }
}
