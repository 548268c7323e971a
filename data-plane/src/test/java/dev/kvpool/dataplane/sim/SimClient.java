// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.nativecore.ClientCore;
import dev.kvpool.dataplane.sim.nativecore.ClientCore.Action;
import dev.kvpool.dataplane.sim.nativecore.ClientCore.Manner;
import dev.kvpool.dataplane.sim.nativecore.NativeMemory;
import dev.kvpool.dataplane.sim.nativecore.OpTable;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** A client: the native core, with this class as its I/O thread. Payloads go by the network alone. */
final class SimClient extends SimProcess {
    private static final long BUSY_TICK_MS = 5;
    private static final long IDLE_TICK_MS = 100;

    /** How long after its end a batch's memory is still looked at. */
    private static final long SPOILED_MS = 15_000;

    private record Receiving(long transfer, long memory, long length) {}

    private record Running(OpTable table, Consumer<OpTable> whenDone, long deadlineMs) {}

    /** Whether it reads what it was told of before without asking again. */
    final boolean reuses;

    private final String masters;
    private final Map<Long, End> ends = new TreeMap<>();
    private final Map<Long, Receiving> receiving = new TreeMap<>();
    private final Map<Long, Running> batches = new TreeMap<>();
    private ClientCore core;
    private long lastBatch;

    SimClient(Network network, String name, List<String> masters, boolean reuses) {
        super(network, name);
        this.reuses = reuses;
        this.masters = String.join(",", masters);
    }

    int running() {
        return batches.size();
    }

    String explanation() {
        return core.explanation();
    }

    @Override
    void begin() {
        core = new ClientCore(name, masters, world.random.nextLong(1, Long.MAX_VALUE), world.random.nextLong());
        tick();
    }

    @Override
    void end() {
        core.close();
        core = null;
        ends.clear();
        receiving.clear();
        batches.clear();
    }

    private void tick() {
        feed(() -> core.tick(clockMs()));
        in(batches.isEmpty() ? IDLE_TICK_MS : BUSY_TICK_MS, this::tick);
    }

    /** Runs a batch; {@code whenDone} hears unless this client dies before. */
    void submit(OpTable table, int timeoutMs, Manner manner, Consumer<OpTable> whenDone) {
        lastBatch++;
        long id = lastBatch;
        batches.put(id, new Running(table, whenDone, world.nowMs() + timeoutMs));
        feed(() -> core.submit(clockMs(), id, table, timeoutMs, manner));
    }

    // ---- what happened --------------------------------------------------------------------------------------------

    private void feed(Runnable input) {
        if (core != null) {
            input.run();
            act();
        }
    }

    @Override
    void accepted(End end) {
        throw new AssertionError("nobody dials a client");
    }

    @Override
    void opened(End end) {
        feed(() -> core.opened(clockMs(), end.id));
    }

    @Override
    void dialFailed(End end, String reason, boolean refused) {
        closed(end, reason);
    }

    @Override
    void closed(End end, String reason) {
        if (ends.remove(end.id) != null) {
            receiving.remove(end.id);
            feed(() -> core.closed(clockMs(), end.id));
        }
    }

    @Override
    void frame(End end, byte[] body) {
        if (ends.containsKey(end.id)) {
            feed(() -> core.frame(clockMs(), end.id, body));
        }
    }

    @Override
    void payload(End end, byte[] bytes, long at, boolean last, int crc) {
        Receiving it = receiving.get(end.id);
        if (it == null) {
            return;
        }
        if (it.memory != 0) {
            NativeMemory.write(it.memory + at, bytes);
        }
        if (!last) {
            return;
        }
        if (at + bytes.length != it.length) {
            throw new AssertionError(
                    "a payload of " + (at + bytes.length) + " bytes came, " + name + " was told " + it.length);
        }
        receiving.remove(end.id);
        int computed = it.memory == 0 ? crc : NativeMemory.crc32c(it.memory, it.length);
        feed(() -> core.payloadReceived(clockMs(), end.id, it.transfer, computed, crc));
    }

    // ---- what to do -----------------------------------------------------------------------------------------------

    private void act() {
        for (Action action = core.next(); action != null; action = core.next()) {
            perform(action);
            if (core == null) {
                return;
            }
        }
    }

    private void perform(Action action) {
        switch (action.kind()) {
            case DIAL -> dial(action);
            case SEND_FRAMES -> {
                End end = ends.get(action.connection());
                if (end != null) {
                    end.sendFrames(action.data());
                }
            }
            case SEND_PAYLOAD -> {
                End end = ends.get(action.connection());
                if (end != null) {
                    Runnable sent = () -> feed(() -> core.payloadSent(clockMs(), end.id, action.transfer()));
                    end.sendPayload(action.memory(), action.length(), sent);
                }
            }
            case RECEIVE_PAYLOAD ->
                receiving.put(action.connection(), new Receiving(action.transfer(), action.memory(), action.length()));
            case CLOSE -> {
                End end = ends.remove(action.connection());
                receiving.remove(action.connection());
                if (end != null) {
                    end.close();
                }
            }
            case FINISH_BATCH -> finish(action.transfer());
            default -> throw new AssertionError("a client without shared memory is asked for " + action.kind());
        }
    }

    private void dial(Action action) {
        End end = network.dialAs(this, new String(action.data(), StandardCharsets.UTF_8), action.connection());
        ends.put(end.id, end);
        if (network.peersAreSlow() && world.oneIn(40)) {
            end.slow(world.between(100, 3_000));
        }
    }

    private void finish(long batch) {
        Running done = batches.remove(batch);
        if (done == null) {
            throw new AssertionError(name + " ended a batch twice");
        }
        if (!isLate() && world.nowMs() > done.deadlineMs + 100) {
            throw new AssertionError(
                    name + " ended a batch " + (world.nowMs() - done.deadlineMs) + " ms after its deadline");
        }
        done.whenDone.accept(done.table);
        done.table.spoil();
        world.in(SPOILED_MS, () -> {
            if (!done.table.isStillSpoiled()) {
                throw new AssertionError(name + " wrote to the memory of a batch that had ended");
            }
        });
    }

    /** Stopped lately: deadlines passed while nobody could notice. */
    private boolean isLate() {
        return world.nowMs() - thawedMs() < 1_000;
    }
}
