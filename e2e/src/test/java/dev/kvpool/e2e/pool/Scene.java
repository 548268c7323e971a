// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.install.Operator;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Set;
import java.util.stream.Collectors;

/** What a scenario about one pool begins with: a namespace of its own, the pool's name, clients, and somebody who kills. */
public final class Scene implements AutoCloseable {
    private final Cluster cluster;
    private final Pool pool;
    private final Clients clients;
    private final Killer killer;
    private final Restarts restarts;
    private final int objects;

    /**
     * Makes the namespace; the pool is the scenario's to make.
     *
     * @param killer of the run
     * @param objects how many objects a put or get of a prefix is about
     */
    public Scene(Cluster cluster, Killer killer, String namespace, String pool, int objects) {
        this(cluster, killer, namespace, "restricted", pool, objects);
    }

    /** The same of a class of scenarios, as it says of itself. */
    public Scene(Cluster cluster, Killer killer, OnScene given) {
        this(cluster, killer, given.namespace(), given.podSecurity(), given.pool(), given.objects());
    }

    private Scene(Cluster cluster, Killer killer, String namespace, String podSecurity, String pool, int objects) {
        this.cluster = cluster;
        cluster.createNamespace(namespace, podSecurity);
        this.pool = new Pool(cluster, namespace, pool);
        this.clients = new Clients(cluster, this.pool);
        this.killer = killer;
        this.restarts = new Restarts(cluster);
        this.objects = objects;
    }

    public Pool pool() {
        return pool;
    }

    public Clients clients() {
        return clients;
    }

    public Killer killer() {
        return killer;
    }

    public Restarts restarts() {
        return restarts;
    }

    /** Kills the operator's container, and returns when it has started again. */
    public void killOperator(Operator operator) {
        Pod victim = operator.pods().getFirst();
        killer.kill(victim);
        restarts.awaitRestartOf(victim);
    }

    /** UIDs of the pool's masters and storage nodes: equal sets mean that none was replaced, none came and none went. */
    public Set<String> podUids() {
        return pool.members().stream().map(pod -> pod.getMetadata().getUid()).collect(Collectors.toSet());
    }

    public void assertPut(String prefix) {
        assertPut(clients, prefix);
    }

    public void assertPut(Clients by, String prefix) {
        assertThat(by.put(prefix, objects)).contains("put %d of %d objects".formatted(objects, objects));
    }

    public void assertReadBack(String prefix) {
        assertReadBack(clients, prefix);
    }

    public void assertReadBack(Clients by, String prefix) {
        assertThat(by.get(prefix, objects)).contains("read back %d of %d objects".formatted(objects, objects));
    }

    /** Removes the namespace and all that is in it. */
    @Override
    public void close() {
        cluster.deleteNamespace(pool.namespace());
    }
}
