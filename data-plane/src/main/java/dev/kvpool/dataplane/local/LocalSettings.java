// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import dev.kvpool.dataplane.config.CacheSettings;
import dev.kvpool.dataplane.config.Durations;
import dev.kvpool.dataplane.config.EvictionLogSettings;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Sizes;
import dev.kvpool.dataplane.node.NodeSettings;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsSettings;
import dev.kvpool.nativelib.Payloads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/** What can be set on {@code kvpool local}. */
final class LocalSettings {
    private static final int MASTERS_MAX = 9;
    private static final int NODES_MAX = 64;
    private static final Set<String> WILDCARDS = Set.of("::", "0.0.0.0");

    static final Setting<Integer> MASTERS = Setting.withDefault(
            "masters",
            Formats.integer("N", 1, MASTERS_MAX),
            "1",
            "Number of masters; one leads, the others are standbys.");

    static final Setting<Integer> STORAGE_NODES = Setting.withDefault(
            "storage-nodes",
            Formats.integer("N", 0, NODES_MAX),
            "1",
            "Number of storage nodes; 0 for a pool in the memory of its clients.");

    static final Setting<Long> SEGMENT_SIZE =
            Setting.withDefault("segment-size", NodeSettings.SEGMENT_SIZES, "1GiB", "Memory of each storage node.");

    static final Setting<String> HOST =
            Setting.withDefault("host", Formats.HOST, "127.0.0.1", "Address to listen on and to advertise to clients.");

    static final Setting<Integer> MASTER_PORT =
            Setting.withDefault("master-port", Formats.PORT, "50051", "Port of master 0; master k has this + k.");

    static final Setting<Integer> ADMIN_PORT =
            Setting.withDefault("admin-port", Formats.PORT, "9003", "HTTP port of master 0; master k has this + k.");

    static final Setting<Integer> SECURE_ADMIN_PORT = Setting.withDefault(
            "secure-admin-port",
            Formats.PORT,
            "9443",
            "HTTPS port of master 0; master k has this + k. Not used with --tls off.");

    static final Setting<Integer> NODE_PORT =
            Setting.withDefault("node-port", Formats.PORT, "50061", "Port of node 0; node k has this + k.");

    static final Setting<Integer> NODE_ADMIN_PORT =
            Setting.withDefault("node-admin-port", Formats.PORT, "9301", "HTTP port of node 0; node k has this + k.");

    static final Setting<Integer> NODE_SECURE_ADMIN_PORT = Setting.withDefault(
            "node-secure-admin-port",
            Formats.PORT,
            "9543",
            "HTTPS port of node 0; node k has this + k. Not used with --tls off.");

    static final Setting<Boolean> RESTART = Setting.onOff("restart", "Restart processes that exit.");

    static final Setting<Path> DATA_DIR = Setting.optional(
            "data-dir",
            Formats.DIRECTORY,
            "Directory for segments, the leadership Lease and logs; objects survive a restart of local. Default: a"
                    + " temporary one in /dev/shm, removed on exit.");

    static final Setting<Long> MASTER_HEAP = Setting.withDefault(
            "master-heap", Sizes.between(64L << 20, 1L << 40), "512MiB", "Java heap of each master, for its index.");

    static final Setting<UUID> POOL_ID = Setting.optional(
            "pool-id",
            Formats.UUID_TEXT,
            "Identity of the pool. Engines that hold objects stay with a pool of the same identity, wherever it is started. Default: that of"
                    + " --data-dir, or a random one.");

    static final Setting<Duration> READY_TIMEOUT = Setting.withDefault(
            "ready-timeout",
            Durations.between(Duration.ofSeconds(1), Duration.ofHours(1)),
            "60s",
            "Longest time until a leader serves with all nodes.");

    static final Setting<Path> SSD_DIR = Setting.optional(
            "ssd-dir",
            Formats.DIRECTORY,
            "Directory on an SSD, for a tier of --ssd-size of each storage node. Default: none.");

    static final Setting<TlsMode> TLS = Setting.withDefault(
            "tls",
            TlsSettings.MODES,
            "off",
            "required: connections are encrypted and both sides show certificates, which this command makes in DATA_DIR/tls; permissive:"
                    + " plain ones are accepted too.");

    static final List<Setting<?>> ALL = Stream.concat(
                    Stream.of(
                            MASTERS,
                            STORAGE_NODES,
                            SEGMENT_SIZE,
                            HOST,
                            MASTER_PORT,
                            ADMIN_PORT,
                            SECURE_ADMIN_PORT,
                            NODE_PORT,
                            NODE_ADMIN_PORT,
                            NODE_SECURE_ADMIN_PORT,
                            RESTART,
                            DATA_DIR,
                            POOL_ID,
                            MASTER_HEAP,
                            READY_TIMEOUT,
                            SSD_DIR,
                            TLS,
                            TlsSettings.PAYLOADS,
                            NodeSettings.TRUSTED_FABRIC,
                            NodeSettings.SSD_SIZE,
                            NodeSettings.SSD_KEY_FILE,
                            NodeSettings.PROTOCOLS,
                            NodeSettings.NUMA,
                            NodeSettings.PREFAULT,
                            NodeSettings.LOCK_MEMORY,
                            EvictionLogSettings.FILE,
                            EvictionLogSettings.SIZE),
                    CacheSettings.ALL.stream())
            .toList();

    static final List<Rule> RULES = Stream.concat(
                    Stream.of(
                            new Rule(
                                    List.of(HOST, STORAGE_NODES),
                                    values -> values.get(STORAGE_NODES) == 0 || !WILDCARDS.contains(values.get(HOST)),
                                    "--host is told to clients of storage nodes, so it must be an address they can connect to, not a wildcard"),
                            new Rule(
                                    List.of(TLS, TlsSettings.PAYLOADS),
                                    values -> values.get(TLS) != TlsMode.OFF
                                            || values.get(TlsSettings.PAYLOADS) == Payloads.ENCRYPTED,
                                    "--payloads authenticated needs --tls required or permissive, by which peers are authenticated")),
                    CacheSettings.RULES.stream())
            .toList();

    private LocalSettings() {}
}
