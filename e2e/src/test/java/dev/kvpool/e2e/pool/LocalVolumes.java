// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import dev.kvpool.e2e.cluster.Cluster;
import java.util.ArrayList;
import java.util.List;

/**
 * Volumes of one node that claims can be bound to, as a person or a provisioner would make them: clusters of tests have nobody
 * who makes volumes for claims. Kept, whatever becomes of the claims, until this is closed.
 */
public final class LocalVolumes implements AutoCloseable {
    private final Cluster cluster;
    private final String storageClass;
    private final String node;
    private final List<String> made = new ArrayList<>();

    /** Makes the storage class. */
    public LocalVolumes(Cluster cluster, String storageClass, String node) {
        this.cluster = cluster;
        this.storageClass = storageClass;
        this.node = node;
        apply("""
                apiVersion: storage.k8s.io/v1
                kind: StorageClass
                metadata: {name: %s}
                provisioner: kubernetes.io/no-provisioner
                volumeBindingMode: WaitForFirstConsumer
                """.formatted(storageClass));
        made.add("storageclass/" + storageClass);
    }

    /** A directory of the node, which must be there. */
    public void directory(String capacity, String path) {
        volume(storageClass + "-directory", "Filesystem", capacity, path);
    }

    /** A block device of the node. */
    public void device(String capacity, String path) {
        volume(storageClass + "-device", "Block", capacity, path);
    }

    private void volume(String name, String mode, String capacity, String path) {
        apply("""
                apiVersion: v1
                kind: PersistentVolume
                metadata: {name: %s}
                spec:
                  capacity: {storage: %s}
                  volumeMode: %s
                  accessModes: [ReadWriteOnce]
                  persistentVolumeReclaimPolicy: Retain
                  storageClassName: %s
                  local: {path: %s}
                  nodeAffinity:
                    required:
                      nodeSelectorTerms:
                      - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: ["%s"]}]
                """.formatted(name, capacity, mode, storageClass, path, node));
        made.add("pv/" + name);
    }

    /** Those that a claim still has go when that is gone. */
    @Override
    public void close() {
        List<String> delete = new ArrayList<>(List.of("delete", "--ignore-not-found", "--wait=false"));
        delete.addAll(made);
        cluster.kubectl().run(delete.toArray(String[]::new));
    }

    private void apply(String yaml) {
        cluster.kubectl().apply("default", yaml);
    }
}
