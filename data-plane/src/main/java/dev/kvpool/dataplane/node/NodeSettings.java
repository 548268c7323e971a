// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import dev.kvpool.dataplane.config.Durations;
import dev.kvpool.dataplane.config.Format;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.config.Sizes;
import dev.kvpool.dataplane.enrol.SelfEnrolment;
import dev.kvpool.dataplane.http.AdminPorts;
import dev.kvpool.dataplane.secure.TlsSettings;
import dev.kvpool.dataplane.version.ProductVersion;
import dev.kvpool.nativelib.NativeNode;
import dev.kvpool.nativelib.NodeParameters;
import dev.kvpool.nativelib.Protocol;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/** What can be set on {@code kvpool node}. */
public final class NodeSettings {
    private static final Format<Duration> TIMEOUTS = Durations.between(Duration.ofMillis(10), Duration.ofHours(1));

    private static final Format<String> ZONES = new Format<>(
            "ZONE",
            "nothing, or " + Formats.NAME_TEXT.allowed(),
            text -> text.isEmpty() ? text : Formats.NAME_TEXT.parser().apply(text));

    /** Sizes a segment may have; the least leaves room for some objects beside the directory. */
    public static final Format<Long> SEGMENT_SIZES =
            Sizes.between(NativeNode.SEGMENT_BYTES_MIN, NativeNode.SEGMENT_BYTES_MAX);

    public static final Setting<UUID> POOL_ID =
            Setting.required("pool-id", Formats.UUID_TEXT, "Id of the pool this node belongs to.");

    public static final Setting<String> NODE_ID = Setting.required(
            "node-id", Formats.NAME_TEXT, "Name of this node in its pool; must stay the same across restarts.");

    public static final Setting<List<HostPort>> MASTERS =
            Setting.required("masters", HostPort.LIST, "All masters of the pool.");

    public static final Setting<String> HOST = Setting.withDefault(
            "host", Formats.HOST, "::", "Address to listen on; :: means all addresses of both families.");

    public static final Setting<Integer> PORT =
            Setting.withDefault("port", Formats.PORT_OR_ANY, "50061", "Port for clients.");

    public static final Setting<Integer> ADMIN_PORT = Setting.withDefault(
            "admin-port",
            Formats.PORT_OR_ANY,
            "9301",
            "Port for HTTP: /healthz /readyz /metrics /version /api/v1/node.");

    public static final Setting<Integer> SECURE_ADMIN_PORT = TlsSettings.secureAdminPort("9543");

    public static final Setting<String> ADVERTISE_HOST =
            Setting.required("advertise-host", Formats.HOST, "Host name or address at which clients reach this node.");

    public static final Setting<Path> DATA_DIR = Setting.required(
            "data-dir", Formats.DIRECTORY, "Existing directory on tmpfs or hugetlbfs for the segment file.");

    public static final Setting<Long> SEGMENT_SIZE =
            Setting.required("segment-size", SEGMENT_SIZES, "Memory that this node contributes to the pool.");

    public static final Setting<Set<Protocol>> PROTOCOLS = Setting.withDefault(
            "protocols",
            Formats.wordsOf("PROTOCOL", Protocol.class),
            "shm,tcp",
            "Protocols offered to clients: shm, tcp, and ucx, which needs libucp.so.0 and tcp as well, or ascend,"
                    + " which needs CANN and an NPU; with tcp beside it the node serves without them too.");

    public static final Setting<Duration> CONNECT_TIMEOUT =
            Setting.withDefault("connect-timeout", TIMEOUTS, "3s", "Timeout of one attempt to connect to a master.");

    public static final Setting<Duration> TRANSFER_TIMEOUT = Setting.withDefault(
            "transfer-timeout", TIMEOUTS, "30s", "A connection without progress for this long is closed.");

    public static final Setting<Duration> IDLE_TIMEOUT = Setting.withDefault(
            "idle-timeout",
            TIMEOUTS,
            "5m",
            "Clients close a connection that was idle for this long; the node closes it after twice as long.");

    public static final Setting<String> ZONE = Setting.withDefault(
            "zone",
            ZONES,
            "",
            "Failure domain of this node, such as the zone of its machine; replicas are placed in different ones"
                    + " where possible.");

    public static final Setting<Long> SCRUB_RATE = Setting.withDefault(
            "scrub-rate",
            Sizes.between(1, 1L << 40),
            "64MiB",
            "Bytes per second at which the scrubber verifies checksums of stored payloads.");

    /** Where memory lies on a machine with several memory nodes. */
    public static final Setting<String> NUMA = Setting.withDefault(
            "numa",
            new Format<>("NUMA", "nothing, local, interleave or the number of a NUMA node", text -> requireNuma(text)),
            "",
            "NUMA placement of a new segment: local (the NUMA node the process starts on, others when it is full),"
                    + " interleave, or the number of one node. Default: the policy of the process.");

    public static final Setting<Boolean> PREFAULT = Setting.withDefault(
            "prefault",
            Formats.SWITCH,
            "true",
            "Prefault the pages of the segment in the background after the start, so that puts do not have to.");

    public static final Setting<Boolean> LOCK_MEMORY = Setting.withDefault(
            "lock-memory",
            Formats.SWITCH,
            "false",
            "Lock the pages of the segment so that they are never swapped; needs a sufficient limit of locked memory.");

    public static final Setting<String> SSD_PATH = Setting.withDefault(
            "ssd-path",
            new Format<>("PATH", "nothing, an existing directory or a block device", text -> text),
            "",
            "SSD tier for objects that have to leave memory: a directory, or a block device. Default: none.");

    public static final Setting<Long> SSD_SIZE = Setting.withDefault(
            "ssd-size",
            Sizes.between(0, NativeNode.SEGMENT_BYTES_MAX),
            "0",
            "Space that the node may use there, at least 16MiB.");

    public static final Setting<String> SSD_KEY_FILE = Setting.withDefault(
            "ssd-key-file",
            placeOrNothing("FILE", "nothing or a file"),
            "",
            "Encrypt the SSD tier with the key in this file: 32 bytes, or 64 hexadecimal digits as `openssl rand -hex 32` prints"
                    + " them. With another key than before, the tier starts empty. Default: not encrypted.");

    public static final Setting<String> SOCKET_DIR = Setting.withDefault(
            "socket-dir",
            placeOrNothing("DIR", "nothing or an existing directory"),
            "",
            "Directory of the shm socket, which is named after the node; nodes may share it. Containers that mount it"
                    + " at the same path can share memory. Default: shm.sock in the data directory.");

    public static final Setting<Long> STAGING_SIZE = Setting.withDefault(
            "staging-size",
            Sizes.between(1L << 20, 64L << 40),
            Sizes.format(NativeNode.STAGING_BYTES),
            "Upper limit of the memory that all clients together share with this node to write by shm; pages that"
                    + " clients have not touched count against this process. A client that finds no room writes by tcp.");

    public static final Setting<Boolean> TRUSTED_FABRIC = Setting.withDefault(
            "trusted-fabric",
            Formats.SWITCH,
            "false",
            "Serve ucx and ascend also with --tls required. They authenticate no peer and encrypt nothing: for networks whose hosts are all"
                    + " trusted.");

    public static final List<Setting<?>> ALL = Stream.concat(
                    Stream.<Setting<?>>of(
                            POOL_ID,
                            NODE_ID,
                            MASTERS,
                            HOST,
                            PORT,
                            ADMIN_PORT,
                            SECURE_ADMIN_PORT,
                            ADVERTISE_HOST,
                            DATA_DIR,
                            SEGMENT_SIZE,
                            PROTOCOLS,
                            CONNECT_TIMEOUT,
                            TRANSFER_TIMEOUT,
                            IDLE_TIMEOUT,
                            ZONE,
                            SCRUB_RATE,
                            NUMA,
                            PREFAULT,
                            LOCK_MEMORY,
                            SSD_PATH,
                            SSD_SIZE,
                            SSD_KEY_FILE,
                            SOCKET_DIR,
                            STAGING_SIZE,
                            TlsSettings.DIRECTORY,
                            TlsSettings.MODE,
                            TlsSettings.PAYLOADS,
                            TRUSTED_FABRIC),
                    SelfEnrolment.SETTINGS.stream())
            .toList();

    public static final List<Rule> RULES = Stream.of(
                    TlsSettings.RULES,
                    List.of(TlsSettings.payloadsNeedTls()),
                    SelfEnrolment.RULES,
                    List.of(TlsSettings.secureAdminPortDiffers(SECURE_ADMIN_PORT, List.of(PORT, ADMIN_PORT))))
            .flatMap(List::stream)
            .toList();

    private NodeSettings() {}

    private static Format<String> placeOrNothing(String symbol, String accepted) {
        return new Format<>(
                symbol,
                accepted,
                text -> text.isEmpty() ? text : Path.of(text).toAbsolutePath().toString());
    }

    private static String requireNuma(String text) {
        if (!text.matches("|local|interleave|[0-9]{1,4}")) {
            throw new IllegalArgumentException();
        }
        return text;
    }

    static AdminPorts adminPorts(Settings settings) {
        return new AdminPorts(settings.get(HOST), settings.get(ADMIN_PORT), settings.get(SECURE_ADMIN_PORT));
    }

    static NodeParameters parameters(Settings settings) {
        return new NodeParameters(
                settings.get(POOL_ID),
                settings.get(NODE_ID),
                HostPort.join(settings.get(MASTERS)),
                settings.get(HOST),
                settings.get(PORT),
                settings.get(ADVERTISE_HOST),
                settings.get(DATA_DIR).toAbsolutePath(),
                settings.get(SEGMENT_SIZE),
                settings.get(PROTOCOLS),
                settings.get(CONNECT_TIMEOUT),
                settings.get(TRANSFER_TIMEOUT),
                settings.get(IDLE_TIMEOUT),
                ProductVersion.text(),
                settings.get(ZONE),
                settings.get(SCRUB_RATE),
                settings.get(NUMA),
                settings.get(PREFAULT),
                settings.get(LOCK_MEMORY),
                settings.get(SSD_PATH),
                settings.get(SSD_SIZE),
                settings.get(SOCKET_DIR),
                settings.get(STAGING_SIZE),
                settings.get(SSD_KEY_FILE),
                TlsSettings.place(settings).forLibrary(),
                settings.get(TlsSettings.PAYLOADS),
                settings.get(TRUSTED_FABRIC));
    }
}
