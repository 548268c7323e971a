// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import dev.kvpool.dataplane.config.CacheSettings;
import dev.kvpool.dataplane.config.Durations;
import dev.kvpool.dataplane.config.EvictionLogSettings;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.local.ChildSpec.Role;
import dev.kvpool.dataplane.node.NodeSettings;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsSettings;
import dev.kvpool.nativelib.Payloads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Which processes a local pool consists of, and with which flags: decided from the settings alone. */
final class LocalPlan {
    private static final List<String> JVM_OF_ALL = List.of(
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "--enable-native-access=ALL-UNNAMED",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow");

    private final Settings settings;

    LocalPlan(Settings settings) {
        this.settings = settings;
    }

    /** Where clients find the masters. */
    List<HostPort> masters() {
        return IntStream.range(0, settings.get(LocalSettings.MASTERS))
                .mapToObj(k -> new HostPort(settings.get(LocalSettings.HOST), port(LocalSettings.MASTER_PORT, k)))
                .toList();
    }

    /** Where they answer admins: over HTTPS where connections are secure. */
    List<HostPort> masterAdmins() {
        Setting<Integer> first = isSecure() ? LocalSettings.SECURE_ADMIN_PORT : LocalSettings.ADMIN_PORT;
        return IntStream.range(0, settings.get(LocalSettings.MASTERS))
                .mapToObj(k -> new HostPort(settings.get(LocalSettings.HOST), settings.get(first) + k))
                .toList();
    }

    private boolean isSecure() {
        return settings.get(LocalSettings.TLS) != TlsMode.OFF;
    }

    List<String> masterNames() {
        return IntStream.range(0, settings.get(LocalSettings.MASTERS))
                .mapToObj(k -> "master-" + k)
                .toList();
    }

    List<String> nodeIds() {
        return IntStream.range(0, settings.get(LocalSettings.STORAGE_NODES))
                .mapToObj(k -> "node-" + k)
                .toList();
    }

    /** Ports above 65535 or meant for two processes, a sentence each. */
    List<String> portProblems() {
        List<String> problems = new ArrayList<>();
        ports().forEach((port, names) -> {
            if (port > 65535) {
                problems.add(
                        "port " + port + " for " + names.getFirst() + " is above 65535; choose a lower first port");
            } else if (names.size() > 1) {
                problems.add("port " + port + " is meant for " + String.join(" and for ", names)
                        + "; choose other first ports");
            }
        });
        return problems;
    }

    /** Every port with what it is for, such as {@code master-0 (--master-port)}. */
    Map<Integer, List<String>> ports() {
        Map<Integer, List<String>> ports = new TreeMap<>();
        for (int k = 0; k < settings.get(LocalSettings.MASTERS); k++) {
            add(ports, port(LocalSettings.MASTER_PORT, k), "master-" + k, LocalSettings.MASTER_PORT);
            add(ports, settings.get(LocalSettings.ADMIN_PORT) + k, "master-" + k, LocalSettings.ADMIN_PORT);
            if (isSecure()) {
                add(ports, port(LocalSettings.SECURE_ADMIN_PORT, k), "master-" + k, LocalSettings.SECURE_ADMIN_PORT);
            }
        }
        for (int k = 0; k < settings.get(LocalSettings.STORAGE_NODES); k++) {
            add(ports, settings.get(LocalSettings.NODE_PORT) + k, "node-" + k, LocalSettings.NODE_PORT);
            add(ports, settings.get(LocalSettings.NODE_ADMIN_PORT) + k, "node-" + k, LocalSettings.NODE_ADMIN_PORT);
            if (isSecure()) {
                add(
                        ports,
                        port(LocalSettings.NODE_SECURE_ADMIN_PORT, k),
                        "node-" + k,
                        LocalSettings.NODE_SECURE_ADMIN_PORT);
            }
        }
        return ports;
    }

    /**
     * The processes, masters first.
     *
     * @param certificates of each, where connections are secure
     */
    List<ChildSpec> children(LocalDirectory directory, UUID poolId, Optional<LocalCertificates> certificates) {
        List<ChildSpec> children = new ArrayList<>();
        for (int k = 0; k < settings.get(LocalSettings.MASTERS); k++) {
            children.add(master(k, directory, poolId, certificates));
        }
        for (int k = 0; k < settings.get(LocalSettings.STORAGE_NODES); k++) {
            children.add(node(k, directory.node("node-" + k), poolId, certificates));
        }
        return children;
    }

    private ChildSpec master(int k, LocalDirectory directory, UUID poolId, Optional<LocalCertificates> certificates) {
        String name = "master-" + k;
        List<String> arguments = new ArrayList<>(List.of("master", "--pool-id", poolId.toString(), "--name", name));
        add(arguments, "--host", settings.get(LocalSettings.HOST));
        add(arguments, "--port", port(LocalSettings.MASTER_PORT, k));
        add(arguments, "--admin-port", port(LocalSettings.ADMIN_PORT, k));
        add(arguments, "--lease", directory.lease().toUri());
        add(arguments, "--cache-rules-file", directory.rules());
        add(arguments, "--change-cache-rules", true);
        add(arguments, "--expected-nodes", String.join(",", nodeIds()));
        for (Setting<?> setting : CacheSettings.ALL) {
            add(arguments, setting, settings.get(setting));
        }
        settings.find(EvictionLogSettings.FILE).ifPresent(file -> {
            add(arguments, EvictionLogSettings.FILE, file.toAbsolutePath() + "." + name);
            add(arguments, EvictionLogSettings.SIZE, settings.get(EvictionLogSettings.SIZE));
        });
        certificates.ifPresent(issued -> addTls(arguments, issued.of(name), port(LocalSettings.SECURE_ADMIN_PORT, k)));
        long heapMegabytes = settings.get(LocalSettings.MASTER_HEAP) >> 20;
        return new ChildSpec(
                name, Role.MASTER, port(LocalSettings.MASTER_PORT, k), jvm("-Xmx" + heapMegabytes + "m"), arguments);
    }

    /** Where the SSD tiers of the nodes lie; none without {@code --ssd-dir}. */
    List<Path> ssds() {
        return nodeIds().stream().flatMap(name -> ssd(name).stream()).toList();
    }

    private Optional<Path> ssd(String node) {
        return settings.find(LocalSettings.SSD_DIR)
                .map(dir -> dir.toAbsolutePath().resolve(node));
    }

    private ChildSpec node(int k, Path directory, UUID poolId, Optional<LocalCertificates> certificates) {
        String name = "node-" + k;
        int port = port(LocalSettings.NODE_PORT, k);
        String host = settings.get(LocalSettings.HOST);
        List<String> arguments = new ArrayList<>(List.of("node"));
        add(arguments, NodeSettings.POOL_ID, poolId);
        add(arguments, NodeSettings.NODE_ID, name);
        add(arguments, NodeSettings.MASTERS, HostPort.join(masters()));
        add(arguments, NodeSettings.HOST, host);
        add(arguments, NodeSettings.ADVERTISE_HOST, host);
        add(arguments, NodeSettings.PORT, port);
        add(arguments, NodeSettings.ADMIN_PORT, port(LocalSettings.NODE_ADMIN_PORT, k));
        add(arguments, NodeSettings.DATA_DIR, directory);
        add(arguments, NodeSettings.SEGMENT_SIZE, settings.get(LocalSettings.SEGMENT_SIZE));
        for (Setting<?> setting :
                List.of(NodeSettings.PROTOCOLS, NodeSettings.NUMA, NodeSettings.PREFAULT, NodeSettings.LOCK_MEMORY)) {
            add(arguments, setting, settings.get(setting));
        }
        ssd(name).ifPresent(path -> {
            add(arguments, NodeSettings.SSD_PATH, path);
            add(arguments, NodeSettings.SSD_SIZE, settings.get(NodeSettings.SSD_SIZE));
            add(arguments, NodeSettings.SSD_KEY_FILE, settings.get(NodeSettings.SSD_KEY_FILE));
        });
        certificates.ifPresent(issued -> {
            addTls(arguments, issued.of(name), port(LocalSettings.NODE_SECURE_ADMIN_PORT, k));
            for (Setting<?> setting : List.of(TlsSettings.PAYLOADS, NodeSettings.TRUSTED_FABRIC)) {
                add(arguments, setting, settings.get(setting));
            }
        });
        return new ChildSpec(name, Role.NODE, port, jvm("-Xmx64m", "-XX:TieredStopAtLevel=1"), arguments);
    }

    private int port(Setting<Integer> first, int k) {
        return settings.get(first) + k;
    }

    private void addTls(List<String> arguments, Path directory, int secureAdminPort) {
        add(arguments, TlsSettings.DIRECTORY, directory);
        add(arguments, TlsSettings.MODE, settings.get(LocalSettings.TLS).word());
        add(arguments, NodeSettings.SECURE_ADMIN_PORT, secureAdminPort);
    }

    private static List<String> jvm(String... options) {
        List<String> all = new ArrayList<>(JVM_OF_ALL);
        all.addAll(List.of(options));
        return all;
    }

    private static void add(Map<Integer, List<String>> ports, int port, String name, Setting<?> setting) {
        ports.computeIfAbsent(port, key -> new ArrayList<>()).add(name + " (" + setting.flag() + ")");
    }

    private static void add(List<String> arguments, Setting<?> setting, Object value) {
        add(arguments, setting.flag(), value);
    }

    private static void add(List<String> arguments, String flag, Object value) {
        arguments.addAll(List.of(flag, text(value)));
    }

    private static String text(Object value) {
        return switch (value) {
            case Duration duration -> Durations.format(duration);
            case Payloads payloads -> payloads.name().toLowerCase(Locale.ROOT);
            case Set<?> words ->
                words.stream()
                        .map(word -> word.toString().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(","));
            case Map<?, ?> byName ->
                byName.entrySet().stream()
                        .map(entry -> entry.getKey() + entry.getValue().toString())
                        .collect(Collectors.joining(","));
            default -> value.toString();
        };
    }
}
