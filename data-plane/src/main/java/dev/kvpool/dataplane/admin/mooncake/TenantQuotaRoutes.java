// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.admin.Answers;
import dev.kvpool.dataplane.admin.MasterAdmin;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.master.core.report.QuotaStatus;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.QuotaOutcomes.Costs;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts.Balance;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How tenants stand to their quotas, by the path and the names that Mooncake's master has for it. The leader alone knows. A tenant sees
 * its own only. They can be changed here where all masters read them from one file that they may write, as in a local pool; elsewhere
 * what masters start with, or read, would bring them back at the next change of leaders.
 */
final class TenantQuotaRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PATH = "/api/v1/tenant_quotas";
    private static final String TENANT = "tenant_id";

    private final MasterAdmin master;

    private TenantQuotaRoutes(MasterAdmin master) {
        this.master = master;
    }

    static List<Route> of(MasterAdmin master) {
        TenantQuotaRoutes routes = new TenantQuotaRoutes(master);
        return List.of(
                Route.get(PATH, Answers.ofLeader(master, routes::show)),
                Route.put(PATH, ErrorCode.inJson(request -> routes.change(request, true))),
                Route.delete(PATH, ErrorCode.inJson(request -> routes.change(request, false))));
    }

    private Response change(Request request, boolean gives) {
        Tenant tenant = Answers.named(request, TENANT)
                .orElseThrow(() -> new IllegalArgumentException("name the tenant with ?" + TENANT + "=NAME"));
        if (!master.changesQuotas()) {
            return refuse();
        }
        if (!master.isLeader()) {
            return ErrorCode.notServing(master);
        }
        OptionalLong ceiling = gives
                ? OptionalLong.of(QuotaRequest.parse(request.body().read(QuotaRequest.BODY_BYTES_MAX)))
                : OptionalLong.empty();
        if (!gives && !master.rules().rules().quotas().byTenant().containsKey(tenant.name())) {
            return noQuota(tenant.name());
        }
        try {
            Answers.await(master.changeQuota(tenant, ceiling));
        } catch (IllegalStateException e) {
            return ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS.answer(e.getMessage());
        }
        ObjectNode root = JSON.createObjectNode().put("success", true);
        put(root.putObject("data"), now(tenant.name()));
        return Response.json(200, root.toString());
    }

    /** What the tenant has, which may be of a moment ago, and what it may have now. */
    private QuotaStatus now(String tenant) {
        Quota quota = master.rules().rules().quotas().of(tenant);
        return master.status().quotas().stream()
                .filter(status -> status.tenant().equals(tenant))
                .findFirst()
                .map(known -> new QuotaStatus(tenant, quota, known.used(), known.costs()))
                .orElse(new QuotaStatus(tenant, quota, new Balance(0, 0, 0, 0), Costs.NONE));
    }

    private Response show(Request request) {
        return show(request, master.status().quotas());
    }

    /** The answer: of the tenant that is named, or of all that have a quota, were refused or have lost anything, as far as the caller may see. */
    static Response show(Request request, List<QuotaStatus> quotas) {
        Optional<String> one = Answers.named(request, TENANT).map(Tenant::name);
        List<QuotaStatus> shown = quotas.stream()
                .filter(status -> one.isEmpty() || status.tenant().equals(one.get()))
                .toList();
        ObjectNode root = JSON.createObjectNode().put("success", true);
        if (request.parameter(TENANT).isEmpty()) {
            shown.forEach(status -> put(root.withArray("data").addObject(), status));
            root.withArray("data");
            return Response.json(200, root.toString());
        }
        if (shown.isEmpty()) {
            return noQuota(one.orElseThrow());
        }
        put(root.putObject("data"), shown.getFirst());
        return Response.json(200, root.toString());
    }

    /** As Mooncake names it, and what that has no name for. Ceilings that a tenant does not have are left out. */
    private static void put(ObjectNode object, QuotaStatus status) {
        Quota quota = status.quota();
        object.put(TENANT, status.tenant());
        if (quota.ceilingBytes() != Quota.UNLIMITED) {
            object.put("requested_quota_bytes", quota.ceilingBytes())
                    .put("effective_quota_bytes", quota.ceilingBytes());
        }
        object.put("used_bytes", status.used().bytes())
                .put("reserved_bytes", status.used().grantedBytes())
                .put("committed_count", status.used().objects())
                .put("metadata_object_count", status.used().allObjects())
                .put("over_quota", status.isOver())
                .put("has_explicit_policy", !quota.equals(Quota.NONE))
                .put("guaranteed_bytes", quota.guaranteedBytes());
        if (quota.ceilingObjects() != Quota.UNLIMITED) {
            object.put("ceiling_objects", quota.ceilingObjects());
        }
    }

    private static Response noQuota(String tenant) {
        return ErrorCode.TENANT_NOT_REGISTERED.answer(
                "tenant " + tenant + " has no quota: GET " + PATH + " lists all that have one");
    }

    private Response refuse() {
        return ErrorCode.UNAVAILABLE_IN_CURRENT_MODE.answer(
                remedy(!master.rules().digest().isEmpty()));
    }

    /**
     * Why a change is refused, and where it is made instead.
     *
     * @param ofFile the rules that count are those of a file
     */
    static String remedy(boolean ofFile) {
        return ofFile
                ? "quotas are those of the file of cache rules, which all masters read: change its line tenant-quotas, or in"
                        + " Kubernetes spec.tenants[].bytes and objects of the KvCachePool"
                : "quotas are those that masters started with: restart all of them with other --tenant-quotas, or give them"
                        + " --cache-rules-file, whose line tenant-quotas they read as they run";
    }
}
