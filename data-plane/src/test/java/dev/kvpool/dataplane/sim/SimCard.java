// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.nativecore.NativeMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** CANN's engine of one life of a node: its channels to engines of clients, and what its card moves over them. */
final class SimCard {
    private static final int CONNECTS_A_FULL_ONE = 40;
    private static final int CONNECTS_A_LATE_ONE = 25;
    private static final int ENDS_A_FAILED_ONE = 4;
    private static final int TRANSFERS_A_BROKEN_ONE = 60;
    private static final int TRANSFERS_A_HANG = 30;
    private static final int TRANSFERS_A_PART = 40;
    private static final int TRANSFERS_A_SLOW_ONE = 20;
    private static final int HALVES_A_GARBLED_ONE = 120;
    private static final long QUICK_MS_MAX = 3;

    /** How long CANN may take to end a channel. */
    private static final long DISCONNECT_MS = 1_000;

    /** Clocks differ by less than that over the time for which a card repeats. */
    private static final long REPEATS_LESS_MS = 100;

    /** No payload is so short, but what a node reads to see whether it reaches a client. */
    private static final long PROBE_BYTES_MAX = 64;

    /** A channel knows the memory that was registered when it was made. */
    private static final class Channel {
        private final SimEngine engine;
        private final int known;
        private boolean usable = true;

        private Channel(SimEngine engine) {
            this.engine = engine;
            this.known = engine.registered();
        }
    }

    private record Answer(int status, long afterMs) {}

    private record Call(long number, String endpoint, boolean writes, long local, long remote, long length) {
        boolean overlaps(Call other) {
            return local < other.local + other.length && other.local < local + length;
        }
    }

    private static final class Moving {
        private final Call call;
        private final SimEngine engine;
        private final long lending;
        private boolean over;

        private Moving(Call call, SimEngine engine) {
            this.call = call;
            this.engine = engine;
            this.lending = engine.lending(call.remote);
        }
    }

    private final SimNode node;
    private final SimCann cann;
    private final World world;
    private final Map<String, Channel> channels = new TreeMap<>();
    private final List<Moving> moving = new ArrayList<>();
    private boolean gone;

    SimCard(SimNode node, SimCann cann) {
        this.node = node;
        this.cann = cann;
        this.world = node.world;
    }

    /** The process has died: nothing moves any more. */
    void goes() {
        gone = true;
    }

    void connect(long call, String endpoint, long timeoutMs) {
        answer(call, open(endpoint, timeoutMs));
    }

    void disconnect(long call, String endpoint) {
        if (!channels.containsKey(endpoint)) {
            answer(call, new Answer(SimCann.NOT_CONNECTED, quickMs()));
            return;
        }
        SimEngine engine = cann.at(endpoint);
        boolean tells = engine != null && cann.reaches(node, engine) && !engine.owner.isFrozen();
        if (!tells || cann.fails(ENDS_A_FAILED_ONE, "peer not told of an end")) {
            cann.tally.count("CANN: channel kept");
            answer(call, new Answer(SimCann.FAILED, world.between(0, DISCONNECT_MS)));
            return;
        }
        drop(endpoint);
        answer(call, new Answer(SimCann.OK, quickMs()));
    }

    void read(long call, String endpoint, long local, long remote, long length, long timeoutMs) {
        transfer(new Call(call, endpoint, false, local, remote, length), timeoutMs);
    }

    void write(long call, String endpoint, long local, long remote, long length, long timeoutMs) {
        transfer(new Call(call, endpoint, true, local, remote, length), timeoutMs);
    }

    // ---- channels ---------------------------------------------------------------------------------------------------

    private Answer open(String endpoint, long timeoutMs) {
        if (channels.containsKey(endpoint)) {
            cann.tally.count("CANN: already connected");
            return new Answer(SimCann.ALREADY_CONNECTED, quickMs());
        }
        if (cann.fails(CONNECTS_A_FULL_ONE, "no room for a channel")) {
            return new Answer(SimCann.RESOURCE_EXHAUSTED, quickMs());
        }
        SimEngine engine = cann.at(endpoint);
        if (engine == null) {
            cann.tally.count("CANN: connect refused");
            return new Answer(SimCann.FAILED, quickMs());
        }
        if (!cann.reaches(node, engine) || engine.owner.isFrozen()) {
            return new Answer(SimCann.TIMEOUT, timeoutMs);
        }
        if (cann.fails(CONNECTS_A_LATE_ONE, "connect timed out")) {
            if (world.oneIn(2)) {
                channels.put(endpoint, new Channel(engine)); // all the same
            }
            return new Answer(SimCann.TIMEOUT, timeoutMs);
        }
        channels.put(endpoint, new Channel(engine));
        return new Answer(SimCann.OK, world.between(0, 20));
    }

    /** Nothing moves over it any more. */
    private void drop(String endpoint) {
        channels.remove(endpoint);
        for (Moving one : moving) {
            one.over = one.over || one.call.endpoint.equals(endpoint);
        }
    }

    /** The channel cannot be used any more. Where CANN makes it, it ends it, if it reaches the peer. */
    private void breaks(String endpoint, Channel channel) {
        channel.usable = false;
        SimEngine engine = cann.at(endpoint);
        boolean ends = cann.plan.settings().connectsByItself() && engine != null && cann.reaches(node, engine);
        if (ends && channels.get(endpoint) == channel) {
            drop(endpoint);
        }
    }

    // ---- transfers --------------------------------------------------------------------------------------------------

    private void transfer(Call call, long timeoutMs) {
        moving.removeIf(one -> one.over);
        for (Moving other : moving) {
            Violation.unless(
                    !call.overlaps(other.call),
                    "memory in transfer is not reused",
                    "%s moves %d bytes of its staging memory while its card may still move them with %s",
                    node,
                    call.length,
                    other.call.endpoint);
        }
        if (!channels.containsKey(call.endpoint) && cann.plan.settings().connectsByItself()) {
            Answer opened = open(call.endpoint, timeoutMs);
            if (opened.status != SimCann.OK) {
                answer(call.number, opened);
                return;
            }
        }
        Channel channel = channels.get(call.endpoint);
        if (channel == null) {
            answer(call.number, new Answer(SimCann.NOT_CONNECTED, quickMs()));
        } else if (!channel.usable || channel.engine.isGone() || cann.fails(TRANSFERS_A_BROKEN_ONE, "channel broken")) {
            breaks(call.endpoint, channel);
            answer(call.number, new Answer(SimCann.FAILED, world.oneIn(3) ? timeoutMs : quickMs()));
        } else if (!channel.engine.has(channel.known, call.remote, call.length)) {
            cann.tally.count("CANN: memory not known");
            answer(call.number, new Answer(SimCann.PARAM_INVALID, quickMs()));
        } else {
            Moving one = new Moving(call, channel.engine);
            moving.add(one);
            begin(one, channel, timeoutMs);
        }
    }

    private void begin(Moving one, Channel channel, long timeoutMs) {
        Call call = one.call;
        if (!cann.reaches(node, one.engine) || cann.fails(TRANSFERS_A_HANG, "transfer timed out")) {
            hang(one, channel, timeoutMs);
        } else if (cann.fails(TRANSFERS_A_PART, "transfer failed in its middle")) {
            move(one, 0, call.length / 2);
            one.over = true;
            breaks(call.endpoint, channel);
            answer(call.number, new Answer(SimCann.FAILED, quickMs()));
        } else {
            boolean slow = cann.fails(TRANSFERS_A_SLOW_ONE, "transfer slow");
            long tookMs = slow ? world.between(50, timeoutMs) : quickMs();
            world.in(tookMs / 2, () -> move(one, 0, call.length / 2));
            world.in(tookMs, () -> end(one, channel));
        }
    }

    private void end(Moving one, Channel channel) {
        Call call = one.call;
        boolean moved = move(one, call.length / 2, call.length);
        one.over = true;
        if (moved && call.length > PROBE_BYTES_MAX) {
            cann.tally.count(call.writes ? "values read by CANN" : "values written by CANN");
        }
        if (!moved) {
            breaks(call.endpoint, channel);
        }
        answer(call.number, new Answer(moved ? SimCann.OK : SimCann.FAILED, 0));
    }

    /** What was begun goes on at any time, until the channel ends or the card gives up. */
    private void hang(Moving one, Channel channel, long timeoutMs) {
        Call call = one.call;
        long repeatsMs = timeoutMs + cann.plan.settings().cardRepeatsMs() - REPEATS_LESS_MS;
        world.in(world.between(0, repeatsMs), () -> move(one, 0, call.length / 2));
        world.in(world.between(0, repeatsMs), () -> move(one, call.length / 2, call.length));
        world.in(timeoutMs, () -> breaks(call.endpoint, channel));
        world.in(repeatsMs, () -> one.over = true);
        answer(call.number, new Answer(SimCann.TIMEOUT, timeoutMs));
    }

    /** Whether the bytes moved. */
    private boolean move(Moving one, long from, long to) {
        if (gone || one.over || one.engine.isGone() || !cann.reaches(node, one.engine)) {
            return false;
        }
        Call call = one.call;
        Violation.unless(
                one.engine.mayTouch(call.remote, one.lending),
                "offered memory rests",
                "the card of %s moves bytes of memory that %s has lent to another connection meanwhile",
                node,
                one.engine.owner);
        long here = call.local + from;
        long there = one.engine.real(call.remote) + from;
        byte[] bytes = NativeMemory.read(call.writes ? here : there, (int) (to - from));
        if (bytes.length > 0 && node.network.garbles(HALVES_A_GARBLED_ONE)) {
            bytes[world.random.nextInt(bytes.length)] ^= 1;
        }
        NativeMemory.write(call.writes ? there : here, bytes);
        return true;
    }

    // ---- answers ----------------------------------------------------------------------------------------------------

    private long quickMs() {
        return world.between(0, QUICK_MS_MAX);
    }

    private void answer(long call, Answer answer) {
        if (!gone) {
            node.in(answer.afterMs, () -> node.cannAnswered(call, answer.status));
        }
    }
}
