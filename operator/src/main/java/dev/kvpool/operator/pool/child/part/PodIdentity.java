// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import java.util.List;

/** Environment that tells a container which pod it is in. Arguments refer to it as {@code $(POD_NAME)}. */
public final class PodIdentity {
    private PodIdentity() {}

    public static List<EnvVar> environment() {
        return List.of(
                field("POD_NAME", "metadata.name"),
                field("POD_NAMESPACE", "metadata.namespace"),
                field("POD_IP", "status.podIP"));
    }

    public static EnvVar field(String name, String path) {
        return new EnvVarBuilder()
                .withName(name)
                .withNewValueFrom()
                .withNewFieldRef()
                .withApiVersion("v1")
                .withFieldPath(path)
                .endFieldRef()
                .endValueFrom()
                .build();
    }

    static EnvVar value(String name, String value) {
        return new EnvVarBuilder().withName(name).withValue(value).build();
    }
}
