// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.api.v1alpha1.storage.VolumeType;
import dev.kvpool.operator.pool.child.part.HostDirectory;
import dev.kvpool.operator.pool.naming.DirectoryList;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What a pool has written down about directories of nodes, as far as it can be believed: where something may lie also while no
 * pod is there that could tell. Pure.
 *
 * @param poolId the pool's identity, which is in their names
 * @param known the directories
 * @param released ids of storage nodes that were let go and are not wanted again since: what they left belongs to no storage node any more
 * @param matter false for a pool that has written down nothing
 */
public record WrittenDirectories(String poolId, SortedSet<NodeDirectory> known, Set<String> released, boolean matter) {
    public static WrittenDirectories of(PoolObservation seen) {
        String poolId = seen.poolId();
        Map<String, String> written = seen.children().stream()
                .flatMap(child -> DirectoryList.of(child).stream())
                .filter(list -> list.poolId().equals(poolId))
                .map(DirectoryList::paths)
                .findFirst()
                .orElse(new TreeMap<>());
        SortedSet<NodeDirectory> known = new TreeSet<>(NodeDirectory.ORDER);
        written.forEach((id, paths) -> known.addAll(NodeDirectory.written(id, paths, poolId)));
        Set<String> released = written.entrySet().stream()
                .filter(entry -> NodeDirectory.areReleased(entry.getValue()))
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        return new WrittenDirectories(poolId, known, released, !written.isEmpty());
    }

    /** What it left belongs to no storage node any more, and no pod is there that could have brought something new. */
    boolean isGivenUp(Unwanted node) {
        return released.contains(node.id()) && !node.isThere();
    }

    /** Directories of a set where the spec has it. */
    public Set<NodeDirectory> of(StorageSetSpec set) {
        return set.volume().type() == VolumeType.HOST_PATH
                ? of(set.name(), HostDirectory.paths(set, poolId))
                : Set.of();
    }

    /** Directories of a set at these paths. */
    public Set<NodeDirectory> of(String set, Collection<String> paths) {
        return known.stream()
                .filter(directory -> directory.set().equals(set) && paths.contains(directory.path()))
                .collect(Collectors.toSet());
    }
}
