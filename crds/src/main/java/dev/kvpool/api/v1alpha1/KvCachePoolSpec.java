// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.cache.CacheSpec;
import dev.kvpool.api.v1alpha1.pod.ImagePullPolicy;
import dev.kvpool.api.v1alpha1.pod.MastersSpec;
import dev.kvpool.api.v1alpha1.pod.NetworkPolicySpec;
import dev.kvpool.api.v1alpha1.pod.SecretName;
import dev.kvpool.api.v1alpha1.security.SecuritySpec;
import dev.kvpool.api.v1alpha1.security.TenantSpec;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.api.v1alpha1.storage.DeletionPolicy;
import dev.kvpool.api.v1alpha1.storage.DrainSpec;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.model.annotation.SpecReplicas;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** What a user wants of a pool. Missing values are filled with the defaults that the schema states. */
@JsonClassDescription("What the pool shall be. Every field but storage has a default.")
@JsonInclude(JsonInclude.Include.NON_EMPTY)
@ValidationRule(
        value =
                "!has(self.replicas) || self.replicas == 1 || self.storage.filter(s, !has(s.replicas) && !has(s.perNode)).size() == 1",
        message =
                "replicas is for the one storage set that names neither replicas nor perNode: leave both out in exactly"
                        + " one set",
        fieldPath = ".replicas")
@ValidationRule(
        value = "!has(self.tenants) || self.tenants.size() == 0 || !has(self.security) || !has(self.security.mode)"
                + " || self.security.mode != 'Off'",
        message = "tenants need security.mode Permissive or Required: without certificates no engine says whose it is",
        fieldPath = ".tenants")
@ValidationRule(
        value =
                "!has(self.tenants) || self.security.certificates.source == 'Directory' && !has(self.security.certificates.trustDomain)"
                        + " || self.tenants.all(t, has(t.serviceAccounts))",
        message =
                "each tenant needs serviceAccounts, by which its engines are known: security.certificates.source is Operator, or there is a trustDomain",
        fieldPath = ".tenants")
@ValidationRule(
        value =
                "!has(self.tenants) || self.security.certificates.source != 'Directory' || has(self.security.certificates.trustDomain)"
                        + " || self.tenants.all(t, !has(t.serviceAccounts) && t.access != 'ReadOnly')",
        message =
                "tenants have no serviceAccounts and no access with security.certificates.source Directory without trustDomain: the name in"
                        + " each certificate says of which tenant an engine is, and whether it may write",
        fieldPath = ".tenants")
@ValidationRule(
        value = "self.security.certificates.source != 'Directory' || self.storage.size() == 0"
                + " || has(self.security.certificates.storage)",
        message =
                "storage sets need security.certificates.storage, the volume that the certificates of storage nodes come from",
        fieldPath = ".security.certificates")
@ValidationRule(
        value = "!has(self.security.certificates.storage) || !has(self.security.certificates.storage.csi)"
                + " || has(self.security.certificates.trustDomain)"
                + " || self.storage.filter(s, has(s.perNode)).size() == 0",
        message =
                "sets with perNode need security.certificates.storage.secrets: storage nodes there are named by their Kubernetes nodes, which"
                        + " no CSI driver is told",
        fieldPath = ".security.certificates")
public record KvCachePoolSpec(
        @JsonPropertyDescription(
                "Product version the pool shall run, for example 0.1.0. Default: what it runs; a new pool runs the"
                        + " version of the operator's default image. With `image` set it is what the masters must"
                        + " report.")
        @ValidationRule(
                value = "self.matches('^[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?$')",
                message = "version must be three numbers with dots, for example 0.1.0 or 0.2.0-rc.1")
        @Size(max = 64)
        String version,

        @JsonPropertyDescription(
                "Container image of masters and storage nodes. Default: the image the operator was installed"
                        + " with, tagged with `version` when that is set; without both, what the pool runs.")
        @ValidationRule(
                value = "self.matches('^[[A-Za-z0-9][][A-Za-z0-9._:/@-]*$')",
                message = "image must be the reference of an image, for example registry.example/kvpool:0.1.0")
        @Size(min = 1, max = 512)
        String image,

        @JsonPropertyDescription("When the kubelet pulls the image.") @Default("IfNotPresent")
        ImagePullPolicy imagePullPolicy,

        @JsonPropertyDescription("Secrets of this namespace with credentials for the registry.") @Size(max = 8)
        List<SecretName> imagePullSecrets,

        @JsonPropertyDescription(
                "Name of a TransferEngine in the same namespace: for agents, Services and clients, and for the storage sets that"
                        + " name no other. Default: none, which means the defaults of a TransferEngine.")
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                message =
                        "transferEngine must be the name of a TransferEngine: lower case letters, digits, '-' and '.'")
        @Size(max = 253)
        String transferEngine,

        @JsonPropertyDescription("The masters: one leads, the others follow and take over.") @Default("{}")
        MastersSpec masters,

        @JsonPropertyDescription(
                "Sets of equal storage nodes. An empty list: the pool has none, engines contribute their memory, and an object"
                        + " lives as long as the engine that holds it.")
        @Required
        @Size(max = StorageSetSpec.SETS_MAX)
        @JsonInclude(JsonInclude.Include.ALWAYS)
        List<StorageSetSpec> storage,

        @JsonPropertyDescription(
                "Memory that each engine contributes to the pool: global_segment_size of the ConfigMap NAME-client. The pods of"
                        + " the engines need it beside their own. Default: none with storage nodes, 4Gi without.")
        @ValidationRule(
                value = "quantity(string(self)).compareTo(quantity('16Mi')) >= 0"
                        + " && quantity(string(self)).compareTo(quantity('32Ti')) <= 0",
                message = "engineSegmentSize must be a quantity between 16Mi and 32Ti, for example 4Gi")
        Quantity engineSegmentSize,

        @JsonPropertyDescription(
                "How many storage nodes the one set of `storage` has that names neither replicas nor perNode. It is what"
                        + " `kubectl scale` and autoscalers change.")
        @Min(1)
        @Max(256)
        @Default("1")
        @SpecReplicas
        Integer replicas,

        @JsonPropertyDescription("Rules of the cache.") @Default("{}")
        CacheSpec cache,

        @JsonPropertyDescription("How storage nodes that are to go hand over what they hold.") @Default("{}")
        DrainSpec drain,

        @JsonPropertyDescription("How the pool is upgraded to another version or image.") @Default("{}")
        UpgradeSpec upgrade,

        @JsonPropertyDescription("Who may reach the pool's pods.") @Default("{}")
        NetworkPolicySpec networkPolicy,

        @JsonPropertyDescription("Whether the pool's processes and engines authenticate each other and encrypt.")
        @Default("{}")
        SecuritySpec security,

        @JsonPropertyDescription(
                "Who uses the pool: each tenant's engines read and write objects of their own tenant only. An engine whose"
                        + " ServiceAccount is in no tenant gets no certificate. Changes reach masters within two minutes, without a"
                        + " restart; a certificate that was given out before ends within an hour. Default: tenant `default`, which has all"
                        + " ServiceAccounts of the pool's namespace.")
        @Size(max = TenantSpec.TENANTS_MAX)
        List<TenantSpec> tenants,

        @JsonPropertyDescription(
                "True: the operator changes none of the pool's objects. Status, and the label that makes the"
                        + " leader Service follow the leader, are still kept.")
        @Default("false")
        Boolean paused,

        @JsonPropertyDescription(
                "What happens to the pool's objects when it is deleted. Delete: all go, with the cached bytes;"
                        + " directories of nodes are removed by Jobs, as soon as an operator runs."
                        + " Retain: they keep running and serving without the operator, and a pool created"
                        + " later under the same name takes them over with the same identity. Counts once"
                        + " status.observedGeneration has caught up.")
        @Default("Delete")
        DeletionPolicy deletionPolicy,

        @JsonPropertyDescription(
                "What to do with a change that loses cached bytes, such as another capacity. Wait: the change is held"
                        + " back, condition SpecApplied says what would be lost; storage nodes that are to go are"
                        + " emptied before. Move: storage nodes are emptied and recreated one at a time, as spec.drain says."
                        + " Replace: it is carried out at once, and the bytes on the pods concerned are"
                        + " lost.")
        @Default("Wait")
        DataLossPolicy onDataLoss) {

    private static final Quantity ENGINE_SEGMENT_DEFAULT = new Quantity("4Gi");

    public KvCachePoolSpec {
        imagePullPolicy = imagePullPolicy == null ? ImagePullPolicy.IF_NOT_PRESENT : imagePullPolicy;
        imagePullSecrets = imagePullSecrets == null ? List.of() : List.copyOf(imagePullSecrets);
        masters = masters == null ? new MastersSpec(null, null, null, null) : masters;
        storage = storage == null ? List.of() : List.copyOf(storage);
        replicas = replicas == null ? StorageSetSpec.REPLICAS_DEFAULT : replicas;
        drain = drain == null ? new DrainSpec(null, null, null) : drain;
        cache = cache == null ? new CacheSpec(null, null, null, null, null, null, null) : cache;
        upgrade = upgrade == null ? new UpgradeSpec(null, null, null, null, null, null) : upgrade;
        networkPolicy = networkPolicy == null ? new NetworkPolicySpec(null, null, null) : networkPolicy;
        security = security == null ? new SecuritySpec(null, null, null) : security;
        tenants = tenants == null ? List.of() : List.copyOf(tenants);
        paused = paused != null && paused;
        deletionPolicy = deletionPolicy == null ? DeletionPolicy.DELETE : deletionPolicy;
        onDataLoss = onDataLoss == null ? DataLossPolicy.WAIT : onDataLoss;
    }

    /** Memory that each engine contributes; empty when engines contribute none. */
    public Optional<Quantity> engineSegment() {
        return Optional.ofNullable(engineSegmentSize)
                .or(() -> storage.isEmpty() ? Optional.of(ENGINE_SEGMENT_DEFAULT) : Optional.empty());
    }

    /** Name of the transfer engine of a set; null when it runs with the defaults. */
    public String transferEngine(StorageSetSpec set) {
        return set.transferEngine() == null ? transferEngine : set.transferEngine();
    }

    /** Names of all transfer engines of the pool, its own first. */
    public List<String> transferEngines() {
        return Stream.concat(Stream.of(this.transferEngine), storage.stream().map(StorageSetSpec::transferEngine))
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    /** How many storage nodes a set without perNode shall have. */
    public int replicas(StorageSetSpec set) {
        return set.replicas() == null ? replicas : set.replicas();
    }
}
