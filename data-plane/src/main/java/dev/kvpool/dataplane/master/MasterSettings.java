// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.audit.AuditSettings;
import dev.kvpool.dataplane.config.CacheSettings;
import dev.kvpool.dataplane.config.Durations;
import dev.kvpool.dataplane.config.EvictionLogSettings;
import dev.kvpool.dataplane.config.Format;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.election.ElectionTimes;
import dev.kvpool.dataplane.enrol.EnrolmentSettings;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.file.TenantQuotas;
import dev.kvpool.dataplane.secure.TlsSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** The settings of {@code kvpool master}. */
final class MasterSettings {
    private static final Format<LeasePlace> LEASE_PLACE =
            new Format<>("PLACE", "k8s://NAMESPACE/NAME or file:///PATH", LeasePlace::parse);

    /** Found beside the file of expected nodes without a flag, which an earlier version would refuse. */
    private static final String CACHE_RULES = "cache-rules";

    static final Setting<UUID> POOL_ID =
            Setting.required("pool-id", Formats.UUID_TEXT, "Id of the pool this master belongs to.");

    static final Setting<String> NAME =
            Setting.required("name", Formats.NAME_TEXT, "Name of this master, such as its pod's.");

    static final Setting<String> HOST =
            Setting.withDefault("host", Formats.HOST, "0.0.0.0", "Address to listen on; :: for both families.");

    static final Setting<Integer> PORT =
            Setting.withDefault("port", Formats.PORT_OR_ANY, "50051", "Port for storage nodes and clients.");

    static final Setting<Integer> ADMIN_PORT =
            Setting.withDefault("admin-port", Formats.PORT_OR_ANY, "9003", "Port for admin HTTP.");

    static final Setting<Integer> SECURE_ADMIN_PORT = TlsSettings.secureAdminPort("9443");

    static final Setting<LeasePlace> LEASE =
            Setting.required("lease", LEASE_PLACE, "Location of the leadership Lease.");

    static final Setting<List<String>> EXPECTED_NODES = Setting.optional(
            "expected-nodes",
            Formats.NAMES_OR_NONE,
            "Ids of the expected storage nodes; empty for a pool in the memory of its engines.");

    static final Setting<Path> EXPECTED_NODES_FILE = Setting.optional(
            "expected-nodes-file",
            Formats.FILE,
            "File with the id of one expected storage node per line; reread when it changes.");

    static final Setting<Path> CACHE_RULES_FILE = Setting.optional(
            "cache-rules-file",
            Formats.FILE,
            "File with lines such as replicas=2, the last one being end, for --object-lease, --eviction-*,"
                    + " --takeover-reserve, --soft-pin-ttl, --allow-evict-soft-pinned, --replicas, --repair-*,"
                    + " --consistency and --tenant-quotas: overrides the flags and is reread when it changes. Default: the file "
                    + CACHE_RULES + " beside --expected-nodes-file, if there is one.");

    static final Setting<Boolean> CHANGE_CACHE_RULES = Setting.withDefault(
            "change-cache-rules",
            Formats.SWITCH,
            "false",
            "Whether PUT and DELETE /api/v1/tenant_quotas write to --cache-rules-file: true where all masters of the pool"
                    + " read that same file, so that the next leader goes by it too, and nothing else writes to it.");

    static final Setting<Duration> WARM_UP = Setting.withDefault(
            "warm-up",
            Durations.between(Duration.ZERO, Duration.ofMinutes(1)),
            "1s",
            "Longest time to warm up the JVM on a private pool after the start, so that the first batches are fast;"
                    + " with TLS as long again, for handshakes. Again when many peers have come; 0s = no warm-up.");

    static final List<Setting<?>> ALL = all();

    static final List<Rule> RULES = rules();

    private MasterSettings() {}

    static MasterConfig config(Settings settings) {
        return new MasterConfig(
                settings.get(POOL_ID),
                settings.get(NAME),
                settings.get(HOST),
                settings.get(PORT),
                settings.get(ADMIN_PORT),
                settings.get(SECURE_ADMIN_PORT),
                settings.get(LEASE),
                Set.copyOf(settings.find(EXPECTED_NODES).orElse(List.of())),
                settings.find(EXPECTED_NODES_FILE),
                cacheRules(settings),
                settings.find(CACHE_RULES_FILE)
                        .or(() -> settings.find(EXPECTED_NODES_FILE).map(nodes -> nodes.resolveSibling(CACHE_RULES))),
                settings.get(CHANGE_CACHE_RULES),
                settings.find(EvictionLogSettings.FILE)
                        .map(file -> new EvictionLog.Place(file, settings.get(EvictionLogSettings.SIZE))),
                new ElectionTimes(
                        settings.get(CacheSettings.LEASE_DURATION).toMillis(),
                        settings.get(CacheSettings.RENEW_DEADLINE).toMillis(),
                        settings.get(CacheSettings.RETRY_PERIOD).toMillis()),
                settings.get(WARM_UP),
                TlsSettings.place(settings),
                AuditSettings.isOn(settings),
                EnrolmentSettings.place(settings));
    }

    private static CacheRules cacheRules(Settings settings) {
        return new CacheRules(
                settings.get(CacheSettings.OBJECT_LEASE).toMillis(),
                new EvictionRules(
                        settings.get(CacheSettings.EVICTION_HIGH_WATERMARK),
                        settings.get(CacheSettings.EVICTION_LOW_WATERMARK),
                        settings.get(CacheSettings.TAKEOVER_RESERVE),
                        settings.get(CacheSettings.SOFT_PIN_TTL).toMillis(),
                        settings.get(CacheSettings.ALLOW_EVICT_SOFT_PINNED)),
                settings.get(CacheSettings.REPLICAS),
                settings.get(CacheSettings.REPAIR_DELAY).toMillis(),
                settings.get(CacheSettings.REPAIR_RATE),
                Consistency.of(settings.get(CacheSettings.CONSISTENCY)),
                TenantQuotas.of(settings.get(CacheSettings.TENANT_QUOTAS)));
    }

    private static List<Setting<?>> all() {
        List<Setting<?>> all = new ArrayList<>(List.of(
                POOL_ID,
                NAME,
                HOST,
                PORT,
                ADMIN_PORT,
                SECURE_ADMIN_PORT,
                LEASE,
                EXPECTED_NODES,
                EXPECTED_NODES_FILE,
                CACHE_RULES_FILE,
                CHANGE_CACHE_RULES,
                WARM_UP));
        all.addAll(TlsSettings.ALL);
        all.addAll(EnrolmentSettings.ALL);
        all.addAll(AuditSettings.ALL);
        all.addAll(EvictionLogSettings.ALL);
        all.addAll(CacheSettings.ALL);
        return List.copyOf(all);
    }

    private static List<Rule> rules() {
        List<Rule> rules = new ArrayList<>(CacheSettings.RULES);
        rules.add(TlsSettings.secureAdminPortDiffers(SECURE_ADMIN_PORT, List.of(PORT, ADMIN_PORT)));
        rules.addAll(EnrolmentSettings.RULES);
        rules.add(new Rule(
                List.of(EXPECTED_NODES, EXPECTED_NODES_FILE),
                values -> values.find(EXPECTED_NODES).isPresent()
                        != values.find(EXPECTED_NODES_FILE).isPresent(),
                "give either --expected-nodes or --expected-nodes-file"));
        rules.add(new Rule(
                List.of(PORT, ADMIN_PORT),
                values -> values.get(PORT) == 0 || !values.get(PORT).equals(values.get(ADMIN_PORT)),
                "--port and --admin-port must differ"));
        return List.copyOf(rules);
    }
}
