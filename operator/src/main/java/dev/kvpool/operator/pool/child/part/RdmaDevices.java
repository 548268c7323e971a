// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Optional;

/**
 * What RDMA cards add to a pod that speaks UCX: the devices, of which the plugin brings the files, and the right to lock
 * memory, which registering it does. UCX finds the cards by itself.
 */
public final class RdmaDevices {
    private RdmaDevices() {}

    /** Under its limits too, as extended resources cannot be overcommitted. */
    public static void addTo(ContainerResources resources, TransferEngineSpec engine) {
        Optional.ofNullable(engine.rdma())
                .ifPresent(
                        rdma -> resources.exactly(rdma.resourceName(), new Quantity(Integer.toString(rdma.count()))));
    }
}
