// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class GuaranteesTest {
    private static final long NONE = Quota.UNLIMITED;

    private static TenantAccounts accounts(Map<String, Long> bytes) {
        TenantAccounts accounts = new TenantAccounts();
        bytes.forEach((name, has) -> add(accounts, name, has));
        return accounts;
    }

    private static void add(TenantAccounts accounts, String name, long bytes) {
        Tenant tenant = Tenant.of(name);
        if (tenant.isDefault()) {
            accounts.storedOfDefault(1, bytes);
        } else {
            accounts.stored(tenant.qualify(Key.of("k")), 1, bytes);
        }
    }

    private static Quotas guaranteed(Map<String, Long> bytes) {
        Map<String, Quota> quotas = new TreeMap<>();
        bytes.forEach((name, floor) -> quotas.put(name, new Quota(floor, NONE, NONE)));
        return new Quotas(quotas);
    }

    @Test
    void aTenantNeverComesBelowItsGuarantee() {
        Guarantees now = new Guarantees(
                guaranteed(Map.of("a", 100L)), accounts(Map.of("a", 110L, "b", 1_000L)), 10_000, Map.of(), 10);
        assertThat(now.mayLose("a", 10, false)).isTrue();
        assertThat(now.mayLose("a", 11, false)).isFalse();
        assertThat(now.mayLose("b", 1_000, false)).isTrue();
        assertThat(now.mayLose("unknown", 1, false)).isFalse();
    }

    @Test
    void thoseFurthestAboveTheirsGoFirst() {
        // Above: default 300, a 200, b 50. Of 250 bytes default loses 175 and a 75, which leaves both 125 above.
        Quotas quotas = guaranteed(Map.of("a", 100L, "b", 50L));
        TenantAccounts accounts = accounts(Map.of("default", 300L, "a", 300L, "b", 100L));
        Guarantees now = new Guarantees(quotas, accounts, 10_000, Map.of(), 250);
        assertThat(now.mayLose("default", 1, true)).isTrue();
        assertThat(now.mayLose("a", 1, true)).isTrue();
        assertThat(now.mayLose("b", 1, true)).isFalse();
        assertThat(now.mayLose("b", 1, false)).isTrue();
        accounts.storedOfDefault(0, -175);
        assertThat(now.mayLose("default", 1, true))
                .as("poured off to the level")
                .isFalse();
        assertThat(now.mayLose("a", 1, true)).isTrue();
    }

    @Test
    void theOneFurthestAboveGoesFirstWhereNoBytesAreAskedFor() {
        Guarantees now = new Guarantees(
                guaranteed(Map.of("a", 1L)), accounts(Map.of("default", 300L, "a", 400L)), 10_000, Map.of(), 0);
        assertThat(now.mayLose("a", 1, true)).isTrue();
        assertThat(now.mayLose("default", 1, true)).isFalse();
    }

    @Test
    void guaranteesBeyondWhatThereIsAreScaledDown() {
        Quotas quotas = guaranteed(Map.of("a", 3_000L, "b", 1_000L));
        Guarantees now = new Guarantees(quotas, accounts(Map.of()), 1_000, Map.of(), 1);
        assertThat(now.floor("a")).isEqualTo(750);
        assertThat(now.floor("b")).isEqualTo(250);
        assertThat(new Guarantees(quotas, accounts(Map.of()), 0, Map.of(), 1).floor("a"))
                .isZero();
        assertThat(new Guarantees(quotas, accounts(Map.of()), 4_000, Map.of(), 1).floor("a"))
                .isEqualTo(3_000);
        Quotas huge = guaranteed(Map.of("a", Long.MAX_VALUE, "b", Long.MAX_VALUE));
        assertThat(new Guarantees(huge, accounts(Map.of()), 1_000, Map.of(), 1).floor("a"))
                .isEqualTo(500);
    }

    /** Whatever there is: what is taken from the furthest alone is enough where enough is above guarantees, and no tenant goes below its own. */
    @Test
    void theFurthestHaveEnough() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            Map<String, Long> has = new HashMap<>();
            Map<String, Long> floors = new HashMap<>();
            for (String name : new String[] {"default", "a", "b", "c", "d"}) {
                if (random.nextBoolean()) {
                    has.put(name, (long) random.nextInt(50));
                }
                if (random.nextBoolean()) {
                    floors.put(name, (long) random.nextInt(50));
                }
            }
            TenantAccounts accounts = accounts(has);
            long above = has.entrySet().stream()
                    .mapToLong(it -> Math.max(0, it.getValue() - floors.getOrDefault(it.getKey(), 0L)))
                    .sum();
            long toLose = 1L + random.nextInt(60);
            Guarantees now = new Guarantees(guaranteed(floors), accounts, Long.MAX_VALUE, Map.of(), toLose);
            long lost = 0;
            boolean goesOn = true;
            while (goesOn) {
                goesOn = false;
                for (String name : has.keySet()) {
                    if (now.mayLose(name, 1, true)) {
                        add(accounts, name, -1);
                        lost++;
                        goesOn = true;
                    }
                }
            }
            assertThat(lost).as("seed %d, round %d", seed, i).isGreaterThanOrEqualTo(Math.min(toLose, above));
            assertThat(lost).isLessThan(toLose + has.size() + 1);
            for (String name : has.keySet()) {
                assertThat(accounts.of(name).bytes())
                        .isGreaterThanOrEqualTo(Math.min(has.get(name), floors.getOrDefault(name, 0L)));
            }
        }
    }

    /** Where engines alone have memory. */
    @Test
    void aTenantHasAsMuchOfItsGuaranteeAsItsOwnEnginesLend() {
        Quotas quotas = guaranteed(Map.of("a", 4_000L, "b", 100L, "c", 100L));
        Map<String, Long> lent = Map.of("a", 1_000L, "b", Long.MAX_VALUE);
        Guarantees now = new Guarantees(quotas, accounts(Map.of("a", 1_001L)), 0, lent, 1);
        assertThat(now.floor("a")).isEqualTo(1_000);
        assertThat(now.floor("b")).isEqualTo(100);
        assertThat(now.floor("c")).isZero();
        assertThat(now.mayLose("a", 1, false)).isTrue();
        assertThat(new Guarantees(quotas, accounts(Map.of()), 420, lent, 1).floor("b"))
                .as("beside memory that all share")
                .isEqualTo(10);
    }
}
