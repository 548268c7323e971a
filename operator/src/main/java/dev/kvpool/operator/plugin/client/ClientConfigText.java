// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.client;

import dev.kvpool.api.v1alpha1.pod.MastersSpec;
import dev.kvpool.api.v1alpha1.security.ServiceAccountName;
import dev.kvpool.api.v1alpha1.security.TenantSpec;
import dev.kvpool.operator.pool.child.part.MemberIdentity;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.security.PoolTrust;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.util.List;
import java.util.stream.Collectors;

/** What engines need to get certificates of a pool, as text that kubectl can apply. Pure. */
final class ClientConfigText {
    private ClientConfigText() {}

    /** Identity of the pool, as an object of it says. */
    static String poolId(ConfigMap map) {
        return map.getMetadata().getAnnotations().get(PoolLabels.POOL_ID);
    }

    static String of(
            PoolNames names, String poolId, PoolTrust trust, ServiceAccountName account, List<TenantSpec> tenants) {
        return """
                # How engines of namespace %2$s get certificates of pool %1$s/%3$s. %4$s
                apiVersion: v1
                kind: ConfigMap
                metadata:
                  name: %3$s-identity
                  namespace: %2$s
                data:
                  admins: %5$s
                  ca.crt: |
                %6$s
                # In the pods of the engines, beside what ConfigMap %3$s-client has:
                #
                # spec:
                #   serviceAccountName: %7$s
                #   containers:
                #     - name: engine
                #       env: [{name: KVPOOL_IDENTITY_DIR, value: /var/run/kvpool}]
                #       volumeMounts: [{name: kvpool-identity, mountPath: /var/run/kvpool, readOnly: true}]
                #   volumes:
                #     - name: kvpool-identity
                #       projected:
                #         sources:
                #           - serviceAccountToken: {path: token, audience: %8$s, expirationSeconds: 3600}
                #           - configMap: {name: %3$s-identity}
                """.formatted(
                        names.namespace(),
                        account.namespace(),
                        names.pool(),
                        tenant(account, tenants),
                        String.join(",", names.enrolmentAddresses(MastersSpec.REPLICAS_MAX)),
                        indented(trust.roots()),
                        account.name(),
                        MemberIdentity.audience(poolId));
    }

    private static String tenant(ServiceAccountName account, List<TenantSpec> tenants) {
        return tenants.stream()
                .filter(tenant -> tenant.serviceAccounts().contains(account))
                .findFirst()
                .map(tenant -> "ServiceAccount %s is of tenant %s.".formatted(account.name(), tenant.name()))
                .orElse(
                        "ServiceAccount %s is of no tenant and gets none: add {namespace: %s, name: %s} to spec.tenants."
                                .formatted(account.name(), account.namespace(), account.name()));
    }

    private static String indented(String text) {
        return text.strip().lines().map(line -> "    " + line).collect(Collectors.joining("\n"));
    }
}
