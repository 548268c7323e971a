// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;

/** The network of the node, for pods whose transfer engine asks for it. */
public final class HostNetwork {
    private HostNetwork() {}

    public static void apply(PodSpecBuilder pod, TransferEngineSpec engine) {
        if (engine.hostNetwork()) {
            // Without the policy a pod on the host's network asks the host's DNS, which does not know the masters.
            pod.withHostNetwork(true).withDnsPolicy("ClusterFirstWithHostNet");
        }
    }
}
