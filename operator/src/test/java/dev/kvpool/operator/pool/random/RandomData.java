// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.random;

import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.random.RandomCluster.Pod;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Masters and storage nodes: who leads, which objects lie where, what is being emptied, and what masters say of it. */
final class RandomData {
    private static final int OBJECTS_MAX = 150;
    private static final int MOVES = 8;
    private static final PoolReport.Range ONE = new PoolReport.Range(1, 1);

    private final Random random;
    private RandomCluster cluster;

    /** Objects by storage node, also of one that is away. */
    private final Map<String, Set<Integer>> held = new TreeMap<>();

    /** The same as this leader last saw it. */
    private final Map<String, Set<Integer>> known = new HashMap<>();

    private final Map<String, Long> lostAtReturn = new HashMap<>();
    private final Map<String, Long> lives = new HashMap<>();

    /** Storage nodes being emptied, and whether copies go too. */
    private final Map<String, Boolean> emptied = new TreeMap<>();

    private String leader = "";
    private long leaderLife;
    private long epoch;
    private Instant since = Instant.EPOCH;
    private int lastObject;

    /** No object can be moved. */
    boolean full;

    /** Leaders keep their leadership when they are told to hand over. */
    boolean clings;

    RandomData(Random random) {
        this.random = random;
    }

    void of(RandomCluster where) {
        cluster = where;
    }

    Set<Integer> held(String id) {
        return held.computeIfAbsent(id, it -> new TreeSet<>());
    }

    private List<Pod> storage() {
        return cluster.pods().stream().filter(pod -> !pod.master()).toList();
    }

    private Optional<Pod> pod(String id) {
        return storage().stream()
                .filter(pod -> pod.id().equals(id) && !pod.leaving)
                .findFirst();
    }

    /** It gives what it holds. */
    boolean serves(String id) {
        return pod(id).filter(pod -> pod.ready && cluster.works(pod)).isPresent();
    }

    private boolean takes(String id) {
        return serves(id) && !emptied.containsKey(id);
    }

    boolean leads(Pod pod) {
        return pod.name.equals(leader) && pod.life == leaderLife && cluster.works(pod);
    }

    private Optional<Pod> leader() {
        return cluster.pods().stream().filter(this::leads).findFirst();
    }

    /** Objects of which no storage node that takes part has a copy but this one: what has to be moved. */
    private Set<Integer> onlyOn(String id) {
        return only(id, this::takes);
    }

    /** Objects of which no storage node that can be read has a copy but this one. */
    Set<Integer> onlyAt(String id) {
        return only(id, this::serves);
    }

    private Set<Integer> only(String id, Predicate<String> counts) {
        Set<Integer> only = new TreeSet<>(held(id));
        held.forEach((other, objects) -> {
            if (!other.equals(id) && counts.test(other)) {
                only.removeAll(objects);
            }
        });
        return only;
    }

    /** Whether a process has been there, so that masters have met it. */
    boolean isMet(String id) {
        return lives.containsKey(id);
    }

    void starts(Pod pod) {
        if (!pod.master()) {
            String id = pod.id();
            Set<Integer> before = known.get(id);
            lostAtReturn.remove(id);
            if (before != null) {
                Set<Integer> lost = new HashSet<>(before);
                lost.removeAll(held(id));
                lostAtReturn.put(id, (long) lost.size());
            }
            lives.put(id, pod.life);
        }
    }

    /** Its pod is gone. */
    void stops(Pod pod) {
        if (!pod.master() && !pod.outlives) {
            held(pod.id()).clear();
        }
    }

    void reboots(Pod pod) {
        stops(pod);
    }

    void handOver(String from, Instant now) {
        if (leader.equals(from) && !clings) {
            follow(from, now);
        }
    }

    void fail(Instant now) {
        follow(leader, now);
    }

    private void follow(String but, Instant now) {
        List<Pod> next = cluster.pods().stream()
                .filter(pod -> pod.master() && pod.ready && cluster.works(pod) && !pod.name.equals(but))
                .toList();
        if (!next.isEmpty()) {
            Pod pod = next.get(random.nextInt(next.size()));
            leader = pod.name;
            leaderLife = pod.life;
            epoch++;
            since = now;
            known.clear();
            lostAtReturn.clear();
            if (random.nextBoolean()) {
                emptied.clear();
            }
        }
    }

    void empty(String id, boolean clear) {
        emptied.merge(id, clear, (one, other) -> one || other);
    }

    void cancel(String id) {
        emptied.remove(id);
    }

    boolean empties() {
        return !emptied.isEmpty();
    }

    /** These shall there be: masters forget others, and what is on their volumes is deleted. */
    void expect(Set<String> ids) {
        Set<String> there = new HashSet<>(ids);
        storage().forEach(pod -> there.add(pod.id()));
        held.keySet().retainAll(there);
        emptied.keySet().retainAll(there);
        lives.keySet().retainAll(there);
        known.keySet().retainAll(there);
    }

    void tick(Instant now) {
        if (leader().isEmpty()) {
            follow("", now);
            return;
        }
        emptied.forEach((id, clear) -> {
            if (serves(id) && !full) {
                move(id, clear);
            }
        });
        put();
        storage().stream().map(Pod::id).filter(this::serves).forEach(id -> known.put(id, new TreeSet<>(held(id))));
    }

    private void move(String id, boolean clear) {
        List<String> takers =
                storage().stream().map(Pod::id).filter(this::takes).toList();
        if (!takers.isEmpty()) {
            onlyOn(id).stream()
                    .limit(MOVES)
                    .forEach(object ->
                            held(takers.get(random.nextInt(takers.size()))).add(object));
        }
        if (clear && onlyOn(id).isEmpty()) {
            held(id).clear();
        }
    }

    private void put() {
        List<String> takers =
                storage().stream().map(Pod::id).filter(this::takes).toList();
        int all = held.values().stream().mapToInt(Set::size).sum();
        if (!takers.isEmpty() && all < OBJECTS_MAX) {
            lastObject++;
            held(takers.get(random.nextInt(takers.size()))).add(lastObject);
            if (random.nextInt(3) == 0) {
                held(takers.get(random.nextInt(takers.size()))).add(lastObject);
            }
        }
    }

    Optional<Leadership> leadership() {
        return leader.isEmpty()
                ? Optional.empty()
                : Optional.of(new Leadership(leader, epoch, leader + "_1", Optional.of(since)));
    }

    Map<String, MasterAnswer> answers() {
        Map<String, MasterAnswer> answers = new TreeMap<>();
        for (Pod pod : cluster.pods()) {
            if (pod.master() && pod.up) {
                answers.put(
                        pod.name,
                        cluster.works(pod)
                                ? new MasterAnswer.Report(report(pod))
                                : new MasterAnswer.Silent("the connection failed"));
            }
        }
        return answers;
    }

    private PoolReport report(Pod master) {
        boolean leads = leads(master);
        Set<String> ids = storage().stream().map(Pod::id).collect(Collectors.toCollection(TreeSet::new));
        ids.addAll(lives.keySet());
        List<PoolReport.Node> nodes = new ArrayList<>();
        // A master that is not ready has not met anybody yet.
        ids.stream().filter(id -> leads || master.ready).forEach(id -> nodes.add(node(id)));
        return (leads ? Reports.leader(master.name, epoch, nodes) : Reports.standby(master.name, epoch, nodes))
                .with("version", new PoolReport.Version(master.running, ONE, ONE))
                .with("capacityBytes", 1L << 40)
                .with("sharedCapacityBytes", 1L << 40)
                .with("objects", (long) lastObject)
                .with("active", new PoolReport.Active(1, 1))
                .build();
    }

    private PoolReport.Node node(String id) {
        int objects = held(id).size();
        Long left =
                emptied.containsKey(id) && serves(id) ? Long.valueOf(onlyOn(id).size()) : null;
        boolean isEmpty = left != null && left == 0 && (!emptied.get(id) || objects == 0);
        String state = !serves(id) ? "away" : left == null ? "ready" : isEmpty ? "drained" : "draining";
        return Reports.node(id, state)
                .with("usedBytes", (long) objects << 20)
                .with("objects", (long) objects)
                .with("product", "")
                .with("incarnation", lives.containsKey(id) ? "%016x".formatted(lives.get(id)) : "")
                .with("committed", new PoolReport.Objects(objects, "h"))
                .with("restored", new PoolReport.Restored(objects, "h", 0))
                .with("lostAtReturn", lostAtReturn.get(id))
                .with("objectsLeft", left)
                .with("leftovers", Reports.leftovers(left))
                .with(
                        "version",
                        new PoolReport.Version(pod(id).map(pod -> pod.running).orElse(""), ONE, ONE))
                .with("active", new PoolReport.Active(1, 1))
                .build();
    }
}
