// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.pod.PodTemplate;
import dev.kvpool.api.v1alpha1.security.ServiceAccountName;
import dev.kvpool.api.v1alpha1.security.TenantAccess;
import dev.kvpool.api.v1alpha1.security.TenantSpec;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.naming.PoolNames;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Which ServiceAccounts get certificates of a pool, and as what: the rules by which masters enrol. */
public final class AccountRoles {
    /** Each ServiceAccount of a namespace that has no role of its own. */
    private static final String ANY = "*";

    /** A storage node. */
    static final String NODE = "node";

    private final List<Role> roles = new ArrayList<>();

    /**
     * What pods with a ServiceAccount are.
     *
     * @param account NAMESPACE/NAME
     * @param role as masters read it
     */
    private record Role(String account, String role) {}

    private AccountRoles() {}

    /**
     * Those of a pool.
     *
     * @param engine the pool's own transfer engine, whose agents there are
     * @param present accounts of storage pods that are there
     */
    public static AccountRoles of(
            PoolNames names,
            KvCachePoolSpec spec,
            TransferEngineSpec engine,
            ServiceAccountName operator,
            List<StorageAccount> present) {
        AccountRoles all = new AccountRoles();
        String namespace = names.namespace() + "/";
        for (StorageSetSpec set : spec.storage()) {
            all.add(namespace + ofSet(names, set), set.perNode() == null ? NODE : NODE + " " + set.name());
        }
        present.forEach(account -> all.addPresent(namespace + account.name(), account.role()));
        if (engine.agents() != null) {
            all.add(namespace + ofAgents(names, engine), "agent");
        }
        all.addAskers(names, operator);
        all.addTenants(names, spec);
        return all;
    }

    private void addTenants(PoolNames names, KvCachePoolSpec spec) {
        String namespace = names.namespace() + "/";
        if (spec.tenants().isEmpty()) {
            // Who may create pods there is a member of the pool already: engines beside it need no further words.
            // Those of the pool itself that have no role are not engines, though.
            addNone(namespace + names.masters(), namespace + names.storage(), namespace + names.agents());
            add(namespace + ANY, "tenant " + TenantSpec.DEFAULT + " rw");
        }
        for (TenantSpec tenant : spec.tenants()) {
            String role = "tenant " + tenant.name() + (tenant.access() == TenantAccess.READ_ONLY ? " ro" : " rw");
            tenant.serviceAccounts().forEach(account -> add(account.text(), role));
        }
    }

    /** Those of these accounts that have no role. */
    private void addNone(String... accounts) {
        Stream.of(accounts)
                .filter(account ->
                        roles.stream().noneMatch(role -> role.account().equals(account)))
                .forEach(account -> add(account, "none"));
    }

    /** What certificates of others stand for that name ServiceAccounts. Who shows a token has none of them. */
    public static AccountRoles ofForeign(
            PoolNames names, KvCachePoolSpec spec, ServiceAccountName operator, List<StorageAccount> present) {
        AccountRoles all = new AccountRoles();
        String namespace = names.namespace() + "/";
        all.add(namespace + names.masters(), "master");
        for (StorageSetSpec set : spec.storage()) {
            all.add(namespace + ofSet(names, set), NODE);
        }
        present.forEach(account -> all.addPresent(namespace + account.name(), NODE));
        all.addNone(namespace + names.preflight(), namespace + names.admins(), operator.text());
        all.addTenants(names, spec);
        return all;
    }

    /** Those whose tokens stand for certificates, in a pool that signs none. */
    public static AccountRoles ofAskers(PoolNames names, ServiceAccountName operator) {
        AccountRoles all = new AccountRoles();
        all.addAskers(names, operator);
        return all;
    }

    private void addAskers(PoolNames names, ServiceAccountName operator) {
        String namespace = names.namespace() + "/";
        add(namespace + names.preflight(), "monitor");
        add(namespace + names.admins(), "admin");
        add(operator.text(), "operator");
    }

    /** Where storage nodes of the spec have the account, pods from before are taken for these: the spec would be refused else. */
    private void addPresent(String account, String role) {
        boolean isNode = roles.stream()
                .anyMatch(
                        known -> known.account().equals(account) && known.role().startsWith(NODE));
        if (!isNode) {
            add(account, role);
        }
    }

    private void add(String account, String role) {
        roles.add(new Role(account, role));
    }

    /** The ServiceAccount of the pods of a storage set. The token of a pod of a perNode set says its node and not its set, so each has its own. */
    public static String ofSet(PoolNames names, StorageSetSpec set) {
        return chosen(set.podTemplate())
                .orElseGet(() -> set.perNode() == null ? names.storage() : names.storageOf(set.name()));
    }

    /** That of agents. */
    public static String ofAgents(PoolNames names, TransferEngineSpec engine) {
        return chosen(engine.agents().podTemplate()).orElseGet(names::agents);
    }

    private static Optional<String> chosen(PodTemplate template) {
        return Optional.ofNullable(template.serviceAccountName());
    }

    /** The file that masters read: a line for each account, always in the same order. */
    public String text() {
        return roles.stream()
                .map(role -> role.account() + " " + role.role())
                .distinct()
                .collect(Collectors.joining("\n", "", "\n"));
    }

    /** Accounts that would be two things at once, each with what it would be; masters refuse such a file. */
    public Map<String, Set<String>> ambiguous() {
        Map<String, Set<String>> byAccount = new LinkedHashMap<>();
        roles.forEach(role -> byAccount
                .computeIfAbsent(role.account(), none -> new LinkedHashSet<>())
                .add(role.role()));
        byAccount.values().removeIf(several -> several.size() < 2);
        return byAccount;
    }
}
