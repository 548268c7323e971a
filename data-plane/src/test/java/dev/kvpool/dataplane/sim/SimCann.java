// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import java.util.Map;
import java.util.TreeMap;

/** CANN of a pool: where the engines of clients are, and whether something goes wrong. */
final class SimCann {
    static final int OK = 0;
    static final int PARAM_INVALID = 103_900;
    static final int TIMEOUT = 103_901;
    static final int NOT_CONNECTED = 103_902;
    static final int ALREADY_CONNECTED = 103_903;
    static final int RESOURCE_EXHAUSTED = 203_900;
    static final int FAILED = 503_900;

    final CannPlan plan;
    final Tally tally;
    private final World world;
    private final Network network;
    private final Map<String, SimEngine> engines = new TreeMap<>();
    private boolean calm;

    SimCann(CannPlan plan, Network network, Tally tally) {
        this.plan = plan;
        this.world = network.world;
        this.network = network;
        this.tally = tally;
    }

    void listen(SimEngine engine) {
        engines.put(engine.endpoint, engine);
    }

    /** The engine that listens at an address; null when there is none. */
    SimEngine at(String endpoint) {
        SimEngine engine = engines.get(endpoint);
        return engine == null || engine.isGone() ? null : engine;
    }

    boolean reaches(SimNode node, SimEngine engine) {
        return !network.isBlocked(node, engine.owner) && !network.isBlocked(engine.owner, node);
    }

    /** Whether this goes wrong, once in so many times. */
    boolean fails(int onceIn, String what) {
        boolean fails = !calm && world.oneIn(onceIn);
        if (fails) {
            tally.count("CANN: " + what);
        }
        return fails;
    }

    /** From now on nothing goes wrong by itself. */
    void calm() {
        calm = true;
    }
}
