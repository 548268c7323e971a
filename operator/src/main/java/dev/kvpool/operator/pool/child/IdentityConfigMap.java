// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.pod.MastersSpec;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.certificate.Enrolment;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.security.NamesOfOthers;
import dev.kvpool.operator.pool.security.PoolTrust;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a pod of an engine mounts beside its token to get a certificate (KVPOOL_IDENTITY_DIR): in the pool's namespace the operator keeps
 * it, elsewhere `kubectl kvpool client-config` prints it. Where others make the certificates, by what the check of an upgrade knows masters, and all processes
 * those whose certificates name ServiceAccounts. Nothing in it is secret.
 */
public final class IdentityConfigMap {
    /** Of the token; pods name it in their volume. */
    private static final String AUDIENCE = "audience";

    private IdentityConfigMap() {}

    /** Of a pool whose certificate authority is active, or whose certificates others make. */
    public static ConfigMap of(PoolBlueprint pool) {
        Map<String, String> data = new LinkedHashMap<>();
        // Of as many masters as there can be: so it stays the same when their number changes.
        data.put("admins", String.join(",", pool.names().enrolmentAddresses(MastersSpec.REPLICAS_MAX)));
        data.put(AUDIENCE, Enrolment.audience(pool.poolId()));
        data.put(PoolTrust.ROOTS, pool.security().roots());
        NamesOfOthers.of(
                        pool.names(),
                        pool.spec(),
                        pool.poolId(),
                        pool.security().operator(),
                        pool.security().present())
                .ifPresent(names -> data.put(NamesOfOthers.FILE, names));
        return new ConfigMapBuilder()
                .withMetadata(pool.metadata(
                        pool.names().identity(), PoolLabels.ofPool(pool.names().pool())))
                .withData(data)
                .build();
    }

    /** Of the tokens that the pool takes, as such a ConfigMap says. */
    public static String audience(ConfigMap map) {
        return map.getData().get(AUDIENCE);
    }
}
