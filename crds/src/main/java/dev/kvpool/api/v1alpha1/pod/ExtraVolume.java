// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.pod;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.CSIVolumeSource;
import io.fabric8.kubernetes.api.model.ConfigMapVolumeSource;
import io.fabric8.kubernetes.api.model.EmptyDirVolumeSource;
import io.fabric8.kubernetes.api.model.HostPathVolumeSource;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimVolumeSource;
import io.fabric8.kubernetes.api.model.ProjectedVolumeSource;
import io.fabric8.kubernetes.api.model.SecretVolumeSource;

/** A volume of pods that the user brings. The sources mean what they mean in a pod. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "[has(self.configMap), has(self.secret), has(self.projected), has(self.emptyDir), has(self.hostPath),"
                + " has(self.persistentVolumeClaim), has(self.csi)].exists_one(given, given)",
        message = "a volume must have exactly one of configMap, secret, projected, emptyDir, hostPath,"
                + " persistentVolumeClaim and csi")
public record ExtraVolume(
        @JsonPropertyDescription("Name of the volume, unique in the podTemplate.")
        @Required
        @Size(min = 1, max = NAME_LENGTH_MAX)
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
                message = "the name of a volume must consist of lower case letters, digits and '-'")
        @ValidationRule(
                value =
                        "!(self in ['pool', 'tmp', 'segments', 'ssd', 'ssd-key', 'socket', 'sockets', 'shm', 'ca', 'certificate', 'certificate-names',"
                                + " 'identity']) && !self.startsWith('host-') && !self.startsWith('sockets-')",
                message =
                        "pool, tmp, segments, ssd, ssd-key, socket, sockets, shm, ca, certificate, certificate-names, identity and names that start"
                                + " with host- or sockets- are volumes of the operator: choose another name")
        String name,

        @JsonPropertyDescription("A ConfigMap of the namespace.")
        ConfigMapVolumeSource configMap,

        @JsonPropertyDescription("A Secret of the namespace.")
        SecretVolumeSource secret,

        @JsonPropertyDescription("Several sources in one directory, such as a token of the ServiceAccount.")
        ProjectedVolumeSource projected,

        @JsonPropertyDescription("An empty directory that lives as long as the pod.")
        EmptyDirVolumeSource emptyDir,

        @JsonPropertyDescription(
                "A file or directory of the Kubernetes node. Only namespaces of pod security level privileged admit it.")
        HostPathVolumeSource hostPath,

        @JsonPropertyDescription("A claim of the namespace, which all pods of the role share.")
        PersistentVolumeClaimVolumeSource persistentVolumeClaim,

        @JsonPropertyDescription("A volume that a CSI driver makes for each pod.")
        CSIVolumeSource csi) {

    static final int NAME_LENGTH_MAX = 63;
}
