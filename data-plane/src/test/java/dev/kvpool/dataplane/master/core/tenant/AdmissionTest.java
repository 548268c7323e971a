// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.master.core.tenant.TenantAccounts.Balance;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdmissionTest {
    private static final long NONE = Quota.UNLIMITED;

    @ParameterizedTest
    @CsvSource({
        // ceilings: bytes, objects; stored: bytes, objects; granted: bytes, objects; more: bytes, objects
        "100, 0,   0, 0,    0, 0,   100, 1,  FITS",
        "100, 0,   0, 0,    0, 0,   101, 1,  NEVER",
        "100, 0,   50, 1,   0, 0,   50, 1,   FITS",
        "100, 0,   51, 1,   0, 0,   50, 1,   AFTER_EVICTION",
        "100, 0,   0, 0,    51, 1,  50, 1,   AFTER_PUTS",
        "100, 0,   50, 1,   20, 1,  30, 1,   FITS",
        "100, 0,   51, 1,   20, 1,  30, 1,   AFTER_EVICTION",
        "0, 3,     900, 2,  0, 0,   900, 1,  FITS",
        "0, 3,     900, 3,  0, 0,   1, 1,    AFTER_EVICTION",
        "0, 3,     0, 0,    9, 3,   1, 1,    AFTER_PUTS",
        "100, 3,   100, 1,  0, 3,   1, 1,    AFTER_PUTS",
        "100, 3,   0, 0,    0, 3,   101, 1,  NEVER",
        "0, 0,     900, 9,  900, 9, 900, 9,  FITS",
        "0, 3,     900, 1,  0, 0,   9223372036854775807, 1, FITS",
        "100, 0,   100, 1,  0, 0,   9223372036854775807, 1, NEVER",
        // whether anything stored has to go as it is
        "100, 0,   100, 1,  0, 0,   0, 0,    FITS",
        "100, 0,   101, 1,  0, 0,   0, 0,    AFTER_EVICTION",
        "100, 0,   90, 1,   11, 1,  0, 0,    AFTER_EVICTION",
        "100, 0,   0, 0,    101, 1, 0, 0,    FITS",
    })
    void aTenantStaysAtItsCeilings(
            long ceilingBytes,
            long ceilingObjects,
            long bytes,
            long objects,
            long grantedBytes,
            long grantedObjects,
            long moreBytes,
            long moreObjects,
            Admission answer) {
        Quota quota =
                new Quota(0, ceilingBytes == 0 ? NONE : ceilingBytes, ceilingObjects == 0 ? NONE : ceilingObjects);
        assertThat(Admission.of(
                        quota, new Balance(objects, bytes, grantedObjects, grantedBytes), moreObjects, moreBytes))
                .isEqualTo(answer);
    }

    @Test
    void quotasThatCannotBeAreRefused() {
        assertThatThrownBy(() -> new Quota(-1, NONE, NONE)).hasMessageContaining("guarantee");
        assertThatThrownBy(() -> new Quota(0, 0, NONE)).hasMessageContaining("ceiling");
        assertThatThrownBy(() -> new Quota(0, NONE, 0)).hasMessageContaining("ceiling");
        assertThatThrownBy(() -> new Quota(11, 10, NONE)).hasMessageContaining("ceiling of 10 bytes is below");
        assertThatThrownBy(() -> new Quotas(Map.of("Not-a-label", Quota.NONE))).hasMessageContaining("DNS label");
    }

    /** Puts of three tenants come, end well or not, and leave in any order: accounts are what is there, and below the ceilings. */
    @Test
    void whatIsBookedIsWhatIsThere() {
        record Put(Tenant tenant, Key key, long bytes) {}
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        List<Tenant> tenants = List.of(Tenant.DEFAULT, Tenant.of("a"), Tenant.of("b"));
        Quotas quotas = new Quotas(Map.of("default", new Quota(0, 900, 7), "a", new Quota(0, 700, NONE)));
        TenantAccounts accounts = new TenantAccounts();
        List<Put> granted = new ArrayList<>();
        List<Put> stored = new ArrayList<>();
        int refused = 0;
        int evicted = 0;
        for (int i = 0; i < 20_000; i++) {
            Tenant tenant = tenants.get(random.nextInt(tenants.size()));
            Put put = new Put(tenant, tenant.qualify(Key.of("k" + i)), 1 + random.nextInt(200));
            Quota quota = quotas.of(tenant.name());
            while (Admission.of(quota, accounts.of(tenant.name()), 1, put.bytes) == Admission.AFTER_EVICTION) {
                Put oldest = stored.stream()
                        .filter(it -> it.tenant.equals(tenant))
                        .findFirst()
                        .orElseThrow();
                stored.remove(oldest);
                book(accounts, oldest.tenant, oldest.key, -1, -oldest.bytes);
                evicted++;
            }
            if (Admission.of(quota, accounts.of(tenant.name()), 1, put.bytes) == Admission.FITS) {
                granted.add(put);
                accounts.granted(put.key, 1, put.bytes);
            } else {
                refused++;
            }
            while (!granted.isEmpty() && random.nextInt(9) > 3) {
                Put ended = granted.remove(random.nextInt(granted.size()));
                if (random.nextBoolean()) {
                    stored.add(ended);
                    book(accounts, ended.tenant, ended.key, 1, ended.bytes);
                }
                accounts.granted(ended.key, -1, -ended.bytes);
            }
            for (Tenant each : tenants) {
                Balance has = accounts.of(each.name());
                List<Put> theirs =
                        stored.stream().filter(it -> it.tenant.equals(each)).toList();
                List<Put> open =
                        granted.stream().filter(it -> it.tenant.equals(each)).toList();
                assertThat(has)
                        .as("tenant %s, seed %d", each, seed)
                        .isEqualTo(new Balance(
                                theirs.size(),
                                theirs.stream().mapToLong(Put::bytes).sum(),
                                open.size(),
                                open.stream().mapToLong(Put::bytes).sum()));
                assertThat(has.allBytes())
                        .isLessThanOrEqualTo(quotas.of(each.name()).ceilingBytes());
                assertThat(has.allObjects())
                        .isLessThanOrEqualTo(quotas.of(each.name()).ceilingObjects());
            }
            if (random.nextInt(500) == 0) {
                stored.removeIf(it -> {
                    boolean goes = it.tenant.equals(tenant);
                    if (goes) {
                        book(accounts, it.tenant, it.key, -1, -it.bytes);
                    }
                    return goes;
                });
            }
        }
        assertThat(refused).isPositive();
        assertThat(evicted).isPositive();
    }

    private static void book(TenantAccounts accounts, Tenant tenant, Key key, long objects, long bytes) {
        if (tenant.isDefault()) {
            accounts.storedOfDefault(objects, bytes);
        } else {
            accounts.stored(key, objects, bytes);
        }
    }
}
