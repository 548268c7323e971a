// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.random;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.api.v1alpha1.storage.LeftoverPolicy;
import dev.kvpool.operator.pool.blueprint.Requests;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.random.RandomCluster.Host;
import dev.kvpool.operator.pool.random.RandomCluster.Pod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Upgrades, changed settings, also such that never get ready, other numbers of storage nodes, restarts, maintenance of machines, and drains and failovers that users ask for,
 * all at once and at random moments, while machines are lost, containers crash, pods cannot be created, operators die and the API server takes
 * no writes.
 * {@link Rules} hold all the time, and when nothing goes wrong any more each pool is soon as its spec says.
 * {@code -Dtransitions.seed=N} plays one story, {@code -Dtransitions.seeds=COUNT} as many.
 */
class TransitionsAtRandomTest {
    private static final List<String> IMAGES = List.of(RandomPool.FIRST_IMAGE, "kvpool:2", "kvpool:3");
    private static final int EVENTS = 30;
    private static final int ROUNDS_BETWEEN_MAX = 14;
    private static final int LOOKS_TO_THE_END = 1_000;
    private static final int SEEDS = 12;

    private final List<String> story = new ArrayList<>();

    static LongStream seeds() {
        Long one = Long.getLong("transitions.seed");
        return one != null ? LongStream.of(one) : LongStream.range(0, Long.getLong("transitions.seeds", SEEDS));
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void whateverHappensTheRulesHoldAndItEnds(long seed) {
        Random random = new Random(seed);
        RandomPool pool = pool(random);
        Random ofSettings = new Random(~seed);
        Random ofPods = new Random(-seed);
        try {
            rounds(pool, 20);
            for (int i = 0; i < EVENTS; i++) {
                event(pool, random);
                if (seed % 2 == 1) {
                    settings(pool, ofSettings);
                }
                if (seed % 3 == 2) {
                    refusals(pool, ofPods);
                }
                rounds(pool, random.nextInt(ROUNDS_BETWEEN_MAX));
            }
            story.add("nothing goes wrong any more");
            calm(pool, random);
            for (int look = 0; look < LOOKS_TO_THE_END && !(look > 10 && pool.isAsWanted()); look++) {
                if (look % 20 == 19) {
                    pool.later(Duration.ofMinutes(1));
                }
                if (look == LOOKS_TO_THE_END / 2) {
                    // What a person does about objects that were lost with a machine, and about pods of which no master
                    // knows whether they hold anything. What was tried again before settings were good again may have
                    // failed for them.
                    pool.data.fail(pool.now());
                    pool.annotations.put(PoolLabels.RETRY, "and once more");
                    pool.cluster.pods().stream()
                            .filter(pod -> pod.broken && !pool.data.isMet(pod.id()))
                            .forEach(pod -> pool.cluster.delete(pod, RandomCluster.End.EVICTED));
                    // One that goes and never gets ready keeps its pod with the settings that are wrong, and is never
                    // emptied: the condition tells its user to let go of what it holds.
                    if (pool.cluster.pods().stream().anyMatch(pod -> pod.broken && pool.hasLeftovers(pod.id()))) {
                        pool.onLeftovers = LeftoverPolicy.DROP;
                    }
                }
                pool.round();
            }
        } catch (Rules.Broken e) {
            throw new AssertionError(
                    "seed %d: %s%nafter %s%n%s".formatted(seed, e.getMessage(), story, goesOn(pool)), e);
        }

        assertThat(pool.unlike())
                .as("seed %d, after %s%n%s", seed, story, goesOn(pool))
                .isEmpty();
    }

    private static String goesOn(RandomPool pool) {
        return "%s%n%s".formatted(pool.status().steps(), pool.status().roll());
    }

    private static RandomPool pool(Random random) {
        RandomPool pool = new RandomPool(random, 3 + random.nextInt(3));
        pool.masters = 1 + random.nextInt(3);
        pool.replicas.put("a", 1 + random.nextInt(3));
        if (random.nextBoolean()) {
            pool.replicas.put("v", 1 + random.nextInt(2));
        }
        pool.perNode = random.nextInt(3) == 0;
        pool.maxUnavailable = 1 + random.nextInt(2);
        pool.onDataLoss = one(random, DataLossPolicy.values());
        pool.onLeftovers = one(random, LeftoverPolicy.values());
        return pool;
    }

    private static <T> T one(Random random, T[] of) {
        return List.of(of).get(random.nextInt(of.length));
    }

    private void rounds(RandomPool pool, int count) {
        for (int i = 0; i < count; i++) {
            pool.round();
            if (story.contains("somebody drains machines")) {
                pool.cluster.evict();
            }
        }
    }

    private void event(RandomPool pool, Random random) {
        switch (random.nextInt(25)) {
            case 0, 1 -> {
                pool.image = IMAGES.get(random.nextInt(IMAGES.size()));
                story.add("want " + pool.image);
            }
            case 2, 3 -> {
                String set = List.of("a", "v", "p").get(random.nextInt(3));
                pool.capacity.merge(set, 1, (one, other) -> 3 - one);
                story.add("other capacity of " + set);
            }
            case 4, 5 -> {
                String set = random.nextInt(3) == 0 ? "v" : "a";
                pool.replicas.put(set, 1 + random.nextInt(4));
                story.add("%s has %d nodes".formatted(set, pool.replicas.get(set)));
            }
            case 6 -> {
                pool.replicas.remove("v");
                story.add("no set v");
            }
            case 7, 8 -> {
                String role = List.of(
                                PoolLabels.RESTART,
                                PoolLabels.restart(PoolLabels.ROLE_MASTER),
                                PoolLabels.restart(PoolLabels.ROLE_STORAGE),
                                PoolLabels.restart(PoolLabels.ROLE_AGENT))
                        .get(random.nextInt(4));
                pool.annotations.put(role, pool.now().toString());
                story.add(role);
            }
            case 9, 10 -> {
                Host host = host(pool, random);
                host.cordoned = !host.cordoned;
                story.add(host.name + (host.cordoned ? " is cordoned" : " is uncordoned"));
            }
            case 11 -> story.add("somebody drains machines");
            case 12 -> machine(pool, random);
            case 13 -> {
                Pod pod = List.copyOf(pool.cluster.pods())
                        .get(random.nextInt(pool.cluster.pods().size()));
                pool.cluster.crash(pod);
                pool.rules.fault(pod);
                story.add(pod.name + " crashes");
            }
            case 14 -> {
                pool.data.fail(pool.now());
                story.add("another master leads");
            }
            case 15 -> {
                pool.data.full = !pool.data.full;
                String image = IMAGES.get(random.nextInt(IMAGES.size()));
                if (!pool.cluster.bad.remove(image) && !image.equals(RandomPool.FIRST_IMAGE)) {
                    pool.cluster.bad.add(image);
                }
                story.add("full %s, images that do not work: %s".formatted(pool.data.full, pool.cluster.bad));
            }
            case 16 -> {
                pool.verdict =
                        List.of("rolling-warm", "rolling-drained", "refused").get(random.nextInt(3));
                story.add(pool.verdict);
            }
            case 17 -> {
                Duration time = Duration.ofMinutes(random.nextInt(40));
                pool.later(time);
                story.add(time + " pass");
            }
            case 18 -> {
                boolean all = random.nextInt(4) == 0;
                pool.paused = all && !pool.paused;
                pool.upgradePaused = !all && !pool.upgradePaused;
                story.add("paused %s, upgrade paused %s".formatted(pool.paused, pool.upgradePaused));
            }
            case 19 -> {
                pool.masters = 1 + random.nextInt(3);
                story.add(pool.masters + " masters");
            }
            case 20, 21 -> drain(pool, random);
            case 22 -> {
                long epoch = pool.epoch() - (random.nextInt(4) == 0 ? 1 : 0);
                pool.annotations.put(PoolLabels.FAILOVER, Long.toString(epoch));
                story.add("failover of epoch %d, which is %d".formatted(epoch, pool.epoch()));
            }
            case 23 -> {
                int rounds = 1 + random.nextInt(2 * ROUNDS_BETWEEN_MAX);
                for (int i = 0; i < rounds; i++) {
                    pool.roundInOutage();
                }
                story.add("no writes for %d rounds".formatted(rounds));
            }
            default -> operator(pool, random);
        }
    }

    /** Of one in two pools, so that as many play the other stories by themselves. */
    private void settings(RandomPool pool, Random random) {
        if (random.nextInt(12) == 0) {
            String set = List.of(PoolLabels.ROLE_MASTER, "a", "v", "p").get(random.nextInt(4));
            if (!pool.broken.remove(set)) {
                pool.broken.add(set);
            }
            story.add("settings that never get ready: " + pool.broken);
        }
    }

    /** Of one in three pools. */
    private void refusals(RandomPool pool, Random random) {
        if (random.nextInt(10) == 0) {
            pool.cluster.refuses = !pool.cluster.refuses;
            story.add(pool.cluster.refuses ? "no pod can be created" : "pods can be created");
        }
    }

    /** A user asks for some storage nodes to be empty, and no longer for others. */
    private void drain(RandomPool pool, Random random) {
        Map<String, String> drains = new TreeMap<>();
        pool.cluster.pods().stream()
                .filter(pod -> !pod.master() && random.nextInt(4) == 0)
                .forEach(pod -> drains.put(pod.id(), pod.uid));
        pool.annotations.put(PoolLabels.DRAIN, Requests.text(drains));
        story.add("drain " + drains);
    }

    private static Host host(RandomPool pool, Random random) {
        return List.copyOf(pool.cluster.hosts.values()).get(random.nextInt(pool.cluster.hosts.size()));
    }

    private void machine(RandomPool pool, Random random) {
        Host host = host(pool, random);
        if (host.ready) {
            pool.cluster.lose(host);
            story.add(host.name + " is lost");
        } else {
            boolean rebooted = random.nextBoolean();
            pool.cluster.isBack(host, rebooted);
            story.add(host.name + (rebooted ? " has rebooted" : " is reached again"));
        }
    }

    private void operator(RandomPool pool, Random random) {
        if (random.nextBoolean()) {
            pool.roundCutShort();
            story.add("operator dies");
        } else {
            pool.roundWithStaleStatus();
            story.add("old status");
        }
    }

    /** Everything works, and the spec allows what it asks for. */
    private static void calm(RandomPool pool, Random random) {
        pool.cluster.bad.clear();
        pool.broken.clear();
        pool.cluster.refuses = false;
        pool.cluster.hosts.values().forEach(host -> {
            if (!host.ready) {
                pool.cluster.isBack(host, random.nextBoolean());
            }
            host.cordoned = false;
        });
        pool.data.full = false;
        pool.paused = false;
        pool.upgradePaused = false;
        pool.verdict = random.nextBoolean() ? "rolling-warm" : "rolling-drained";
        pool.annotations.put(PoolLabels.RETRY, "once more");
        // What is left of these asks for nothing.
        pool.annotations.put(PoolLabels.DRAIN, "demo-a-0=gone");
        if (pool.masters == 1) {
            pool.annotations.remove(PoolLabels.FAILOVER);
        }
        boolean onlyOne = pool.replicas.values().stream().mapToInt(it -> it).sum() < 3 && !pool.perNode;
        if (onlyOne) {
            pool.onDataLoss = DataLossPolicy.REPLACE;
        } else if (pool.onDataLoss == DataLossPolicy.WAIT) {
            pool.onDataLoss = DataLossPolicy.MOVE;
        }
    }
}
