// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The rules of a pool's cache and of its leadership: settings of {@code master}, which {@code local} passes on. */
public final class CacheSettings {
    private static final Format<Duration> OBJECT_LEASES =
            Durations.between(Duration.ofMillis(100), Duration.ofHours(1));
    private static final Format<Duration> LEADERSHIP_TIMES =
            Durations.between(Duration.ofMillis(50), Duration.ofMinutes(10));
    private static final Format<Duration> REPAIR_DELAYS =
            Durations.between(Duration.ofMillis(100), Duration.ofHours(24));
    private static final Format<Long> REPAIR_RATES = Sizes.between(1L << 16, 1L << 40);
    private static final Format<Duration> SOFT_PINS = Durations.between(Duration.ofSeconds(1), Duration.ofHours(24));
    private static final Format<Double> RESERVE =
            new Format<>("RATIO", "a number from 0 to 0.5", CacheSettings::reserve);
    private static final Format<String> CONSISTENCIES =
            Formats.oneOf("strict|available", List.of("strict", "available"), word -> word);
    private static final int REPLICAS_MAX = 16;

    public static final Setting<Duration> OBJECT_LEASE = Setting.withDefault(
            "object-lease",
            OBJECT_LEASES,
            "10s",
            "How long an object is neither evicted nor overwritten after a reader was given its location.");

    public static final Setting<Double> EVICTION_HIGH_WATERMARK = Setting.withDefault(
            "eviction-high-watermark",
            Formats.RATIO,
            "0.98",
            "Share of a node's capacity in use above which eviction starts; it starts earlier where writers need more room"
                    + " at once, or free room lies in small pieces.");

    public static final Setting<Double> EVICTION_LOW_WATERMARK = Setting.withDefault(
            "eviction-low-watermark",
            Formats.RATIO,
            "0.97",
            "Share of a node's capacity in use at which eviction stops; as much lower as it started earlier.");

    public static final Setting<Double> TAKEOVER_RESERVE = Setting.withDefault(
            "takeover-reserve",
            RESERVE,
            "0.01",
            "Share of a node's capacity that puts leave free, except right after a takeover, while all objects are"
                    + " leased.");

    public static final Setting<Duration> SOFT_PIN_TTL = Setting.withDefault(
            "soft-pin-ttl",
            SOFT_PINS,
            "30m",
            "How long a soft pin lasts after the last use of its object, unless the put says otherwise.");

    public static final Setting<Boolean> ALLOW_EVICT_SOFT_PINNED = Setting.withDefault(
            "allow-evict-soft-pinned",
            Formats.SWITCH,
            "true",
            "Whether softly pinned objects are evicted when no unpinned object is left.");

    public static final Setting<Integer> REPLICAS = Setting.withDefault(
            "replicas",
            Formats.integer("N", 1, REPLICAS_MAX),
            "1",
            "Copies of an object on different nodes, unless the put says otherwise.");

    public static final Setting<Duration> REPAIR_DELAY = Setting.withDefault(
            "repair-delay",
            REPAIR_DELAYS,
            "30s",
            "How long a node may be unavailable before its copies are recreated on others.");

    public static final Setting<Long> REPAIR_RATE = Setting.withDefault(
            "repair-rate",
            REPAIR_RATES,
            "256MiB",
            "Bytes per second that repair and drain may write to one node, and read from one.");

    public static final Setting<String> CONSISTENCY = Setting.withDefault(
            "consistency",
            CONSISTENCIES,
            "strict",
            "What happens to objects of a node that missed removals when all nodes that know of these are"
                    + " unavailable: strict = unavailable until one is back or the node is forgotten, available = served.");

    public static final Setting<Map<String, TenantAmounts>> TENANT_QUOTAS = Setting.withDefault(
            "tenant-quotas",
            TenantAmounts.BY_NAME,
            "",
            "What tenants may have and what others leave them, such as chat:guaranteed=8GiB:ceiling=16GiB:objects=100000,"
                    + "default:ceiling=4GiB. At its ceiling a tenant evicts its own objects.");

    public static final Setting<Duration> LEASE_DURATION = Setting.withDefault(
            "lease-duration", LEADERSHIP_TIMES, "5s", "How long a leadership lasts without renewal.");

    public static final Setting<Duration> RENEW_DEADLINE = Setting.withDefault(
            "renew-deadline", LEADERSHIP_TIMES, "3s", "A leader that could not renew for this long stops serving.");

    public static final Setting<Duration> RETRY_PERIOD = Setting.withDefault(
            "retry-period", LEADERSHIP_TIMES, "1s", "Time between two attempts to acquire or renew the leadership.");

    /** Those that may change while a master runs. A leadership's times may not: another master counts on what it read at its start. */
    public static final List<Setting<?>> LIVE = List.of(
            OBJECT_LEASE,
            EVICTION_HIGH_WATERMARK,
            EVICTION_LOW_WATERMARK,
            TAKEOVER_RESERVE,
            SOFT_PIN_TTL,
            ALLOW_EVICT_SOFT_PINNED,
            REPLICAS,
            REPAIR_DELAY,
            REPAIR_RATE,
            CONSISTENCY,
            TENANT_QUOTAS);

    public static final List<Setting<?>> ALL = Stream.concat(
                    LIVE.stream(), Stream.of(LEASE_DURATION, RENEW_DEADLINE, RETRY_PERIOD))
            .toList();

    public static final List<Rule> RULES = List.of(
            new Rule(
                    List.of(EVICTION_HIGH_WATERMARK, EVICTION_LOW_WATERMARK),
                    values -> values.get(EVICTION_LOW_WATERMARK) < values.get(EVICTION_HIGH_WATERMARK),
                    "--eviction-low-watermark must be below --eviction-high-watermark"),
            new Rule(
                    List.of(LEASE_DURATION, RENEW_DEADLINE),
                    values -> values.get(RENEW_DEADLINE).compareTo(values.get(LEASE_DURATION)) < 0,
                    "--renew-deadline must be shorter than --lease-duration: a leader stops before another one may start"),
            new Rule(
                    List.of(RENEW_DEADLINE, RETRY_PERIOD),
                    values -> values.get(RETRY_PERIOD).compareTo(values.get(RENEW_DEADLINE)) < 0,
                    "--retry-period must be shorter than --renew-deadline, or one lost answer ends a leadership"));

    private CacheSettings() {}

    private static double reserve(String text) {
        double value = Double.parseDouble(text);
        if (!(0 <= value && value <= 0.5)) {
            throw new IllegalArgumentException();
        }
        return value;
    }
}
