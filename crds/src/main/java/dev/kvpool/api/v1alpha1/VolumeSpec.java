// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** Where a segment file lies. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "!has(self.storageClassName) || (has(self.type) && self.type == 'persistentVolumeClaim')",
        message = "storageClassName is for type persistentVolumeClaim: leave it out, or set that type")
public record VolumeSpec(
        @JsonPropertyDescription(
                "emptyDir: memory of the pod. It survives restarts of the container, not replacement of the"
                        + " pod. persistentVolumeClaim: a volume for each storage node, which also a pod that is made"
                        + " anew finds again; best a local one, whose storage class binds to its first consumer.")
        @Default("emptyDir")
        VolumeType type,

        @JsonPropertyDescription("Storage class of the claims. Default: the cluster's own.") @Size(min = 1, max = 253)
        String storageClassName) {

    public VolumeSpec {
        type = type == null ? VolumeType.EMPTY_DIR : type;
    }

    /** In memory of the pod. */
    public VolumeSpec() {
        this(null, null);
    }

    /** Whether what is on it is still there when the pod has been replaced. */
    public boolean outlivesPods() {
        return type == VolumeType.PERSISTENT_VOLUME_CLAIM;
    }
}
