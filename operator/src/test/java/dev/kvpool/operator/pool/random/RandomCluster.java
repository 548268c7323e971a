// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.random;

import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.child.AgentDaemonSet;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.Refusal;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Kubernetes nodes and the pods on them: what controllers, scheduler and kubelets do, a little at each tick. */
final class RandomCluster {
    /** A variable with which no process gets ready, nor says anything to anybody. */
    static final String BROKEN = "BROKEN";

    /** Why a pod ends. */
    enum End {
        /** The operator deletes it, and another one takes its place. */
        DELETED,
        /** Its set has no place for it. */
        RELEASED,
        EVICTED
    }

    /** A Kubernetes node. */
    static final class Host {
        final String name;
        boolean ready = true;
        boolean cordoned;

        Host(String name) {
            this.name = name;
        }
    }

    /** A pod, or the process in it. */
    static final class Pod {
        final String name;
        final String uid;
        final String role;
        final String set;
        final boolean perNode;
        final boolean outlives;
        final String settings;
        final boolean broken;
        String host = "";
        String wished;
        String running = "";
        boolean up;
        boolean ready;
        boolean evictable;
        boolean leaving;
        int restarts;
        int startsIn;
        int noticesIn;
        int endsIn;
        long life;
        Instant since = Instant.EPOCH;

        Pod(String name, String uid, HasMetadata workload, PodTemplateSpec template) {
            this.name = name;
            this.uid = uid;
            this.role = workload.getMetadata().getLabels().get(PoolLabels.ROLE);
            this.set = workload.getMetadata().getLabels().getOrDefault(PoolLabels.SET, "");
            this.perNode = workload instanceof DaemonSet;
            this.outlives = workload instanceof StatefulSet it
                    && !it.getSpec().getVolumeClaimTemplates().isEmpty();
            this.settings = template.getMetadata().getAnnotations().get(PoolLabels.SETTINGS);
            this.broken = template.getSpec().getContainers().stream()
                    .flatMap(container -> container.getEnv().stream())
                    .anyMatch(variable -> variable.getName().equals(BROKEN));
            this.wished = OwnContainer.wishedImage(template);
        }

        boolean master() {
            return role.equals(PoolLabels.ROLE_MASTER);
        }

        /** The number at the end of the name. */
        int ordinal() {
            return Integer.parseInt(name.substring(name.lastIndexOf('-') + 1));
        }

        boolean started() {
            return life > 0;
        }

        /** Id of a storage node, the pod's name for a master. */
        String id() {
            return perNode ? PoolNames.perNodeId(set, host) : name;
        }
    }

    final Map<String, Host> hosts = new TreeMap<>();
    final Map<String, Pod> pods = new TreeMap<>();

    /** Where the volumes are of pods that outlive theirs, by the pod's name: on local disks. */
    private final Map<String, String> volumes = new TreeMap<>();

    /** Images whose containers never get ready. */
    final Set<String> bad = new HashSet<>();

    /** No pod can be created, for a quota say. */
    boolean refuses;

    private final Random random;
    private final RandomData data;
    private final Rules rules;
    private long uids;
    private long lives;

    RandomCluster(int hostCount, Random random, RandomData data, Rules rules) {
        this.random = random;
        this.data = data;
        this.rules = rules;
        for (int i = 0; i < hostCount; i++) {
            hosts.put("k-" + i, new Host("k-" + i));
        }
    }

    Collection<Pod> pods() {
        return List.copyOf(pods.values());
    }

    Optional<Pod> of(String uid) {
        return pods.values().stream().filter(pod -> pod.uid.equals(uid)).findFirst();
    }

    /** Whether its process can be reached and does its work. */
    boolean works(Pod pod) {
        return pod.up && !pod.leaving && hosts.get(pod.host).ready && !bad.contains(pod.running) && !pod.broken;
    }

    void tick(Collection<HasMetadata> children, Instant now) {
        Set<String> wanted = new TreeSet<>();
        for (HasMetadata child : children) {
            switch (child) {
                case StatefulSet set -> numbered(set, wanted);
                case DaemonSet set when !AgentDaemonSet.is(set) -> each(set, wanted);
                default -> {}
            }
        }
        pods().stream().filter(pod -> !wanted.contains(pod.name)).forEach(pod -> delete(pod, End.RELEASED));
        pods().forEach(pod -> kubelet(pod, now));
    }

    private void numbered(StatefulSet set, Set<String> wanted) {
        for (int i = 0; i < set.getSpec().getReplicas(); i++) {
            String name = set.getMetadata().getName() + "-" + i;
            wanted.add(name);
            if (refuses && !pods.containsKey(name)) {
                continue;
            }
            Pod pod = pods.computeIfAbsent(
                    name, it -> new Pod(it, "uid-" + ++uids, set, set.getSpec().getTemplate()));
            if (pod.host.isEmpty()) {
                List<Host> fit = hosts.values().stream()
                        .filter(host -> host.ready && !host.cordoned)
                        .filter(host -> !pod.outlives || host.name.equals(volumes.getOrDefault(name, host.name)))
                        .toList();
                pod.host = fit.isEmpty() ? "" : fit.get(random.nextInt(fit.size())).name;
                if (pod.outlives && !pod.host.isEmpty()) {
                    volumes.put(name, pod.host);
                }
            }
        }
    }

    private void each(DaemonSet set, Set<String> wanted) {
        for (Host host : hosts.values()) {
            Optional<Pod> there = pods.values().stream()
                    .filter(pod -> pod.perNode
                            && pod.host.equals(host.name)
                            && pod.name.startsWith(set.getMetadata().getName() + "-"))
                    .findFirst();
            if (there.isEmpty() && host.ready && !refuses) {
                long uid = ++uids;
                Pod pod = new Pod(
                        set.getMetadata().getName() + "-" + uid,
                        "uid-" + uid,
                        set,
                        set.getSpec().getTemplate());
                pod.host = host.name;
                pods.put(pod.name, pod);
                wanted.add(pod.name);
            }
            there.ifPresent(pod -> wanted.add(pod.name));
        }
    }

    boolean isRefused(String id) {
        return refuses && pods.values().stream().noneMatch(pod -> pod.id().equals(id));
    }

    /** What controllers say of pods that they cannot create. */
    List<Refusal> refusals(Collection<HasMetadata> children) {
        return children.stream()
                .filter(child -> refuses)
                .flatMap(child -> lacking(child).map(pod -> new Refusal(ObjectTitle.of(child), pod, "exceeded quota")))
                .toList();
    }

    private Stream<String> lacking(HasMetadata workload) {
        return switch (workload) {
            case StatefulSet set ->
                IntStream.range(0, set.getSpec().getReplicas())
                        .mapToObj(ordinal -> set.getMetadata().getName() + "-" + ordinal)
                        .filter(this::isRefused);
            case DaemonSet set when !AgentDaemonSet.is(set) -> Stream.of("");
            default -> Stream.empty();
        };
    }

    /** Has a pod end, as its kubelet sees to it. */
    void delete(Pod pod, End why) {
        if (pod.leaving) {
            return;
        }
        rules.ends(pod, why);
        pod.leaving = true;
        pod.ready = false;
        pod.endsIn = 1 + random.nextInt(2);
    }

    private void kubelet(Pod pod, Instant now) {
        if (pod.host.isEmpty()) {
            if (pod.leaving) {
                pods.remove(pod.name);
            }
            return;
        }
        if (!hosts.get(pod.host).ready) {
            pod.ready = false;
        } else if (pod.leaving) {
            if (pod.endsIn-- <= 0) {
                pods.remove(pod.name);
                data.stops(pod);
            }
        } else if (!pod.up) {
            if (pod.startsIn-- <= 0) {
                start(pod, now);
            }
        } else if (!pod.wished.equals(pod.running)) {
            if (pod.noticesIn-- <= 0) {
                stop(pod);
            }
        } else {
            pod.ready = works(pod);
        }
    }

    private void start(Pod pod, Instant now) {
        pod.restarts += pod.started() ? 1 : 0;
        pod.life = ++lives;
        pod.running = pod.wished;
        pod.since = now;
        pod.up = true;
        if (!pod.broken) {
            data.starts(pod);
        }
    }

    private void stop(Pod pod) {
        pod.up = false;
        pod.ready = false;
        pod.startsIn = random.nextInt(3);
        pod.noticesIn = random.nextInt(3);
    }

    /** Its process ends, and is started again. */
    void crash(Pod pod) {
        if (pod.up && !pod.leaving) {
            stop(pod);
        }
    }

    void lose(Host host) {
        host.ready = false;
        pods().stream().filter(pod -> pod.host.equals(host.name)).forEach(pod -> {
            pod.ready = false;
            rules.fault(pod);
        });
    }

    /**
     * The machine is there again.
     *
     * @param rebooted whether memory is lost
     */
    void isBack(Host host, boolean rebooted) {
        host.ready = true;
        if (rebooted) {
            pods().stream().filter(pod -> pod.host.equals(host.name)).forEach(pod -> {
                crash(pod);
                rules.fault(pod);
                data.reboots(pod);
            });
        }
    }

    /** Somebody drains cordoned machines: pods that may go are evicted, masters only while all of them are ready. */
    void evict() {
        for (Pod pod : pods()) {
            Host host = hosts.get(pod.host);
            boolean may = host != null && host.cordoned && !pod.perNode && !pod.leaving;
            boolean mastersReady = pods.values().stream().filter(Pod::master).allMatch(it -> it.ready);
            if (may && (pod.master() ? mastersReady : pod.evictable)) {
                delete(pod, End.EVICTED);
            }
        }
    }

    List<ObservedNode> nodes() {
        return hosts.values().stream()
                .map(host -> new ObservedNode(host.name, Map.of(), List.of(), host.cordoned, host.ready, 0))
                .toList();
    }

    ObservedPod observed(Pod pod, Instant now) {
        return PoolSketch.seen(pod.name, pod.uid, pod.role, pod.set)
                .with("ip", pod.up ? "10.0.0.1" : "")
                .with("started", pod.started())
                .with("ready", pod.ready && !pod.leaving)
                .with("evictable", pod.evictable)
                .with("goneBy", Optional.of(now).filter(any -> pod.leaving))
                .with("node", pod.host)
                .with("perNode", pod.perNode)
                .with("settings", pod.settings)
                .with("trouble", trouble(pod))
                .with("image", pod.wished)
                .with("specImage", pod.wished)
                .with("restarts", pod.restarts)
                .with("runningSince", Optional.of(pod.since).filter(any -> pod.up))
                .with("running", pod.running.isEmpty() ? "" : "id of " + pod.running)
                .build();
    }

    private static String trouble(Pod pod) {
        if (pod.host.isEmpty()) {
            return "cannot be scheduled: no node is left";
        }
        return pod.ready ? "" : "waits: CrashLoopBackOff";
    }
}
