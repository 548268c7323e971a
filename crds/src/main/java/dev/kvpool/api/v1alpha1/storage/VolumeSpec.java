// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.PathRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** Where a segment file lies. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "!has(self.path) || (has(self.type) && self.type == 'hostPath')",
        message = "path is for type hostPath: leave it out, or set that type")
@ValidationRule(
        value = "!has(self.type) || self.type != 'hostPath' || has(self.path)",
        message = "hostPath needs path: a directory of the nodes, best on tmpfs or hugetlbfs, such as /dev/shm/kvpool")
@ValidationRule(
        value = "!has(self.storageClassName) || (has(self.type) && self.type == 'persistentVolumeClaim')",
        message = "storageClassName is for type persistentVolumeClaim: leave it out, or set that type")
public record VolumeSpec(
        @JsonPropertyDescription(
                "emptyDir: memory of the pod. It survives restarts of the container, not replacement of the"
                        + " pod. hostPath: a directory of the node, for sets with perNode, which a pod that is recreated on"
                        + " its node finds again; only namespaces of pod security level privileged admit it."
                        + " persistentVolumeClaim: a volume for each storage node, which also a recreated pod"
                        + " finds again; best a local one, whose storage class binds to its first consumer.")
        @Default("emptyDir")
        VolumeType type,

        @JsonPropertyDescription("Storage class of the claims. Default: the cluster's own.")
        @Size(min = 1, max = 253)
        @ValidationRule(value = CLASS_FORMAT, message = CLASS_MESSAGE)
        String storageClassName,

        @JsonPropertyDescription(
                "Directory of the nodes for type hostPath. Each storage node has one of its own in it.")
        @ValidationRule(value = PathRule.FORMAT, message = PathRule.MESSAGE)
        @ValidationRule(value = PathRule.OUTSIDE_POOLS, message = PathRule.OUTSIDE_POOLS_MESSAGE)
        @Size(max = 256)
        String path) {

    static final String CLASS_FORMAT = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')";
    static final String CLASS_MESSAGE =
            "storageClassName must be the name of a StorageClass: lower case letters, digits, '-' and '.'";

    public VolumeSpec {
        type = type == null ? VolumeType.EMPTY_DIR : type;
    }

    /** In memory of the pod. */
    public VolumeSpec() {
        this(null, null, null);
    }

    /** Whether what is on it is still there when the pod has been replaced. */
    public boolean outlivesPods() {
        return type != VolumeType.EMPTY_DIR;
    }
}
