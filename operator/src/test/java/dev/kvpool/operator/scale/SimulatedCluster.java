// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.scale;

import dev.kvpool.operator.apiserver.ClusterActor;
import dev.kvpool.operator.apiserver.ScriptedMasters;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Stands for the StatefulSet controller, the kubelets and the masters of many pools: the pods of a StatefulSet run as soon as it
 * is there, the first master of each pool leads, and says that all storage nodes of its pool are ready.
 */
public final class SimulatedCluster implements AutoCloseable {
    /** Where the words of a master go. */
    public interface Voice {
        /** From now on this master says this. */
        void say(Master master, PoolReport report);
    }

    /**
     * A master that runs.
     *
     * @param address IP address of the pod
     */
    public record Master(String namespace, String pool, String pod, String address) {}

    private static final int EPOCH = 1;
    private static final long USED_BYTES = 100L << 20;
    private static final int LOOPBACK = 127 << 24 | 1 << 16;

    /** What runs of one pool. */
    private static final class RunningPool {
        private final TreeSet<String> storage = new TreeSet<>();
        private boolean led;
    }

    private final KubernetesClient client;
    private final Voice voice;
    private final ExecutorService kubelets;
    private final Map<String, RunningPool> pools = new ConcurrentHashMap<>();
    private final Map<String, String> addresses = new ConcurrentHashMap<>();
    private final AtomicInteger nextAddress = new AtomicInteger();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final SharedIndexInformer<StatefulSet> sets;

    /**
     * Begins to run pods.
     *
     * @param client may do everything
     * @param namespaces where pools are; others belong to other tests
     * @param threads how many pods are made at the same time
     */
    public SimulatedCluster(KubernetesClient client, List<String> namespaces, Voice voice, int threads) {
        this.client = client;
        this.voice = voice;
        kubelets = Executors.newFixedThreadPool(threads);
        List<String> watched = List.copyOf(namespaces);
        sets = client.apps()
                .statefulSets()
                .inAnyNamespace()
                .withLabel(PoolLabels.MANAGED_BY, PoolLabels.OPERATOR)
                .inform(new ResourceEventHandler<>() {
                    @Override
                    public void onAdd(StatefulSet set) {
                        if (watched.contains(set.getMetadata().getNamespace())) {
                            kubelets.execute(() -> runOrFail(set));
                        }
                    }

                    @Override
                    public void onUpdate(StatefulSet before, StatefulSet now) {
                        if (!before.getSpec().getReplicas().equals(now.getSpec().getReplicas())) {
                            onAdd(now);
                        }
                    }

                    @Override
                    public void onDelete(StatefulSet set, boolean unknown) {}
                });
    }

    /** How many pods it runs. */
    public int pods() {
        return addresses.size();
    }

    /**
     * Ends a wait that would never end.
     *
     * @throws IllegalStateException when a pod could not be run
     */
    public void check() {
        if (failure.get() != null) {
            throw new IllegalStateException("a pod could not be simulated", failure.get());
        }
    }

    private void runOrFail(StatefulSet set) {
        try {
            run(set);
        } catch (RuntimeException e) {
            failure.compareAndSet(null, e);
        }
    }

    private void run(StatefulSet set) {
        String namespace = set.getMetadata().getNamespace();
        String name = set.getMetadata().getLabels().get(PoolLabels.POOL);
        new ClusterActor(client, namespace).runPodsOf(set, this::address);
        RunningPool pool = pools.computeIfAbsent(namespace + "/" + name, any -> new RunningPool());
        boolean masters =
                PoolLabels.ROLE_MASTER.equals(set.getMetadata().getLabels().get(PoolLabels.ROLE));
        synchronized (pool) {
            if (masters) {
                lead(namespace, name, set.getSpec().getReplicas());
                pool.led = true;
            } else {
                pool.storage.addAll(podsOf(set));
            }
            if (pool.led) {
                sayWhatIsReady(namespace, name, pool);
            }
        }
    }

    private void lead(String namespace, String pool, int masters) {
        new ClusterActor(client, namespace).takeLease(pool + "-master", pool + "-master-0", EPOCH);
        for (int ordinal = 1; ordinal < masters; ordinal++) {
            String standby = pool + "-master-" + ordinal;
            voice.say(master(namespace, pool, standby), ScriptedMasters.standby(standby, EPOCH));
        }
    }

    private void sayWhatIsReady(String namespace, String pool, RunningPool running) {
        String leader = pool + "-master-0";
        PoolReport report = ScriptedMasters.leader(leader, EPOCH, USED_BYTES, new ArrayList<>(running.storage));
        voice.say(master(namespace, pool, leader), report);
    }

    private Master master(String namespace, String pool, String pod) {
        return new Master(namespace, pool, pod, address(pod));
    }

    /** All addresses of this network are this machine's, so that each pod can have one of its own. */
    private String address(String pod) {
        return addresses.computeIfAbsent(pod, any -> {
            int address = LOOPBACK + nextAddress.incrementAndGet();
            return "%d.%d.%d.%d".formatted(address >>> 24, address >>> 16 & 255, address >>> 8 & 255, address & 255);
        });
    }

    private static List<String> podsOf(StatefulSet set) {
        return Collections.nCopies(
                        set.getSpec().getReplicas(), set.getMetadata().getName())
                .stream()
                .collect(ArrayList::new, (names, name) -> names.add(name + "-" + names.size()), List::addAll);
    }

    @Override
    public void close() {
        sets.stop();
        kubelets.shutdownNow();
    }
}
