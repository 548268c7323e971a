// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.file;

import dev.kvpool.dataplane.config.CacheSettings;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.config.SettingsReader;
import dev.kvpool.dataplane.config.TenantAmounts;
import dev.kvpool.dataplane.config.UsageException;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.identity.text.Quoted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The text of a file of cache rules: lines {@code NAME=VALUE}, named and written as the flags without dashes, and a last line
 * {@code end}, by which a file is known to be whole. Blank lines and lines that begin with # do not count. Pure.
 */
final class CacheRulesText {
    private static final String LAST = "end";

    private CacheRulesText() {}

    /**
     * The rules it makes.
     *
     * @param start what a rule is that the text does not name
     * @throws UsageException with every problem found; then none of it counts
     */
    static CacheRules parse(String text, CacheRules start) throws UsageException {
        List<String> problems = new ArrayList<>();
        Map<String, String> given = lines(text, problems);
        List<Setting<?>> settings = CacheSettings.LIVE.stream()
                .filter(setting -> given.containsKey(setting.name()))
                .toList();
        Settings read = new SettingsReader(given, Map.of()).alsoReport(problems).read(settings, List.of());
        try {
            return over(start, read);
        } catch (IllegalArgumentException e) {
            throw new UsageException(List.of(e.getMessage()));
        }
    }

    /** The line that says so. */
    static String quotas(Map<String, TenantAmounts> quotas) {
        return CacheSettings.TENANT_QUOTAS.name() + "="
                + quotas.entrySet().stream()
                        .map(entry -> entry.getKey() + entry.getValue())
                        .collect(Collectors.joining(","));
    }

    /** A text with this line in the place of the one for the same rule; all else in it stays. */
    static String with(String text, String line) {
        String name = line.substring(0, line.indexOf('='));
        List<String> lines = text.lines()
                .filter(each -> !each.strip().equals(LAST) && !isOf(each, name))
                .collect(Collectors.toCollection(ArrayList::new));
        lines.addAll(List.of(line, LAST, ""));
        return String.join("\n", lines);
    }

    private static boolean isOf(String line, String name) {
        int equals = line.indexOf('=');
        return equals >= 0 && line.substring(0, equals).strip().equals(name);
    }

    private static Map<String, String> lines(String text, List<String> problems) {
        Map<String, String> given = new HashMap<>();
        boolean ended = false;
        int number = 0;
        for (String raw : text.split("\n", -1)) {
            number++;
            String line = raw.strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            if (ended) {
                problems.add("line " + number + " is behind the line '" + LAST + "'");
            } else if (line.equals(LAST)) {
                ended = true;
            } else {
                add(line, number, given, problems);
            }
        }
        if (!ended) {
            problems.add("the last line is not '" + LAST + "', so the file is not whole");
        }
        return given;
    }

    private static void add(String line, int number, Map<String, String> given, List<String> problems) {
        int equals = line.indexOf('=');
        String name = equals < 0 ? line : line.substring(0, equals).strip();
        String where = "line " + number + ", '" + Quoted.cut(line) + "', ";
        if (equals < 0) {
            problems.add(where + "is not NAME=VALUE");
        } else if (CacheSettings.LIVE.stream()
                .noneMatch(setting -> setting.name().equals(name))) {
            problems.add(where + "names no rule that this version knows");
        } else if (given.put(name, line.substring(equals + 1).strip()) != null) {
            problems.add(where + "names a rule for the second time");
        }
    }

    private static CacheRules over(CacheRules start, Settings read) {
        EvictionRules eviction = start.eviction();
        return new CacheRules(
                read.find(CacheSettings.OBJECT_LEASE)
                        .map(lease -> lease.toMillis())
                        .orElse(start.objectLeaseMs()),
                new EvictionRules(
                        read.find(CacheSettings.EVICTION_HIGH_WATERMARK).orElse(eviction.high()),
                        read.find(CacheSettings.EVICTION_LOW_WATERMARK).orElse(eviction.low()),
                        read.find(CacheSettings.TAKEOVER_RESERVE).orElse(eviction.takeoverReserve()),
                        read.find(CacheSettings.SOFT_PIN_TTL)
                                .map(ttl -> ttl.toMillis())
                                .orElse(eviction.softPinMs()),
                        read.find(CacheSettings.ALLOW_EVICT_SOFT_PINNED).orElse(eviction.evictSoftPinned())),
                read.find(CacheSettings.REPLICAS).orElse(start.replicas()),
                read.find(CacheSettings.REPAIR_DELAY)
                        .map(delay -> delay.toMillis())
                        .orElse(start.repairDelayMs()),
                read.find(CacheSettings.REPAIR_RATE).orElse(start.repairBytesPerSecond()),
                read.find(CacheSettings.CONSISTENCY).map(Consistency::of).orElse(start.consistency()),
                read.find(CacheSettings.TENANT_QUOTAS).map(TenantQuotas::of).orElse(start.quotas()));
    }
}
