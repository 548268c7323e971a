// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.pod.PodTemplate;
import dev.kvpool.api.v1alpha1.pod.ResourceSpec;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;

/** A set of equal storage nodes: a fixed number of them, or one on every matching Kubernetes node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "!(has(self.replicas) && has(self.perNode))",
        message = "replicas and perNode exclude each other: give a number of storage nodes, or one on every matching"
                + " node")
@ValidationRule(
        value = "!has(self.perNode) || !has(self.podTemplate) || !has(self.podTemplate.nodeSelector)",
        message = "with perNode the nodes are chosen by perNode.nodeSelector: leave podTemplate.nodeSelector out")
@ValidationRule(
        value = "!has(self.perNode) || !has(self.podTemplate) || !has(self.podTemplate.topologySpreadConstraints)",
        message = "with perNode there is one storage node on each Kubernetes node: leave topologySpreadConstraints out")
@ValidationRule(
        value = "!has(self.perNode) || !has(self.volume) || !has(self.volume.type)"
                + " || self.volume.type != 'persistentVolumeClaim'",
        message = "volume persistentVolumeClaim needs replicas: pods of perNode have no claims of their own")
@ValidationRule(
        value = "has(self.perNode) || !has(self.volume) || !has(self.volume.type) || self.volume.type != 'hostPath'",
        message =
                "volume hostPath needs perNode: a pod of a set with replicas may come back on another node, where its bytes are"
                        + " not; use persistentVolumeClaim with a local storage class")
@ValidationRule(
        value = "!has(self.volume) || !has(oldSelf.volume) || self.volume == oldSelf.volume",
        message = "the volume of a set cannot be changed: add a set with the other volume and remove this one, which is"
                + " emptied before it goes")
@ValidationRule(
        value = "!has(self.volume) || !has(self.volume.type) || self.volume.type == 'emptyDir'"
                + " || self.capacity == oldSelf.capacity",
        message =
                "the capacity of a set whose volume outlives its pods cannot be changed: add a set with the other capacity"
                        + " and remove this one, which is emptied before it goes")
@ValidationRule(
        value = "!has(self.volume) || !has(self.volume.type) || self.volume.type == 'emptyDir'"
                + " || (has(self.ssd) == has(oldSelf.ssd) && (!has(self.ssd) || self.ssd == oldSelf.ssd))",
        message = "the ssd of a set whose volume outlives its pods cannot be changed: add a set with the other ssd and"
                + " remove this one, which is emptied before it goes")
@ValidationRule(
        value = "!has(self.ssd) || has(self.ssd.path) || !has(self.volume) || !has(self.volume.type)"
                + " || self.volume.type != 'hostPath'",
        message = "the ssd of a set with volume hostPath needs ssd.path: a directory on a disk of the nodes, such as"
                + " /mnt/nvme0/kvpool")
@ValidationRule(
        value = "!has(self.ssd) || !has(self.ssd.path)"
                + " || (has(self.volume) && has(self.volume.type) && self.volume.type == 'hostPath')",
        message = "ssd.path is for sets with volume hostPath: leave it out, or set that type")
@ValidationRule(
        value = "!has(self.ssd) || !has(self.ssd.storageClassName)"
                + " || (has(self.volume) && has(self.volume.type) && self.volume.type == 'persistentVolumeClaim')",
        message = "ssd.storageClassName is for sets with volume persistentVolumeClaim: leave it out, or set that type")
@ValidationRule(
        value = "!has(self.ssd) || !has(self.ssd.volumeMode)"
                + " || (has(self.volume) && has(self.volume.type) && self.volume.type == 'persistentVolumeClaim')",
        message = "ssd.volumeMode is for sets with volume persistentVolumeClaim: leave it out, or set that type")
public record StorageSetSpec(
        @JsonPropertyDescription(
                "Name of the set, unique in the pool. With replicas its storage nodes are named POOL-SET-0, POOL-SET-1,"
                        + " ..., with perNode SET.NODE.")
        @Required
        @ValidationRule(
                value = "self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
                message =
                        "the name of a set must consist of lower case letters, digits and '-', and start with a letter")
        @Size(min = 1, max = NAME_LENGTH_MAX)
        @ValidationRule(
                value = "!(self in ['master', 'storage', 'leader', 'client', 'pool', 'agent', 'admin', 'preflight'])",
                message =
                        "master, storage, leader, client, pool, agent, admin and preflight are names the operator uses itself:"
                                + " choose another set name")
        String name,

        @JsonPropertyDescription(
                "How many storage nodes the set has. Default without perNode: spec.replicas, and 1 without that.")
        @Min(1)
        @Max(256)
        Integer replicas,

        @JsonPropertyDescription(
                "Instead of replicas: one storage node on every matching Kubernetes node. A node that stops"
                        + " matching keeps its storage node while that holds bytes, unless onDataLoss is Replace.")
        PerNodeSpec perNode,

        @JsonPropertyDescription("Size of the segment of each storage node, for example 64Gi.")
        @Required
        @ValidationRule(
                value = "quantity(string(self)).compareTo(quantity('64Mi')) >= 0",
                message = "capacity must be a quantity of at least 64Mi, for example 64Gi")
        @ValidationRule(
                value = "quantity(string(self)).compareTo(quantity('32Ti')) <= 0",
                message = "capacity must be a quantity of at most 32Ti for each storage node")
        Quantity capacity,

        @JsonPropertyDescription("Where the segment file lies.") @Default("{}")
        VolumeSpec volume,

        @JsonPropertyDescription(
                "Name of a TransferEngine in the same namespace for the storage nodes of this set, where its hardware differs: of it"
                        + " count protocols, hostNetwork, ports, timeouts of storage nodes, memory, accelerator, rdma and"
                        + " socketDirectory. Agents, Services and clients go by the pool's. Default: the pool's.")
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                message =
                        "transferEngine must be the name of a TransferEngine: lower case letters, digits, '-' and '.'")
        @Size(max = 253)
        String transferEngine,

        @JsonPropertyDescription(
                "Disk below the memory: what has to leave the segment goes there instead of being lost,"
                        + " and comes back when it is read again. It lies where the set's volume says: with emptyDir on the disk"
                        + " of the node, with persistentVolumeClaim in a claim of its own, with hostPath in ssd.path. Default: none.")
        SsdSpec ssd,

        @JsonPropertyDescription(
                "Compute resources of a storage node. Default: 100m CPU, and memory for the segment plus 1/16"
                        + " of it plus 512Mi for the process. A memory limit of your own must cover the"
                        + " segment too, since tmpfs counts against it, plus 1/128 of it plus 256Mi.")
        @Default("{}")
        ResourceSpec resources,

        @JsonPropertyDescription("What the pods of storage nodes get beside what the operator gives them.")
        @Default("{}")
        PodTemplate podTemplate) {

    /** Of a pool: what the API server's cost limit for the rule about {@code capacity} leaves room for. */
    public static final int SETS_MAX = 12;

    public static final int NAME_LENGTH_MAX = 20;

    /** Id of a storage node of a perNode set: its set, a dot, and a Kubernetes node by the longest name there can be. */
    public static final int NODE_ID_LENGTH_MAX = NAME_LENGTH_MAX + 1 + 253;

    public static final int REPLICAS_DEFAULT = 1;

    public StorageSetSpec {
        volume = volume == null ? new VolumeSpec() : volume;
        resources = resources == null ? ResourceSpec.EMPTY : resources;
        podTemplate = podTemplate == null ? PodTemplate.EMPTY : podTemplate;
    }
}
