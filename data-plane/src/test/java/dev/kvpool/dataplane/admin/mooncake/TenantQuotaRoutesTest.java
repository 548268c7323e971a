// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.http.Caller;
import dev.kvpool.dataplane.http.NotPermittedException;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.master.core.report.QuotaStatus;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.QuotaOutcomes.Costs;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts.Balance;
import dev.kvpool.identity.name.PeerName;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Quotas by Mooncake's path: its names, and a tenant sees its own only. */
class TenantQuotaRoutesTest {
    private static final UUID POOL = new UUID(1, 1);
    private static final List<QuotaStatus> QUOTAS = List.of(
            new QuotaStatus("chat", new Quota(100, 200, 3), new Balance(1, 64, 2, 128), Costs.NONE),
            new QuotaStatus("default", Quota.NONE, new Balance(5, 640, 0, 0), new Costs(0, 7, 448)),
            new QuotaStatus("search", new Quota(0, 100, Quota.UNLIMITED), new Balance(1, 101, 0, 0), Costs.NONE));
    private static final String CHAT =
            "{\"tenant_id\":\"chat\",\"requested_quota_bytes\":200,\"effective_quota_bytes\":200,"
                    + "\"used_bytes\":64,\"reserved_bytes\":128,\"committed_count\":1,\"metadata_object_count\":3,\"over_quota\":false,"
                    + "\"has_explicit_policy\":true,\"guaranteed_bytes\":100,\"ceiling_objects\":3}";
    private static final String DEFAULT =
            "{\"tenant_id\":\"default\",\"used_bytes\":640,\"reserved_bytes\":0,\"committed_count\":5,"
                    + "\"metadata_object_count\":5,\"over_quota\":false,\"has_explicit_policy\":false,\"guaranteed_bytes\":0}";
    private static final String SEARCH =
            "{\"tenant_id\":\"search\",\"requested_quota_bytes\":100,\"effective_quota_bytes\":100,\"used_bytes\":101,"
                    + "\"reserved_bytes\":0,\"committed_count\":1,\"metadata_object_count\":1,\"over_quota\":true,"
                    + "\"has_explicit_policy\":true,\"guaranteed_bytes\":0}";

    private static Response show(String named, String caller) {
        Caller who = new Caller(
                Optional.ofNullable(caller).map(path -> PeerName.ofPath(POOL, path)),
                "",
                InetAddress.ofLiteral("127.0.0.1"));
        Map<String, String> query = named == null ? Map.of() : Map.of("tenant_id", named);
        return TenantQuotaRoutes.show(new Request(query, Optional.empty(), who, bytesMax -> ""), QUOTAS);
    }

    private static void assertAnswer(Response answer, int status, String body) {
        assertThat(answer.body()).isEqualTo(body);
        assertThat(answer.status()).isEqualTo(status);
    }

    private static String noQuota(String tenant) {
        return "{\"success\":false,\"error_code\":-1701,\"error_message\":\"TENANT_NOT_REGISTERED: tenant " + tenant
                + " has no quota: GET /api/v1/tenant_quotas lists all that have one\"}";
    }

    @ParameterizedTest
    @ValueSource(strings = {"admin/x", "operator", "monitor", ""})
    void membersSeeAllAndOne(String caller) {
        String path = caller.isEmpty() ? null : caller;
        assertAnswer(
                show(null, path), 200, "{\"success\":true,\"data\":[" + CHAT + "," + DEFAULT + "," + SEARCH + "]}");
        assertAnswer(show("search", path), 200, "{\"success\":true,\"data\":" + SEARCH + "}");
        assertAnswer(show("other", path), 404, noQuota("other"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"tenant/chat/rw/x", "tenant/chat/ro/x"})
    void aTenantSeesItsOwnOnly(String caller) {
        assertAnswer(show(null, caller), 200, "{\"success\":true,\"data\":[" + CHAT + "]}");
        assertAnswer(show("chat", caller), 200, "{\"success\":true,\"data\":" + CHAT + "}");
        for (String other : List.of("search", "default", "never-was")) {
            assertThatThrownBy(() -> show(other, caller))
                    .isInstanceOf(NotPermittedException.class)
                    .hasMessage(
                            "a certificate of tenant chat is good for that tenant only; leave tenant_id=%s out", other);
        }
    }

    @Test
    void oneWithoutAQuotaSeesNone() {
        assertAnswer(show(null, "tenant/new/rw/x"), 200, "{\"success\":true,\"data\":[]}");
        assertAnswer(show("new", "tenant/new/rw/x"), 404, noQuota("new"));
    }

    @Test
    void aRefusedChangeNamesWhereToMakeIt() {
        assertThat(TenantQuotaRoutes.remedy(true)).contains("tenant-quotas", "spec.tenants[].bytes");
        assertThat(TenantQuotaRoutes.remedy(false)).contains("--tenant-quotas", "--cache-rules-file");
    }
}
