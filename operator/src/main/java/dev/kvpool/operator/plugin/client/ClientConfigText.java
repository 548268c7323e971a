// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.client;

import dev.kvpool.api.v1alpha1.security.ServiceAccountName;
import dev.kvpool.api.v1alpha1.security.TenantSpec;
import dev.kvpool.operator.pool.child.IdentityConfigMap;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;

/** What engines need to use a secure pool, as text that kubectl can apply. Pure. */
public final class ClientConfigText {
    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    private ClientConfigText() {}

    /**
     * The text.
     *
     * @param client what engines know of the pool
     * @param identity by what they get certificates
     */
    public static String of(
            PoolNames names,
            ServiceAccountName account,
            List<TenantSpec> tenants,
            ConfigMap client,
            ConfigMap identity) {
        boolean elsewhere = !account.namespace().equals(names.namespace());
        String comment = """
                # How engines of namespace %2$s use pool %1$s/%3$s. %4$s
                # %5$s
                # In their pods:
                #
                # spec:
                #   serviceAccountName: %6$s
                #   containers:
                #     - name: engine
                #       envFrom: [{configMapRef: {name: %8$s}}]
                #       env: [{name: KVPOOL_IDENTITY_DIR, value: /etc/kvpool-identity}]
                #       volumeMounts: [{name: kvpool-identity, mountPath: /etc/kvpool-identity, readOnly: true}]
                #   volumes:
                #     - name: kvpool-identity
                #       projected:
                #         sources:
                #           - serviceAccountToken: {path: token, audience: %7$s, expirationSeconds: 3600}
                #           - configMap: {name: %9$s}
                """.formatted(
                        names.namespace(),
                        account.namespace(),
                        names.pool(),
                        tenant(account, tenants, elsewhere),
                        elsewhere
                                ? "Its ConfigMaps change when the pool's masters or certificate authority do: apply this again then."
                                : "The operator keeps the ConfigMaps there; nothing is to be applied.",
                        account.name(),
                        IdentityConfigMap.audience(identity),
                        names.clientConfigMap(),
                        names.identity());
        return elsewhere ? comment + copy(client, account.namespace()) + copy(identity, account.namespace()) : comment;
    }

    private static String copy(ConfigMap map, String namespace) {
        return YAML.asYaml(new ConfigMapBuilder()
                .withNewMetadata()
                .withName(map.getMetadata().getName())
                .withNamespace(namespace)
                // Whose copy it is, where there are pools of one name.
                .addToAnnotations(
                        PoolLabels.POOL_ID, map.getMetadata().getAnnotations().get(PoolLabels.POOL_ID))
                .endMetadata()
                .withData(map.getData())
                .build());
    }

    private static String tenant(ServiceAccountName account, List<TenantSpec> tenants, boolean elsewhere) {
        if (tenants.isEmpty() && !elsewhere) {
            return "Each ServiceAccount of the pool's namespace is of tenant %s.".formatted(TenantSpec.DEFAULT);
        }
        return tenants.stream()
                .filter(tenant -> tenant.serviceAccounts().contains(account))
                .findFirst()
                .map(tenant -> "ServiceAccount %s is of tenant %s.".formatted(account.name(), tenant.name()))
                .orElse(
                        "ServiceAccount %s is of no tenant and gets no certificate: add {namespace: %s, name: %s} to spec.tenants."
                                .formatted(account.name(), account.namespace(), account.name()));
    }
}
