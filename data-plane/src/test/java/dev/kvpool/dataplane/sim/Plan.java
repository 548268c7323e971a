// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.election.ElectionTimes;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.sim.nativecore.ClientCore.Way;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * What pool a seed runs, and under which load and faults. Seeds differ in what they leave out: a checker that must excuse a
 * miss because of a removal says more where nothing is removed.
 *
 * @param nodes storage nodes; none in pools of engines alone
 * @param transientNodes nodes of engines; where there are two of them beside storage nodes, half of the pools have one of those
 * @param forcing removals may be forced
 * @param tight values so large that the pool evicts
 * @param cramped the values are so large that all of them do not fit, and puts find no room, above all after a takeover
 * @param upserting some puts replace what exists
 * @param pinning the first keys are pinned hard by every put, some others softly
 * @param ssd the nodes have SSDs, which get what the pool evicts from memory
 * @param disks the segments of nodes that lose their memory lie on disks, which lose what was not written for certain
 * @param absenceMsMax nodes are away for so long now and then, beyond the wait of a leader that starts cold; 0 for seconds only
 * @param corrupting bytes change: of payloads in memory and on the way, of records while their node is dead, of frames
 * @param spareNodes storage nodes that the pool may get; where there are any, nodes are taken in and out
 * @param sharing so many clients, the last ones, have memory in common with the nodes; the very last one scribbles
 * @param raising the pool is raised to the next wire version
 * @param driftPpm clocks go wrong by at most so much, in parts of a million, and the wall clocks of masters leap
 * @param draining nodes are emptied and taken back
 * @param changing masters are told other rules of the cache, each at its own time
 * @param blinding now and then no node reaches the leader, which reaches all others
 * @param available what may have been removed or replaced is served where no witness can tell
 * @param tenants of each client; empty where none has a certificate
 * @param cann empty where no client offers memory to nodes
 * @param reusing so many clients read what they were told of before without asking again, while its lease holds
 * @param lying one storage node of three or more now and then says what is not so
 * @param filling nodes have no room for tombstones now and then
 * @param swapping see {@link #swaps}
 * @param forgetting all nodes that know what one away has missed lose their memory, and no master lives that knows it
 */
record Plan(
        SimTimes times,
        int masters,
        int nodes,
        int transientNodes,
        int replicas,
        int clients,
        int keys,
        boolean removing,
        boolean forcing,
        boolean removingAll,
        boolean tight,
        boolean upserting,
        boolean pinning,
        boolean draining,
        boolean wiping,
        boolean tampering,
        boolean slowNetwork,
        long loadMs,
        long faultEveryMs,
        boolean cramped,
        boolean ssd,
        int reusing,
        boolean changing,
        boolean disks,
        long absenceMsMax,
        boolean corrupting,
        int spareNodes,
        int sharing,
        boolean raising,
        int driftPpm,
        boolean blinding,
        boolean available,
        List<Tenant> tenants,
        Optional<CannPlan> cann,
        boolean lying,
        boolean filling,
        boolean forgetting,
        boolean swapping) {
    /** Those that clients may be of. */
    static final List<Tenant> TENANTS = List.of(Tenant.DEFAULT, Tenant.of("a"), Tenant.of("ab"));

    /** So few that what is pinned lies well below the watermark. */
    private static final int PINNED_KEYS = 2;

    private static final int NODES_MAX = 5;
    private static final int SPARE_NODES_MAX = 3;
    private static final int ENGINES_ALONE_MAX = 5;

    /** One of them is not most of them. */
    private static final int LYING_NODES_MIN = 3;

    private static final int LEASE_FACTOR_MAX = 3;

    private static final long SOFT_PIN_MS = 1_800_000;

    private static final long BLIND_MS = 20_000;

    private static final long ABSENCE_MS_MAX = 90_000;

    /** Ten times what a clock that is never set right is off. */
    private static final int DRIFT_PPM_MAX = 5_000;

    private static final ElectionTimes QUICK = new ElectionTimes(1_500, 900, 300);

    static Plan of(long seed) {
        return of(seed, Optional.empty(), areEnginesAlone(seed));
    }

    /** The pool of a seed, with clients that offer memory to nodes, and larger values. */
    static Plan ofAscend(long seed) {
        return of(seed, Optional.of(CannPlan.of(seed)), areEnginesAlone(seed));
    }

    /** The pool of a seed, without storage nodes. */
    static Plan ofEngines(long seed) {
        return of(seed, Optional.empty(), true);
    }

    private static boolean areEnginesAlone(long seed) {
        return new SplittableRandom(seed ^ 0xA10E).nextInt(8) == 0;
    }

    private static Plan of(long seed, Optional<CannPlan> cann, boolean enginesAlone) {
        SplittableRandom dice = new SplittableRandom(seed ^ 0x5EED);
        boolean removing = dice.nextInt(2) == 0;
        boolean tight = dice.nextInt(4) == 0;
        boolean cramped = tight && new SplittableRandom(seed ^ 0xC4A3).nextInt(4) == 0;
        ElectionTimes election = dice.nextInt(4) < 2 ? ElectionTimes.DEFAULT : QUICK;
        SplittableRandom engineDice = new SplittableRandom(seed ^ 0xE6619E);
        boolean twoEngines = engineDice.nextBoolean();
        boolean oneStorageNode = engineDice.nextBoolean();
        SimTimes times = new SimTimes(election, dice.nextLong(300, 3_000), dice.nextLong(500, 5_000));
        int masters = 2 + dice.nextInt(2);
        int few = 2 + dice.nextInt(2);
        SplittableRandom sizeDice = new SplittableRandom(seed ^ 0x51E);
        int nodes = sizeDice.nextInt(4) == 0 ? sizeDice.nextInt(4, NODES_MAX + 1) : few;
        SplittableRandom spareDice = new SplittableRandom(seed ^ 0x59A4E);
        int spareNodes = spareDice.nextInt(6) == 0 && !enginesAlone ? spareDice.nextInt(1, SPARE_NODES_MAX + 1) : 0;
        boolean absences = new SplittableRandom(seed ^ 0xAB5E).nextInt(spareNodes > 0 ? 2 : 8) == 0;
        boolean blinding = new SplittableRandom(seed ^ 0xB1D).nextInt(5) == 0;
        int engines = dice.nextInt(3) != 0 ? 0 : twoEngines ? 2 : 1;
        int storageNodes = enginesAlone ? 0 : engines == 2 && oneStorageNode ? 1 : nodes;
        boolean available = new SplittableRandom(seed ^ 0xA7A11).nextInt(6) == 0;
        int clients = 3;
        int sharing = Math.max(0, new SplittableRandom(seed ^ 0x5A4E).nextInt(-1, 3));
        return new Plan(
                times,
                masters,
                storageNodes,
                enginesAlone ? new SplittableRandom(seed ^ 0xE61E5).nextInt(1, ENGINES_ALONE_MAX + 1) : engines,
                1 + dice.nextInt(2),
                clients,
                cramped ? 45 : tight ? 30 : 3 + dice.nextInt(8),
                removing,
                removing && dice.nextInt(2) == 0,
                removing && dice.nextInt(3) == 0,
                tight,
                dice.nextInt(3) == 0,
                dice.nextInt(4) == 0,
                dice.nextInt(4) == 0,
                dice.nextInt(4) == 0,
                dice.nextInt(3) == 0,
                dice.nextInt(2) == 0,
                dice.nextLong(10_000, 22_000)
                        + (absences ? ABSENCE_MS_MAX : 0)
                        + (absences && spareNodes > 0 ? Bounds.UNEXPECTED_AWAY_MS : 0)
                        + (blinding ? BLIND_MS : 0),
                dice.nextLong(200, 1_500) * (absences ? 3 : 1),
                cramped,
                tight && new SplittableRandom(seed ^ 0x55D).nextBoolean(),
                Math.max(0, new SplittableRandom(seed ^ 0x2E05E).nextInt(-1, 3)),
                new SplittableRandom(seed ^ 0xC4A6E).nextInt(3) == 0,
                new SplittableRandom(seed ^ 0xD15C).nextBoolean(),
                absences ? ABSENCE_MS_MAX : 0,
                new SplittableRandom(seed ^ 0xC0440).nextInt(4) == 0,
                spareNodes,
                cann.map(it -> Math.min(sharing, clients - it.clients())).orElse(sharing),
                new SplittableRandom(seed ^ 0x4A15E).nextInt(6) == 0,
                new SplittableRandom(seed ^ 0xD21F).nextBoolean() ? DRIFT_PPM_MAX : 0,
                blinding,
                available,
                List.of(),
                cann,
                storageNodes >= LYING_NODES_MIN
                        && spareNodes == 0
                        && new SplittableRandom(seed ^ 0x11E5).nextInt(5) == 0,
                storageNodes > 1
                        && !cramped
                        && !available
                        && new SplittableRandom(seed ^ 0xF0113).nextInt(tight ? 3 : 10) == 0,
                removing && storageNodes > 1 && spareNodes == 0 && new SplittableRandom(seed ^ 0xF0463).nextInt(4) == 0,
                new SplittableRandom(seed ^ 0x54A9).nextInt(3) != 0);
    }

    /**
     * The pool of a seed, with a certificate for each process and clients of two or three tenants, under the same keys; no memory is
     * shared.
     */
    static Plan ofTenants(long seed) {
        Plan plain = of(seed);
        SplittableRandom dice = new SplittableRandom(seed ^ 0x7E2A);
        List<Tenant> tenants = new ArrayList<>(TENANTS);
        if (dice.nextBoolean()) {
            tenants.set(dice.nextInt(TENANTS.size()), TENANTS.get(dice.nextInt(TENANTS.size())));
        }
        return new Plan(
                plain.times,
                plain.masters,
                plain.nodes,
                plain.nodes == 0 ? Math.max(TENANTS.size(), plain.transientNodes) : plain.transientNodes,
                plain.replicas,
                plain.clients,
                Math.min(plain.keys, plain.cramped ? 15 : 10),
                plain.removing,
                plain.forcing,
                plain.removing, // that of one tenant is what others must not feel
                plain.tight,
                plain.upserting,
                plain.pinning,
                plain.draining,
                plain.wiping,
                plain.tampering,
                plain.slowNetwork,
                plain.loadMs,
                plain.faultEveryMs,
                plain.cramped,
                plain.ssd,
                plain.reusing,
                plain.changing,
                plain.disks,
                plain.absenceMsMax,
                plain.corrupting,
                plain.spareNodes,
                0,
                plain.raising,
                plain.driftPpm,
                plain.blinding,
                plain.available,
                List.copyOf(tenants),
                Optional.empty(),
                plain.lying,
                plain.filling,
                plain.forgetting,
                plain.swapping);
    }

    /** What moves the payloads of a client, by its number. */
    Way way(int client) {
        if (cann.isPresent() && client < cann.get().clients()) {
            return cann.get().way();
        }
        return client >= clients - sharing ? Way.SHARED_MEMORY : Way.TCP;
    }

    /** Whether a client writes to what it has staged while a node copies that. */
    boolean scribbles(int client) {
        return (sharing > 0 && client == clients - 1)
                || cann.filter(it -> it.scribbles(client)).isPresent();
    }

    /** Whether a value of a put, once in so many, is large: a few are where they are not wanted for themselves. */
    int valuesALargeOne() {
        return cann.isPresent() ? 2 : 10;
    }

    /** Of a client, or of the engine behind a transient node, by its number. */
    Optional<Tenant> tenant(int number) {
        return tenants.isEmpty() ? Optional.empty() : Optional.of(tenants.get(number % tenants.size()));
    }

    /** Whether nodes are back now and then with a memory that another one had taken the place of, which has no SSD and is no disk. */
    boolean swaps() {
        return swapping && removing && nodes > 1 && spareNodes == 0 && !ssd && !disks && !corrupting && !available;
    }

    /** All keys that clients put, qualified. */
    List<String> qualifiedKeys() {
        List<String> all = new ArrayList<>();
        for (Tenant tenant : TENANTS) {
            boolean puts = tenants.isEmpty() ? tenant.isDefault() : tenants.contains(tenant);
            for (int i = 0; puts && i < keys; i++) {
                all.add(tenant.qualify(Key.of(Load.key(i))).toString());
            }
        }
        return all;
    }

    /** Whether every put of a key pins it hard; not where such an object may go with a transient node. */
    boolean isPinned(int key) {
        return pinning && transientNodes == 0 && key < PINNED_KEYS;
    }

    /** How much a time that some clock has measured may be off, when another measures it too. */
    long driftMs(long timeMs) {
        return driftPpm == 0 ? 0 : 1 + 2 * timeMs * driftPpm / 1_000_000;
    }

    /** The longest time between two steps of the load. */
    long stepMsMax() {
        return absenceMsMax > 0 ? 300 : 60;
    }

    /** The longest object lease that any master is told. */
    long objectLeaseMaxMs() {
        return changing ? LEASE_FACTOR_MAX * times.objectLeaseMs() : times.objectLeaseMs();
    }

    EvictionRules eviction() {
        if (cramped) {
            return new EvictionRules(0.9, 0.8, 0.05, SOFT_PIN_MS, true);
        }
        return tight ? EvictionRules.between(0.015, 0.02) : EvictionRules.between(0.8, 0.9);
    }

    int valueBytesMax() {
        if (cramped) {
            return 1_500_000;
        }
        if (tight) {
            return 40_000;
        }
        return cann.isPresent() ? 20_000 : 3_000;
    }
}
