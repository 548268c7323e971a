// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.config.CacheSettings;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.UsageException;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CacheRulesTextTest {
    private static final CacheRules START =
            PlainSettings.rules(10_000, new EvictionRules(0.9, 0.8, 0.05, 60_000, true), 1, 30_000, 1 << 20);

    private static final String ALL = """
            # everything
            object-lease=20s
            eviction-high-watermark=0.7

            eviction-low-watermark = 0.6
            takeover-reserve=0
            soft-pin-ttl=2h
            allow-evict-soft-pinned=false
            replicas=3
            repair-delay=1m
            repair-rate=1GiB
            consistency=available
            tenant-quotas=a:guaranteed=1GiB:ceiling=2GiB:objects=9,default:ceiling=5
            end
            """;

    @Test
    void everyLiveRuleIsRead() throws UsageException {
        assertThat(CacheRulesText.parse(ALL, START))
                .isEqualTo(new CacheRules(
                        20_000,
                        new EvictionRules(0.7, 0.6, 0, 7_200_000, false),
                        3,
                        60_000,
                        1 << 30,
                        Consistency.AVAILABLE,
                        new Quotas(Map.of(
                                "a", new Quota(1L << 30, 2L << 30, 9),
                                "default", new Quota(0, 5, Quota.UNLIMITED)))));
        assertThat(ALL).contains(CacheSettings.LIVE.stream().map(Setting::name).toList());
    }

    @Test
    void quotasCanBeTakenAway() throws UsageException {
        assertThat(CacheRulesText.parse("tenant-quotas=\nend", START).quotas()).isEqualTo(Quotas.NONE);
    }

    @Test
    void aRuleThatIsNotNamedIsAsAtTheStart() throws UsageException {
        assertThat(CacheRulesText.parse("end\n", START)).isEqualTo(START);
        assertThat(CacheRulesText.parse("replicas=2\r\nend", START).replicas()).isEqualTo(2);
        assertThat(CacheRulesText.parse("replicas=2\nend", START).eviction()).isEqualTo(START.eviction());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "\"\" | not whole",
                "\"replicas=2\" | not whole",
                "\"replicas=2\nobject-lea\" | line 2, 'object-lea', is not NAME=VALUE",
                "\"replicas=2\nen\" | line 2, 'en', is not NAME=VALUE",
                "\"colour=2\nend\" | line 1, 'colour=2', names no rule that this version knows",
                "\"lease-duration=5s\nend\" | names no rule that this version knows",
                "\"REPLICAS=2\nend\" | names no rule that this version knows",
                "\"replicas=2\n\nreplicas=2\nend\" | line 3, 'replicas=2', names a rule for the second time",
                "\"end\nreplicas=2\" | line 2 is behind the line 'end'",
                "\"replicas=two\nend\" | --replicas is 'two'",
                "\"replicas=\nend\" | --replicas is ''",
                "\"replicas=-1\nend\" | --replicas is '-1'",
                "\"replicas=0\nend\" | --replicas is '0'",
                "\"replicas=17\nend\" | --replicas is '17'",
                "\"replicas=99999999999999999999\nend\" | --replicas is '99999999999999999999'",
                "\"object-lease=10\nend\" | --object-lease is '10'",
                "\"object-lease=-10s\nend\" | --object-lease is '-10s'",
                "\"object-lease=999999999999h\nend\" | --object-lease is '999999999999h'",
                "\"repair-rate=0\nend\" | --repair-rate is '0'",
                "\"repair-rate=99999999999999999999999\nend\" | --repair-rate is",
                "\"takeover-reserve=0.6\nend\" | --takeover-reserve is '0.6'",
                "\"takeover-reserve=NaN\nend\" | --takeover-reserve is 'NaN'",
                "\"eviction-high-watermark=1.5\nend\" | --eviction-high-watermark is '1.5'",
                "\"eviction-high-watermark=0.5\nend\" | watermarks must be 0 < low < high <= 1",
                "\"allow-evict-soft-pinned=yes\nend\" | --allow-evict-soft-pinned is 'yes'",
                "\"tenant-quotas=a\nend\" | tenant a has no amount",
                "\"tenant-quotas=a:ceiling\nend\" | 'ceiling' of tenant a has no amount",
                "\"tenant-quotas=a:ceiling=1,\nend\" | '' is no name of a tenant",
                "\"tenant-quotas=A:ceiling=1\nend\" | 'A' is no name of a tenant",
                "\"tenant-quotas=\u00e4:ceiling=1\nend\" | is no name of a tenant",
                "\"tenant-quotas=a:ceiling=1:ceiling=2\nend\" | 'ceiling=2' of tenant a is there for the second time",
                "\"tenant-quotas=a:ceiling=1,a:objects=2\nend\" | tenant a is named for the second time",
                "\"tenant-quotas=a:floor=1\nend\" | tenant a has no 'floor'",
                "\"tenant-quotas=a:ceiling=0\nend\" | ceiling of tenant a must be above 0",
                "\"tenant-quotas=a:objects=-1\nend\" | objects of tenant a must be above 0",
                "\"tenant-quotas=a:ceiling=-1\nend\" | '-1' is no amount of ceiling for tenant a",
                "\"tenant-quotas=a:ceiling=99999999999999999999\nend\" | is no amount of ceiling for tenant a",
                "\"tenant-quotas=a:ceiling=99999999Pi\nend\" | is no amount of ceiling for tenant a",
                "\"tenant-quotas=a:guaranteed=2:ceiling=1\nend\" | the ceiling of tenant a is below its guarantee"
            })
    void aWrongTextIsRefusedAsAWhole(String text, String problem) {
        assertThatThrownBy(() -> CacheRulesText.parse(text, START))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining(problem);
    }

    /** Wherever it is cut: what is there of it is refused, but for the end of its last line. */
    @Test
    void aTextCutOffAnywhereIsRefused() {
        int whole = ALL.strip().length();
        for (int length = 0; length < whole; length++) {
            String cut = ALL.substring(0, length);
            assertThatThrownBy(() -> CacheRulesText.parse(cut, START))
                    .as("the first %d characters", length)
                    .isInstanceOf(UsageException.class);
        }
    }

    @Test
    void everythingThatIsWrongIsToldAtOnce() {
        assertThatThrownBy(() -> CacheRulesText.parse("colour=1\nreplicas=0\nobject-lease=1", START))
                .hasMessageContainingAll("colour", "--replicas", "--object-lease", "not whole");
    }
}
