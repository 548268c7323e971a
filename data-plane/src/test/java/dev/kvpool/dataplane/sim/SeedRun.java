// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongFunction;
import java.util.stream.Stream;

/** Runs seeds in order, some at the same time, and names the first one that fails. */
final class SeedRun {
    private static final long PROGRESS_NS = 10_000_000_000L;

    /** Each simulation is of one thread. */
    private static final int THREADS =
            Integer.getInteger("kvpool.sim.threads", Runtime.getRuntime().availableProcessors());

    private final LongFunction<Plan> plans;
    private final long first;
    private final long end;
    private final double minutes;
    private final long startedNs = System.nanoTime();
    private final Tally tally = new Tally();
    private final TreeSet<Long> running = new TreeSet<>();
    private final TreeMap<Long, SeedFailed> failed = new TreeMap<>();
    private long next;
    private long toldNs = startedNs;

    private SeedRun(LongFunction<Plan> plans, long first, long seeds, double minutes) {
        this.plans = plans;
        this.first = first;
        this.end = first + seeds;
        this.minutes = minutes;
        this.next = first;
    }

    /** {@code SeedRun FIRST SEEDS [MINUTES [tenants|ascend|engines]]}: exits with 1 at the first seed that fails; begins none after that time. */
    public static void main(String[] args) {
        long first = Long.parseLong(args[0]);
        long seeds = Long.parseLong(args[1]);
        try {
            double minutes = args.length > 2 ? Double.parseDouble(args[2]) : Double.MAX_VALUE;
            System.out.println(run(plans(args.length > 3 ? args[3] : ""), first, seeds, minutes));
        } catch (SeedFailed e) {
            System.out.println("FAILED after " + (e.seed - first + 1) + " seeds: " + e.getMessage());
            e.getCause().printStackTrace(System.out);
            System.exit(1);
        }
    }

    private static LongFunction<Plan> plans(String name) {
        return switch (name) {
            case "" -> Plan::of;
            case "tenants" -> Plan::ofTenants;
            case "ascend" -> Plan::ofAscend;
            case "engines" -> Plan::ofEngines;
            default -> throw new IllegalArgumentException("there are no plans named " + name);
        };
    }

    /** A seed in which something that must always hold did not. */
    static final class SeedFailed extends AssertionError {
        final long seed;

        SeedFailed(long seed, String traced, Throwable cause) {
            super(
                    "seed %d (alone: -Dkvpool.sim.seed=%d, with -Dkvpool.sim.trace=true it tells more): %s%n%s"
                            .formatted(seed, seed, cause.getMessage(), traced),
                    cause);
            this.seed = seed;
        }
    }

    /** What happened in all of them. */
    static Tally run(long first, long seeds) {
        return run(Plan::of, first, seeds);
    }

    /** @param plans the pool of each seed */
    static Tally run(LongFunction<Plan> plans, long first, long seeds) {
        return run(plans, first, seeds, Double.MAX_VALUE);
    }

    private static Tally run(LongFunction<Plan> plans, long first, long seeds, double minutes) {
        return new SeedRun(plans, first, seeds, minutes).all();
    }

    /** @throws SeedFailed of the first seed that fails, as if they had run one after the other */
    private Tally all() {
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            Stream.generate(() -> CompletableFuture.runAsync(this::some, threads))
                    .limit(THREADS)
                    .toList()
                    .forEach(CompletableFuture::join);
        }
        if (!failed.isEmpty()) {
            throw failed.firstEntry().getValue();
        }
        tell();
        return tally;
    }

    private void some() {
        for (OptionalLong seed = next(); seed.isPresent(); seed = next()) {
            try {
                held(seed.getAsLong(), one(plans, seed.getAsLong()).tally);
            } catch (SeedFailed e) {
                failed(e);
            }
        }
    }

    private synchronized OptionalLong next() {
        boolean goesOn = failed.isEmpty() && next < end && System.nanoTime() - startedNs < minutes * 60e9;
        if (!goesOn) {
            return OptionalLong.empty();
        }
        running.add(next);
        return OptionalLong.of(next++);
    }

    private synchronized void held(long seed, Tally happened) {
        tally.add(happened);
        running.remove(seed);
        if (failed.isEmpty() && System.nanoTime() - toldNs > PROGRESS_NS) {
            toldNs = System.nanoTime();
            tell();
        }
    }

    /** Seeds below it are under way: one of them may fail as well. */
    private synchronized void failed(SeedFailed failure) {
        failed.put(failure.seed, failure);
        running.remove(failure.seed);
    }

    private synchronized void tell() {
        long last = (running.isEmpty() ? next : running.first()) - 1;
        double rate = (next - first - running.size()) * 1e9 / (System.nanoTime() - startedNs);
        System.out.printf("seeds %d to %d hold, %.1f a second%n", first, last, rate);
    }

    /** Runs one seed; the simulation is closed when it returns. */
    static Simulation one(long seed) {
        return one(Plan::of, seed);
    }

    static Simulation one(LongFunction<Plan> plans, long seed) {
        try (Simulation simulation = new Simulation(seed, plans.apply(seed))) {
            try {
                simulation.run();
            } catch (Throwable e) { // an Error too: a stack or memory that does not suffice is found by a seed as well
                throw new SeedFailed(seed, simulation.world.traced(), e);
            }
            return simulation;
        } catch (SeedFailed e) {
            throw e;
        } catch (Throwable e) {
            throw new SeedFailed(seed, "", e);
        }
    }
}
