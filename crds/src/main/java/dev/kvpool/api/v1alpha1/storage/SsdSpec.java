// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.PathRule;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;

/** Where objects go that have to leave the memory of a storage node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SsdSpec(
        @JsonPropertyDescription(
                "What each storage node may take of its disk, for example 1Ti. Each 64Gi cost 256Mi of memory.")
        @Required
        @ValidationRule(
                value = "quantity(string(self)).compareTo(quantity('16Mi')) >= 0",
                message = "capacity of an ssd must be a quantity of at least 16Mi, for example 1Ti")
        @ValidationRule(
                value = "quantity(string(self)).compareTo(quantity('32Ti')) <= 0",
                message = "capacity of an ssd must be a quantity of at most 32Ti for each storage node")
        Quantity capacity,

        @JsonPropertyDescription(
                "Storage class of the claims for the SSD, where the set has claims. Default: the cluster's own.")
        @Size(min = 1, max = 253)
        @ValidationRule(value = VolumeSpec.CLASS_FORMAT, message = VolumeSpec.CLASS_MESSAGE)
        String storageClassName,

        @JsonPropertyDescription(
                "What the claims for the SSD are, where the set has claims. Filesystem: a directory, with a file in it."
                        + " Block: a bare device, which must have nothing in its first MiB, and which the container runtime"
                        + " has to give to the pod's user: containerd does with device_ownership_from_security_context."
                        + " Default: Filesystem.")
        VolumeMode volumeMode,

        @JsonPropertyDescription(
                "Directory of the nodes where the set has volume hostPath, on the disk that is meant, for example"
                        + " /mnt/nvme0/kvpool. Each storage node has one of its own in it. A disk that is not mounted is not"
                        + " noticed: what has the directory then is used.")
        @ValidationRule(value = PathRule.FORMAT, message = PathRule.MESSAGE)
        @ValidationRule(value = PathRule.OUTSIDE_POOLS, message = PathRule.OUTSIDE_POOLS_MESSAGE)
        @Size(max = 256)
        String path,

        @JsonPropertyDescription("Encryption of what is on the disk. Default: none.")
        SsdEncryptionSpec encryption) {
    /** Whether each storage node has a device and not a directory. */
    public boolean onDevice() {
        return volumeMode == VolumeMode.BLOCK;
    }
}
