// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.pool.blueprint.Requests;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The storage nodes of a pool that users want empty, as the pool's annotation names them. */
public final class DrainRequests {
    private final Cluster cluster;
    private final String pool;

    public DrainRequests(Cluster cluster, String pool) {
        this.cluster = cluster;
        this.pool = pool;
    }

    /** The pods of its storage nodes, by the node's id. */
    public Map<String, ObjectMeta> pods() {
        Map<String, ObjectMeta> pods = new TreeMap<>();
        for (Pod pod : cluster.pods(pool)) {
            ObservedPod seen = ObservedPod.of(pod);
            if (seen.role().equals(PoolLabels.ROLE_STORAGE) && !seen.leaving()) {
                pods.put(seen.nodeId(), pod.getMetadata());
            }
        }
        return pods;
    }

    /** Whether a storage node is still in the pod with this UID. */
    public boolean isIn(String node, String uid) {
        return isIn(pods(), node, uid);
    }

    private static boolean isIn(Map<String, ObjectMeta> pods, String node, String uid) {
        ObjectMeta pod = pods.get(node);
        return pod != null && pod.getUid().equals(uid);
    }

    public static Map<String, String> of(KvCachePool pool) {
        return Requests.of(pool.getMetadata().getAnnotations()).drains();
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
        Map<String, ObjectMeta> there = pods();
        Map<String, String> after = new TreeMap<>(before);
        after.entrySet().removeIf(it -> !isIn(there, it.getKey(), it.getValue()));
        if (uid == null) {
            after.remove(node);
        } else {
            after.put(node, uid);
        }
        return after.equals(before) ? Optional.empty() : Optional.of(Requests.text(after));
    }
}
