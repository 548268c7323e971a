// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.Kvpool;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.config.SettingsReader;
import dev.kvpool.dataplane.config.UsageException;
import dev.kvpool.dataplane.local.ChildSpec.Role;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalPlanTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");

    @TempDir
    Path dir;

    @Test
    void portsCountUpFromTheFirst() throws Exception {
        List<ChildSpec> children = children(Map.of("masters", "2", "storage-nodes", "2"));

        assertThat(children).extracting(ChildSpec::name).containsExactly("master-0", "master-1", "node-0", "node-1");
        assertThat(children).extracting(ChildSpec::port).containsExactly(50051, 50052, 50061, 50062);
        assertThat(children)
                .extracting(child -> flags(child).get("--admin-port"))
                .containsExactly("9003", "9004", "9301", "9302");
    }

    @Test
    void aMasterGetsItsIdentityTheLeaseTheNodesAndTheCacheSettings() throws Exception {
        ChildSpec master = children(Map.of("storage-nodes", "2", "object-lease", "500ms", "replicas", "2"))
                .getFirst();

        assertThat(master.role()).isEqualTo(Role.MASTER);
        assertThat(flags(master))
                .containsEntry("--pool-id", POOL.toString())
                .containsEntry("--name", "master-0")
                .containsEntry("--host", "127.0.0.1")
                .containsEntry("--port", "50051")
                .containsEntry("--admin-port", "9003")
                .containsEntry("--lease", "file://" + dir.resolve("lease.json"))
                .containsEntry("--expected-nodes", "node-0,node-1")
                .containsEntry("--cache-rules-file", dir.resolve("cache-rules").toString())
                .containsEntry("--change-cache-rules", "true")
                .containsEntry("--object-lease", "500ms")
                .containsEntry("--eviction-high-watermark", "0.98")
                .containsEntry("--eviction-low-watermark", "0.97")
                .containsEntry("--replicas", "2")
                .containsEntry("--lease-duration", "5s")
                .containsEntry("--renew-deadline", "3s")
                .containsEntry("--retry-period", "1s");
        assertThat(master.jvmOptions()).contains("-Xmx512m");
    }

    @Test
    void eachMasterGetsAnEvictionLogOfItsOwn() throws Exception {
        Path log = dir.resolve("evictions");
        List<ChildSpec> children =
                children(Map.of("masters", "2", "eviction-log", log.toString(), "eviction-log-size", "2MiB"));

        assertThat(children.subList(0, 2))
                .extracting(master -> flags(master).get("--eviction-log"))
                .containsExactly(log + ".master-0", log + ".master-1");
        assertThat(flags(children.getFirst())).containsEntry("--eviction-log-size", Long.toString(2 << 20));
        assertThat(children(Map.of()).getFirst().arguments()).doesNotContain("--eviction-log");
    }

    @Test
    void aNodeGetsEveryMasterAndADirectoryOfItsOwn() throws Exception {
        ChildSpec node = children(Map.of(
                        "masters",
                        "2",
                        "storage-nodes",
                        "2",
                        "segment-size",
                        "64MiB",
                        "protocols",
                        "tcp,ascend",
                        "numa",
                        "0",
                        "prefault",
                        "false"))
                .getLast();

        assertThat(node.role()).isEqualTo(Role.NODE);
        assertThat(flags(node))
                .containsEntry("--pool-id", POOL.toString())
                .containsEntry("--node-id", "node-1")
                .containsEntry("--masters", "127.0.0.1:50051,127.0.0.1:50052")
                .containsEntry("--advertise-host", "127.0.0.1")
                .containsEntry("--data-dir", dir.resolve("node-1").toString())
                .containsEntry("--segment-size", Long.toString(64L << 20))
                .containsEntry("--protocols", "tcp,ascend")
                .containsEntry("--numa", "0")
                .containsEntry("--prefault", "false")
                .containsEntry("--lock-memory", "false")
                .containsEntry("--port", "50062");
    }

    @Test
    void whereConnectionsAreSecureEachProcessGetsItsOwnCertificate() throws Exception {
        for (ChildSpec child : children(Map.of("tls", "permissive"))) {
            assertThat(flags(child))
                    .containsEntry("--tls", "permissive")
                    .containsEntry(
                            "--tls-dir",
                            dir.resolve("tls").resolve(child.name()).toString());
        }
        assertThat(children(Map.of()))
                .allSatisfy(child ->
                        assertThat(flags(child)).doesNotContainKeys("--tls", "--tls-dir", "--secure-admin-port"));
        assertThat(children(Map.of("tls", "required", "masters", "2", "storage-nodes", "2")))
                .extracting(child -> flags(child).get("--secure-admin-port"))
                .containsExactly("9443", "9444", "9543", "9544");
    }

    @Test
    void whatPayloadsAreIsSaidToNodesAlone() throws Exception {
        Map<String, String> authenticated = Map.of("tls", "required", "payloads", "authenticated");
        assertThat(children(authenticated)).allSatisfy(child -> {
            if (child.name().startsWith("node")) {
                assertThat(flags(child)).containsEntry("--payloads", "authenticated");
            } else {
                assertThat(flags(child)).doesNotContainKey("--payloads");
            }
        });
        assertThat(children(Map.of()))
                .allSatisfy(child -> assertThat(flags(child)).doesNotContainKey("--payloads"));
        assertThatThrownBy(() -> settings(Map.of("payloads", "authenticated")))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("--payloads authenticated needs --tls required or permissive");
        assertThatThrownBy(() -> settings(Map.of("tls", "required", "payloads", "raw")))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("--payloads");
    }

    @Test
    void securePortsAreLookedAtWhereTheyAreUsed() throws Exception {
        assertThat(new LocalPlan(settings(Map.of("admin-port", "9443"))).portProblems())
                .isEmpty();
        assertThat(new LocalPlan(settings(Map.of("admin-port", "9443", "tls", "permissive"))).portProblems())
                .singleElement()
                .asString()
                .contains("port 9443", "master-0 (--admin-port)", "master-0 (--secure-admin-port)");
    }

    @Test
    void everyFlagOfAChildIsASettingOfItsCommand() throws Exception {
        for (ChildSpec child : children(Map.of("masters", "2", "storage-nodes", "2", "tls", "required"))) {
            List<String> known = Kvpool.COMMANDS.stream()
                    .filter(command -> command.name().equals(child.arguments().getFirst()))
                    .flatMap(command -> command.settings().stream())
                    .map(Setting::flag)
                    .toList();

            assertThat(known).containsAll(flags(child).keySet());
        }
    }

    @Test
    void aPortForTwoIsToldWithBothUsersAndFlags() throws Exception {
        LocalPlan plan = new LocalPlan(settings(Map.of("masters", "2", "master-port", "9002")));

        assertThat(plan.portProblems())
                .singleElement()
                .asString()
                .contains("port 9003", "master-0 (--admin-port)", "master-1 (--master-port)");
    }

    @Test
    void aPortAboveTheLastIsTold() throws Exception {
        LocalPlan plan = new LocalPlan(settings(Map.of("storage-nodes", "3", "node-port", "65534")));

        assertThat(plan.portProblems()).singleElement().asString().contains("65536", "node-2 (--node-port)");
    }

    @Test
    void aWildcardIsNoAddressToTellToClients() {
        assertThatThrownBy(() -> settings(Map.of("host", "0.0.0.0"))).hasMessageContaining("wildcard");
        assertThatThrownBy(() -> settings(Map.of("host", "::"))).hasMessageContaining("wildcard");
        assertThatCode(() -> settings(Map.of("host", "0.0.0.0", "storage-nodes", "0")))
                .as("only storage nodes tell clients their address")
                .doesNotThrowAnyException();
    }

    @Test
    void leadershipTimesMustFitTogether() {
        assertThatThrownBy(() -> settings(Map.of("lease-duration", "2s")))
                .hasMessageContaining("--renew-deadline must be shorter than --lease-duration");
    }

    private List<ChildSpec> children(Map<String, String> flags) throws Exception {
        try (LocalDirectory directory = LocalDirectory.at(dir)) {
            return new LocalPlan(settings(flags))
                    .children(
                            directory,
                            POOL,
                            flags.containsKey("tls")
                                    ? Optional.of(LocalCertificates.issue(
                                            directory.tls(),
                                            POOL,
                                            List.of("master-0"),
                                            List.of("node-0"),
                                            Instant.now()))
                                    : Optional.empty());
        }
    }

    private static Settings settings(Map<String, String> flags) throws UsageException {
        return new SettingsReader(flags, Map.of()).read(LocalSettings.ALL, LocalSettings.RULES);
    }

    /** The flags after the subcommand, which all have a value. */
    private static Map<String, String> flags(ChildSpec child) {
        List<String> arguments = child.arguments();
        Map<String, String> flags = new HashMap<>();
        for (int i = 1; i < arguments.size(); i += 2) {
            flags.put(arguments.get(i), arguments.get(i + 1));
        }
        return flags;
    }
}
