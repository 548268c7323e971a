// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.SegmentImage.Slot;
import dev.kvpool.dataplane.sim.nativecore.ClientCore;
import dev.kvpool.dataplane.sim.nativecore.ClientCore.Action;
import dev.kvpool.dataplane.sim.nativecore.ClientCore.Manner;
import dev.kvpool.dataplane.sim.nativecore.ClientCore.Way;
import dev.kvpool.dataplane.sim.nativecore.NativeMemory;
import dev.kvpool.dataplane.sim.nativecore.OpTable;
import dev.kvpool.dataplane.sim.nativecore.SegmentMemory;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/** A client: the native core, with this class as its I/O thread. Payloads go by the network, or through memory that it shares with nodes. */
final class SimClient extends SimProcess {
    private static final long BUSY_TICK_MS = 5;
    private static final long IDLE_TICK_MS = 100;
    private static final int FIRST_PORT = 20_000;

    /** How long after its end a batch's memory is still looked at. */
    private static final long SPOILED_MS = 15_000;

    private record Receiving(long transfer, long memory, long length) {}

    private record Running(OpTable table, Consumer<OpTable> whenDone, long deadlineMs) {}

    /** Whether it reads what it was told of before without asking again. */
    final boolean reuses;

    /** By its certificate; empty without one. */
    final Optional<Tenant> tenant;

    private final Way way;
    private final boolean scribbles;

    /** Null where this client does not use it. */
    private final SimCann cann;

    private final String masters;
    private final Map<Long, End> ends = new TreeMap<>();
    private final Map<Long, Receiving> receiving = new TreeMap<>();
    private final Map<Long, Running> batches = new TreeMap<>();
    /** Copies that are not taken back: of which connection each is, by its transfer. */
    private final Map<Long, Long> copies = new TreeMap<>();

    /** Memory that nodes may still look at when this client has forgotten it. */
    private final List<SegmentMemory> staged = new ArrayList<>();

    private ClientCore core;
    private SimEngine engine;
    private int port = FIRST_PORT;
    private long lastBatch;

    /**
     * Starts later.
     *
     * @param way what moves its payloads; it has memory in common with the nodes, or offers some
     * @param scribbles it writes to what it has staged while a node copies that
     */
    SimClient(
            Network network,
            String name,
            List<String> masters,
            Optional<Tenant> tenant,
            boolean reuses,
            Way way,
            SimCann cann,
            boolean scribbles) {
        super(network, name);
        this.tenant = tenant;
        this.reuses = reuses;
        this.way = way;
        this.cann = way.isAscend() ? cann : null;
        this.scribbles = scribbles;
        this.masters = String.join(",", masters);
    }

    @Override
    Optional<String> certified() {
        return tenant.map(whose -> "tenant/" + whose + "/rw/" + name);
    }

    /** Gives the memory of this simulation back. */
    void release() {
        staged.forEach(SegmentMemory::close);
    }

    int running() {
        return batches.size();
    }

    String explanation() {
        return core.explanation();
    }

    @Override
    void begin() {
        core = new ClientCore(
                name,
                masters,
                way,
                cann == null ? null : cann.plan.settings(),
                world.random.nextLong(1, Long.MAX_VALUE),
                world.random.nextLong());
        if (cann != null) {
            if (world.oneIn(2)) {
                port++; // the one of before is another's
            }
            engine = new SimEngine(this, "10.0.0." + place + ":" + port);
            cann.listen(engine);
        }
        tick();
    }

    @Override
    void end() {
        core.close();
        core = null;
        if (engine != null) {
            engine.goes();
            engine = null;
        }
        ends.clear();
        receiving.clear();
        copies.clear();
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
            forget(end);
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
                if (end != null) {
                    forget(end);
                    end.close();
                }
            }
            case SEND_STAGING -> {
                End end = ends.get(action.connection());
                end.staging = new SegmentMemory(action.length());
                staged.add(end.staging);
                end.sendFrames(action.data());
            }
            case MAP_SEGMENTS ->
                in(world.between(0, 1), () -> {
                    if (ends.containsKey(action.connection())) {
                        feed(() -> core.segmentsMapped(clockMs(), action.connection()));
                    }
                });
            case COPY_TO_STAGING -> {
                copies.put(action.transfer(), action.connection());
                copyOn(action, () -> stage(action));
            }
            case COPY_FROM_SEGMENT -> {
                copies.put(action.transfer(), action.connection());
                int half = (int) (action.length() / 2);
                copyOn(action, () -> {
                    copyOut(action, 0, half);
                    copyOn(action, () -> {
                        copyOut(action, half, (int) action.length());
                        copied(action);
                    });
                });
            }
            case OFFER_STAGING -> offer(action);
            case COPY_FROM_STAGING -> {
                copies.put(action.transfer(), action.connection());
                int half = (int) (action.length() / 2);
                copyOn(action, () -> {
                    copyFromStaging(action, 0, half);
                    copyOn(action, () -> {
                        copyFromStaging(action, half, (int) action.length());
                        answer(action, Status.OK);
                    });
                });
            }
            case CANCEL_COPY -> copies.remove(action.transfer());
            case FINISH_BATCH -> finish(action.transfer());
            case NONE -> throw new AssertionError("nothing is to be done");
        }
    }

    private void dial(Action action) {
        String where = new String(action.data(), StandardCharsets.UTF_8);
        End end = action.local()
                ? network.dialLocally(this, where, action.connection())
                : network.dialAs(this, where, action.connection());
        ends.put(end.id, end);
        if (network.peersAreSlow() && world.oneIn(40)) {
            end.slow(world.between(100, 3_000));
        }
    }

    private void forget(End end) {
        receiving.remove(end.id);
        copies.values().removeIf(it -> it == end.id);
        if (engine != null) {
            engine.takeBack(end);
        }
    }

    // ---- memory that is shared ------------------------------------------------------------------------------------

    private void offer(Action offer) {
        long address = offer.memory();
        if (address == 0) {
            SegmentMemory memory = new SegmentMemory(offer.length());
            staged.add(memory);
            address = engine.register(memory);
        }
        ends.get(offer.connection()).staging = engine.memoryAt(address);
        engine.lend(offer.connection(), address);
        core.stagingOffered(clockMs(), offer.connection(), address, engine.endpoint, engine.registrations());
    }

    private void copyFromStaging(Action copy, int from, int to) {
        long staging = ends.get(copy.connection()).staging.address() + copy.offset();
        NativeMemory.write(copy.memory() + from, NativeMemory.read(staging + from, to - from));
    }

    private void copyOn(Action copy, Runnable step) {
        in(world.between(0, 2), () -> {
            if (copies.containsKey(copy.transfer())) {
                step.run();
            }
        });
    }

    private void stage(Action copy) {
        copies.remove(copy.transfer());
        long to = ends.get(copy.connection()).staging.address() + copy.offset();
        byte[] bytes = NativeMemory.read(copy.memory(), (int) copy.length());
        NativeMemory.write(to, bytes);
        if (scribbles && bytes.length > 0 && world.oneIn(5)) {
            int at = world.random.nextInt(bytes.length);
            in(world.between(0, 4), () -> NativeMemory.write(to + at, new byte[] {(byte) ~bytes[at]}));
        }
        feed(() -> core.copiedToStaging(clockMs(), copy.connection(), copy.transfer(), Checksums.crc32c(bytes)));
    }

    /** A part of an object, if the directory names that now; the node may be dead, or use the memory for another one. */
    private void copyOut(Action copy, int from, int to) {
        SimNode node = (SimNode) ends.get(copy.connection()).peer().owner;
        if (isNamed(copy)) {
            byte[] part = NativeMemory.read(node.memory.address() + copy.offset() + from, to - from);
            NativeMemory.write(copy.memory() + from, part);
        } else {
            answer(copy, Status.NOT_FOUND);
        }
    }

    private void copied(Action copy) {
        if (copies.containsKey(copy.transfer())) {
            answer(copy, isNamed(copy) ? Status.OK : Status.NOT_FOUND);
        }
    }

    private boolean isNamed(Action copy) {
        SimNode node = (SimNode) ends.get(copy.connection()).peer().owner;
        Slot slot = node.image.slot(copy.place().slot());
        return slot != null
                && slot.committed()
                && slot.generation() == copy.place().generation()
                && slot.id().equals(copy.place().object())
                && slot.payloadOffset() == copy.offset()
                && slot.payloadLength() == copy.length();
    }

    private void answer(Action copy, Status status) {
        copies.remove(copy.transfer());
        int crc = NativeMemory.crc32c(copy.memory(), copy.length());
        feed(() -> core.copiedFromSegment(clockMs(), copy.connection(), copy.transfer(), status.code(), crc));
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
