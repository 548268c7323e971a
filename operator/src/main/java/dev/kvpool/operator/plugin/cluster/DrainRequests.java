// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.pool.blueprint.Requests;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The storage nodes of a pool that users want empty, as the pool's annotation names them. */
public final class DrainRequests {
    private final Cluster cluster;
    private final String pool;

    public DrainRequests(Cluster cluster, String pool) {
        this.cluster = cluster;
        this.pool = pool;
    }

    /** UIDs of the pods of its storage nodes, by the node's id. */
    public Map<String, String> pods() {
        return cluster.pods(pool).stream()
                .map(ObservedPod::of)
                .filter(pod -> pod.role().equals(PoolLabels.ROLE_STORAGE) && !pod.leaving())
                .collect(Collectors.toMap(ObservedPod::nodeId, ObservedPod::uid, (one, other) -> other, TreeMap::new));
    }

    public static Map<String, String> of(KvCachePool pool) {
        return Requests.of(pool.getMetadata().getAnnotations()).drains();
    }

    /**
     * When the pod with this UID was made: what was said of its storage node before is about an earlier one.
     *
     * @return empty when it is gone
     */
    public Optional<Instant> made(String uid) {
        return cluster.pods(pool).stream()
                .map(Pod::getMetadata)
                .filter(pod -> pod.getUid().equals(uid) && pod.getCreationTimestamp() != null)
                .map(pod -> Instant.parse(pod.getCreationTimestamp()))
                .findFirst();
    }

    /** Asks that a storage node be empty as long as it is in the pod with this UID, and leaves out requests about pods that are gone. */
    public void add(String node, String uid) {
        change(node, uid);
    }

    /** Takes such a request back; false when there is none. */
    public boolean remove(String node) {
        return change(node, null);
    }

    private boolean change(String node, String uid) {
        KvCachePool before = cluster.reannotate(pool, PoolLabels.DRAIN, read -> changed(of(read), node, uid));
        return of(before).containsKey(node);
    }

    /** Nothing when they are as they should be. */
    private Optional<String> changed(Map<String, String> before, String node, String uid) {
        // Read after the requests: a pod that one of these is about is there, unless it is gone.
        Map<String, String> there = pods();
        Map<String, String> after = new TreeMap<>(before);
        after.entrySet().removeIf(it -> !it.getValue().equals(there.get(it.getKey())));
        if (uid == null) {
            after.remove(node);
        } else {
            after.put(node, uid);
        }
        return after.equals(before) ? Optional.empty() : Optional.of(Requests.text(after));
    }
}
