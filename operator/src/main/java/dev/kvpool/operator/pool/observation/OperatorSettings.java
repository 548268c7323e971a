// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.api.v1alpha1.security.ServiceAccountName;
import dev.kvpool.operator.pool.security.RotationTerms;
import java.util.List;

/**
 * What the operator was installed with.
 *
 * @param image image of masters and storage nodes for pools that name none
 * @param version product version of that image
 * @param namespace the operator's own namespace, from which it asks masters
 * @param serviceAccount the operator's own ServiceAccount, by which masters of secure pools know it
 * @param drainTaints keys of taints by which autoscalers say that a Kubernetes node is about to go; it counts as cordoned then
 * @param platformUser whether the cluster gives pods their user, group and file system group, as OpenShift does
 * @param deviceHealth whether storage nodes on NPUs that are not well are emptied
 * @param rotation how certificate authorities of pools follow each other
 * @param rollout how pools are brought to what this operator makes of specs that an earlier one made other pods of
 */
public record OperatorSettings(
        String image,
        String version,
        String namespace,
        String serviceAccount,
        List<String> drainTaints,
        boolean platformUser,
        boolean deviceHealth,
        RotationTerms rotation,
        RolloutTerms rollout) {

    /**
     * What the chart's rollout says.
     *
     * @param pools how many pools are brought to it at a time
     * @param storageVolumes whether that replaces storage nodes whose volume outlives them, without being asked
     */
    public record RolloutTerms(int pools, boolean storageVolumes) {
        public static final RolloutTerms DEFAULT = new RolloutTerms(1, false);
    }

    /** As the chart names it where nothing else is asked for. */
    private static final String SERVICE_ACCOUNT = "kvpool";

    /** Those of Karpenter, since 1.0 and before, and of the Cluster Autoscaler; the chart has the same. */
    private static final List<String> DRAIN_TAINTS =
            List.of("karpenter.sh/disrupted", "karpenter.sh/disruption", "ToBeDeletedByClusterAutoscaler");

    public OperatorSettings {
        drainTaints = List.copyOf(drainTaints);
    }

    /** The operator's own ServiceAccount with its namespace. */
    public ServiceAccountName account() {
        return new ServiceAccountName(namespace, serviceAccount);
    }

    /** With the taints of the autoscalers that are known. */
    public OperatorSettings(String image, String version, String namespace) {
        this(
                image,
                version,
                namespace,
                SERVICE_ACCOUNT,
                DRAIN_TAINTS,
                false,
                false,
                RotationTerms.DEFAULT,
                RolloutTerms.DEFAULT);
    }
}
