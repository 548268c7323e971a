// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A pool on the test API server whose storage nodes come and go. When {@link #look} is called it does what controllers, kubelets
 * and the leader would have done since: move objects away, take away pods that their set has no place for, and make new ones.
 */
final class ShrunkPool {
    private static final long OBJECTS = 100;

    private final OperatorUnderTest operator;
    private final KubernetesClient client;
    private final ClusterActor cluster;
    private final String namespace;
    private final String name;

    /** Storage nodes the leader was told to empty, with what is left. */
    private final Map<String, Long> left = new ConcurrentHashMap<>();

    private final List<String> told = new ArrayList<>();
    private boolean stuck;

    ShrunkPool(OperatorUnderTest operator, String namespace, String name) {
        this.operator = operator;
        this.client = operator.client();
        this.cluster = new ClusterActor(client, namespace);
        this.namespace = namespace;
        this.name = name;
    }

    void run() {
        cluster.runPodsOf(name + "-master");
        cluster.takeLease(name + "-master", name + "-master-0", 1);
        operator.masters().onDrain(this::drain, this::cancel);
        look();
    }

    /** From now on nothing can be moved. */
    ShrunkPool stuck(boolean now) {
        stuck = now;
        return this;
    }

    /** What the leader was told, in words. */
    synchronized List<String> told() {
        return List.copyOf(told);
    }

    /** Objects that only this storage node holds, as the leader counts them. */
    long onlyOn(String node) {
        return left.getOrDefault(node, OBJECTS);
    }

    /** UIDs of the storage pods, by name. */
    Map<String, String> storagePods() {
        Map<String, String> pods = new TreeMap<>();
        pods().forEach(pod ->
                pods.put(pod.getMetadata().getName(), pod.getMetadata().getUid()));
        return pods;
    }

    void look() {
        sets().forEach(cluster::runPodsOf);
        pods().stream()
                .filter(pod -> !hasAPlace(pod) || pod.isMarkedForDeletion())
                .forEach(pod -> cluster.removePod(pod.getMetadata().getName()));
        if (!stuck) {
            left.replaceAll((node, objects) -> objects / 10);
        }
        say();
    }

    private List<StatefulSet> sets() {
        return client.apps()
                .statefulSets()
                .inNamespace(namespace)
                .withLabel(PoolLabels.POOL, name)
                .withLabel(PoolLabels.SET)
                .list()
                .getItems();
    }

    private List<Pod> pods() {
        return client.pods()
                .inNamespace(namespace)
                .withLabel(PoolLabels.POOL, name)
                .withLabel(PoolLabels.ROLE, PoolLabels.ROLE_STORAGE)
                .list()
                .getItems();
    }

    private boolean hasAPlace(Pod pod) {
        String podName = pod.getMetadata().getName();
        int dash = podName.lastIndexOf('-');
        Optional<StatefulSet> set = sets().stream()
                .filter(it -> it.getMetadata().getName().equals(podName.substring(0, dash)))
                .findFirst();
        return set.filter(it -> Integer.parseInt(podName.substring(dash + 1))
                        < it.getSpec().getReplicas())
                .isPresent();
    }

    private synchronized void drain(String node) {
        told.add("empty " + node);
        left.putIfAbsent(node, OBJECTS);
    }

    private synchronized void cancel(String node) {
        told.add("cancel " + node);
        left.remove(node);
    }

    private void say() {
        List<PoolReport.Node> nodes =
                storagePods().keySet().stream().map(this::report).toList();
        operator.masters().say(name + "-master-0", ScriptedMasters.leading(name + "-master-0", 1, nodes));
        operator.masters().say(name + "-master-1", ScriptedMasters.standby(name + "-master-1", 1));
    }

    private PoolReport.Node report(String node) {
        Long objects = left.get(node);
        String state = objects == null ? "ready" : objects == 0 ? "drained" : "draining";
        return Reports.node(
                node,
                state,
                "",
                false,
                0,
                OBJECTS,
                "0.1.0",
                List.of("shm", "tcp"),
                "00000000000000a1",
                null,
                null,
                null,
                objects,
                objects == null || objects == 0
                        ? List.of()
                        : List.of(new PoolReport.Leftover("dram", objects, objects << 20, "no node has room")));
    }
}
