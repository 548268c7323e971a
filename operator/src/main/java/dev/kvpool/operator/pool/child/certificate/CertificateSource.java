// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.certificate;

import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.List;
import java.util.Map;

/** Where processes of one role have their certificates from. */
interface CertificateSource {
    PodSpecBuilder apply(PodSpecBuilder pod);

    void apply(ContainerBuilder container);

    /** What the command line of a process says, in whose name the kubelet may put variables. */
    List<String> arguments(String process);

    /** What the template of a master says, so that the operator knows by which root each master is verified. */
    default Map<String, String> notes() {
        return Map.of();
    }

    /** For digests of what is asked for. */
    default Map<String, Object> asked() {
        return Map.of();
    }
}
