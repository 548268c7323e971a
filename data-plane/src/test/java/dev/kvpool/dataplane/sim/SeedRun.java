// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import java.util.function.LongFunction;

/** Runs seeds one after the other, and names the one that fails. */
final class SeedRun {
    private static final long PROGRESS_NS = 10_000_000_000L;

    private SeedRun() {}

    /** {@code SeedRun FIRST SEEDS [MINUTES [tenants|ascend]]}: exits with 1 at the first seed that fails; begins none after that time. */
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
            default -> throw new IllegalArgumentException("there are no plans named " + name);
        };
    }

    /** A seed in which something that must always hold did not. */
    static final class SeedFailed extends AssertionError {
        final long seed;

        SeedFailed(long seed, Simulation simulation, Throwable cause) {
            super(
                    "seed %d (alone: -Dkvpool.sim.seed=%d, with -Dkvpool.sim.trace=true it tells more): %s%n%s"
                            .formatted(seed, seed, cause.getMessage(), simulation.world.traced()),
                    cause);
            this.seed = seed;
        }
    }

    /** What happened in all of them. */
    static Tally run(long first, long seeds) {
        return run(Plan::of, first, seeds, Double.MAX_VALUE);
    }

    /** @param plans the pool of each seed */
    static Tally run(LongFunction<Plan> plans, long first, long seeds) {
        return run(plans, first, seeds, Double.MAX_VALUE);
    }

    private static Tally run(LongFunction<Plan> plans, long first, long seeds, double minutes) {
        Tally all = new Tally();
        long startedNs = System.nanoTime();
        long toldNs = startedNs;
        long seed = first;
        for (; seed < first + seeds && System.nanoTime() - startedNs < minutes * 60e9; seed++) {
            all.add(one(plans, seed).tally);
            if (System.nanoTime() - toldNs > PROGRESS_NS) {
                toldNs = System.nanoTime();
                System.out.printf("seeds %d to %d hold, %.1f a second%n", first, seed, rate(first, seed, startedNs));
            }
        }
        System.out.printf("seeds %d to %d hold, %.1f a second%n", first, seed - 1, rate(first, seed - 1, startedNs));
        return all;
    }

    private static double rate(long first, long last, long startedNs) {
        return (last - first + 1) * 1e9 / (System.nanoTime() - startedNs);
    }

    /** Runs one seed; the simulation is closed when it returns. */
    static Simulation one(long seed) {
        return one(Plan::of, seed);
    }

    static Simulation one(LongFunction<Plan> plans, long seed) {
        try (Simulation simulation = new Simulation(seed, plans.apply(seed))) {
            try {
                simulation.run();
            } catch (RuntimeException | AssertionError e) {
                throw new SeedFailed(seed, simulation, e);
            }
            return simulation;
        }
    }
}
