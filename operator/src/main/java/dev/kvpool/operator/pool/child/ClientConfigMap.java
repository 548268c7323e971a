// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.pool.ascend.AscendEnvironment;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.part.StoragePod;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What an inference engine needs to use the pool: as environment ({@code envFrom}) and as files
 * ({@code MOONCAKE_CONFIG_PATH}).
 */
public final class ClientConfigMap {
    static final String FILE = "mooncake.json";

    /** The same for vllm-ascend, which starts with protocol {@code ascend} only. */
    static final String ASCEND_FILE = "mooncake-ascend.json";

    /** A pool needs no metadata server; clients insist on naming one, and this value means none. */
    private static final String NO_METADATA_SERVER = "P2PHANDSHAKE";

    /** vLLM and SGLang take rdma where nothing is said. How bytes move is decided by KVPOOL_PROTOCOLS. */
    private static final String PROTOCOL = "tcp";

    private static final String ASCEND_PROTOCOL = "ascend";

    private static final long LOCAL_BUFFER_BYTES = 512L << 20;

    /**
     * LMCache gives up a put after 1 s by default and hands the buffer to others while the put still reads it. Calls end by
     * KVPOOL_RETRY_DEADLINE, so LMCache need not end them.
     */
    private static final long LMCACHE_TIMEOUT_SECONDS = 3600;

    /**
     * LMCache's server reads no environment, but Kubernetes puts variables into arguments. The plugin reads the others here: which
     * masters there are changes with the pool, and this does not.
     */
    private static final String LMCACHE_ADAPTER = """
            {"type": "native_plugin", "module_path": "kvpool_engines.lmcache", "class_name": "KvpoolConnector",\
             "adapter_params": {}}""";

    private ClientConfigMap() {}

    public static ConfigMap of(PoolBlueprint pool) {
        String masters = pool.masterList();
        Map<String, String> data = new LinkedHashMap<>();
        data.put("MOONCAKE_MASTER", masters);
        data.put("MOONCAKE_TE_META_DATA_SERVER", NO_METADATA_SERVER);
        data.put("MOONCAKE_PROTOCOL", PROTOCOL);
        data.put("MOONCAKE_GLOBAL_SEGMENT_SIZE", Long.toString(segmentBytes(pool)));
        data.put("MOONCAKE_LOCAL_BUFFER_SIZE", Long.toString(LOCAL_BUFFER_BYTES));
        TransferEngineSpec engine = pool.engine();
        data.put("KVPOOL_PROTOCOLS", StoragePod.words(pool.engines().clientProtocols()));
        // An engine that asks for `ascend` or `rdma` uses the protocols above instead of being refused.
        data.put("KVPOOL_PROTOCOL_OVERRIDE", PROTOCOL);
        data.put("KVPOOL_CONNECT_TIMEOUT", ApiDuration.flag(engine.timeouts().connect()));
        data.put("KVPOOL_TRANSFER_TIMEOUT", ApiDuration.flag(engine.timeouts().transfer()));
        data.put("KVPOOL_RETRY_DEADLINE", ApiDuration.flag(engine.retry().deadline()));
        if (engine.agents() != null) {
            data.put(
                    "KVPOOL_SOCKET_DIR",
                    pool.names().socketDirectory(engine.agents().path()));
        }
        if (pool.engines().trustsAscend()) {
            // An engine with a certificate uses CANN only then, for its own memory too.
            data.put("KVPOOL_TRUSTED_FABRIC", "true");
        }
        pool.engines().accelerator().map(AscendEnvironment::of).ifPresent(data::putAll);
        // Keys are hashes of token blocks; engines must agree on them.
        data.put("PYTHONHASHSEED", "0");
        data.put("KVPOOL_LMCACHE_L2", LMCACHE_ADAPTER);
        data.put(FILE, file(pool));
        data.put(ASCEND_FILE, file(pool, ASCEND_PROTOCOL));
        return new ConfigMapBuilder()
                .withMetadata(pool.metadata(
                        pool.names().clientConfigMap(),
                        PoolLabels.ofPool(pool.names().pool())))
                .withData(data)
                .build();
    }

    private static long segmentBytes(PoolBlueprint pool) {
        return pool.spec().engineSegment().map(ByteAmount::bytes).orElse(0L);
    }

    /**
     * The file for every engine but vllm-ascend. Each engine ignores the names of the others: {@code mode} is vLLM's, which
     * refuses a segment of 0 with the mode of a larger one; {@code local_hostname} and {@code transfer_timeout} are LMCache's.
     */
    static String file(PoolBlueprint pool) {
        return file(pool, PROTOCOL);
    }

    private static String file(PoolBlueprint pool, String protocol) {
        long segment = segmentBytes(pool);
        return """
                {
                  "mode": "%s",
                  "metadata_server": "%s",
                  "master_server_address": "%s",
                  "protocol": "%s",
                  "device_name": "",
                  "local_hostname": "localhost",
                  "global_segment_size": %d,
                  "local_buffer_size": %d,
                  "transfer_timeout": %d
                }
                """.formatted(
                        segment == 0 ? "standalone-store" : "embedded",
                        NO_METADATA_SERVER,
                        pool.masterList(),
                        protocol,
                        segment,
                        LOCAL_BUFFER_BYTES,
                        LMCACHE_TIMEOUT_SECONDS);
    }
}
