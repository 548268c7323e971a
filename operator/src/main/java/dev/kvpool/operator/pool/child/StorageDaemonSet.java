// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.part.HostDirectory;
import dev.kvpool.operator.pool.child.part.NodePlacement;
import dev.kvpool.operator.pool.child.part.PerNodeTerms;
import dev.kvpool.operator.pool.child.part.PodIdentity;
import dev.kvpool.operator.pool.child.part.SegmentMemory;
import dev.kvpool.operator.pool.child.part.SsdVolume;
import dev.kvpool.operator.pool.child.part.StoragePod;
import dev.kvpool.operator.pool.child.part.TemplatedPod;
import dev.kvpool.operator.pool.child.part.WishDigest;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.AffinityBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A storage set with a node on every matching Kubernetes node. Kubernetes never replaces its pods by itself: a
 * change of nodes changes the template, which must cost no memory; the operator deletes pods with outdated settings.
 */
public final class StorageDaemonSet {
    private static final int REVISIONS_KEPT = 5;
    private static final String NODE_NAME = "NODE_NAME";

    private StorageDaemonSet() {}

    public static DaemonSet of(PoolBlueprint pool, StorageSetSpec set, NodePlacement placement) {
        String poolName = pool.names().pool();
        TemplatedPod template = new TemplatedPod(
                set.podTemplate(),
                pool.podLabels(set),
                PoolLabels.selectRole(poolName, PoolLabels.ROLE_STORAGE),
                pool.requests().restart(PoolLabels.ROLE_STORAGE),
                pool.security().members());
        PodSpec anywhere = anywhere(pool, set, template);
        return new DaemonSetBuilder()
                .withMetadata(pool.metadata(set))
                .withNewSpec()
                .withRevisionHistoryLimit(REVISIONS_KEPT)
                .withNewSelector()
                .withMatchLabels(PoolLabels.selectSet(poolName, set.name()))
                .endSelector()
                .withNewUpdateStrategy()
                .withType("OnDelete")
                .endUpdateStrategy()
                .withTemplate(template.template(
                        anywhere.toBuilder()
                                .withAffinity(affinity(set, placement))
                                .build(),
                        anywhere,
                        pool.storage().image(),
                        WishDigest.storage(pool, set)))
                .endSpec()
                .build();
    }

    /**
     * Whether a DaemonSet that is there can become that of a set. One of a set that was removed, and added again with another volume,
     * cannot: what its nodes hold would not be found again.
     */
    public static boolean hasVolumesOf(DaemonSet stored, StorageSetSpec set) {
        return directories(stored)
                .map(paths -> paths.stream()
                        .map(path -> path.substring(0, path.lastIndexOf('/')))
                        .toList()
                        .equals(HostDirectory.parents(set)))
                .orElse(true);
    }

    /** Paths of the directories of nodes in which its nodes keep segments and SSDs; nothing when it says nothing of volumes. */
    public static Optional<List<String>> directories(DaemonSet stored) {
        return Optional.ofNullable(stored.getSpec().getTemplate().getSpec())
                .map(pod -> Stream.of(SegmentMemory.VOLUME, SsdVolume.VOLUME)
                        .flatMap(name -> pod.getVolumes().stream()
                                .filter(volume -> volume.getName().equals(name) && volume.getHostPath() != null))
                        .map(volume -> volume.getHostPath().getPath())
                        .toList());
    }

    /** The pod without the part that follows the Kubernetes nodes. */
    private static PodSpec anywhere(PoolBlueprint pool, StorageSetSpec set, TemplatedPod template) {
        PodSpec pod = template.over(new StoragePod(pool, set)
                .build(
                        PoolNames.perNodeId(set.name(), "$(" + NODE_NAME + ")"),
                        PodIdentity.field(NODE_NAME, "spec.nodeName")));
        pod.setAffinity(null);
        return pod;
    }

    private static Affinity affinity(StorageSetSpec set, NodePlacement placement) {
        Affinity wish = set.podTemplate().affinity();
        return PerNodeTerms.of(set, placement)
                .map(terms -> (wish == null ? new AffinityBuilder() : wish.toBuilder())
                        .editOrNewNodeAffinity()
                        .withNewRequiredDuringSchedulingIgnoredDuringExecution()
                        .withNodeSelectorTerms(terms)
                        .endRequiredDuringSchedulingIgnoredDuringExecution()
                        .endNodeAffinity()
                        .build())
                .orElse(wish);
    }
}
