// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

import dev.kvpool.api.v1alpha1.storage.DeletionPolicy;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a pool has written down about directories of nodes. It outlives the pool, so it says what is to become of them then. Pure.
 *
 * @param pool name of the pool
 * @param poolId its identity on the wire and in segment files
 * @param uid UID of the custom resource
 * @param policy what the pool said of its deletion last
 * @param pullSecrets Secrets with credentials for the registry
 * @param paths paths by id of the storage node, with commas between them
 */
public record DirectoryList(
        String pool,
        String poolId,
        String uid,
        DeletionPolicy policy,
        List<LocalObjectReference> pullSecrets,
        SortedMap<String, String> paths) {
    private static final String UID = "kvpool.dev/pool-uid";
    private static final String POLICY = "kvpool.dev/deletion-policy";
    private static final String PULL_SECRETS = "kvpool.dev/image-pull-secrets";
    private static final String DELETE = "Delete";
    private static final String RETAIN = "Retain";

    /** Reads one; empty when the object is something else. */
    public static Optional<DirectoryList> of(HasMetadata object) {
        Map<String, String> labels =
                Objects.requireNonNullElse(object.getMetadata().getLabels(), Map.of());
        if (!(object instanceof ConfigMap map) || !PoolLabels.ROLE_DIRECTORIES.equals(labels.get(PoolLabels.ROLE))) {
            return Optional.empty();
        }
        Map<String, String> notes = Objects.requireNonNullElse(map.getMetadata().getAnnotations(), Map.of());
        return Optional.of(new DirectoryList(
                labels.getOrDefault(PoolLabels.POOL, ""),
                notes.getOrDefault(PoolLabels.POOL_ID, ""),
                notes.getOrDefault(UID, ""),
                DELETE.equals(notes.get(POLICY)) ? DeletionPolicy.DELETE : DeletionPolicy.RETAIN,
                Stream.of(notes.getOrDefault(PULL_SECRETS, "").split(",", -1))
                        .filter(name -> !name.isEmpty())
                        .map(LocalObjectReference::new)
                        .toList(),
                new TreeMap<>(Objects.requireNonNullElse(map.getData(), Map.of()))));
    }

    /** As annotations. */
    public Map<String, String> notes() {
        Map<String, String> notes = new LinkedHashMap<>();
        notes.put(PoolLabels.POOL_ID, poolId);
        notes.put(UID, uid);
        notes.put(POLICY, policy == DeletionPolicy.DELETE ? DELETE : RETAIN);
        if (!pullSecrets.isEmpty()) {
            notes.put(
                    PULL_SECRETS,
                    pullSecrets.stream().map(LocalObjectReference::getName).collect(Collectors.joining(",")));
        }
        return notes;
    }

    /** Whether it is of a deleted pool whose directories go with it; a pool that has its name now has nothing to do with them. */
    public boolean goesWithAnother(String livingUid) {
        return policy == DeletionPolicy.DELETE && !uid.equals(livingUid);
    }
}
