// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.List;

/**
 * What a Job of a pool is made with, whatever it does.
 *
 * @param metadata its name, labels and owner; its pods have the same labels
 * @param pullPolicy in the words of a pod
 */
public record JobTerms(ObjectMeta metadata, String image, String pullPolicy, List<LocalObjectReference> pullSecrets) {
    public static final String IF_NOT_PRESENT = "IfNotPresent";

    /** Those of a pool that is there. */
    public static JobTerms of(PoolBlueprint pool, String name, String role, String image) {
        return new JobTerms(
                pool.metadata(name, PoolLabels.ofRole(pool.names().pool(), role)),
                image,
                pool.pullPolicy(),
                pool.pullSecrets());
    }
}
