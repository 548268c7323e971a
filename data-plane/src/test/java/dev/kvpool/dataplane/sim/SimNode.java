// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.sim.SegmentImage.Slot;
import dev.kvpool.dataplane.sim.nativecore.NativeMemory;
import dev.kvpool.dataplane.sim.nativecore.NodeCore;
import dev.kvpool.dataplane.sim.nativecore.NodeCore.Action;
import dev.kvpool.dataplane.sim.nativecore.NodeCore.Identity;
import dev.kvpool.dataplane.sim.nativecore.NodeCore.LifeCut;
import dev.kvpool.dataplane.sim.nativecore.SegmentMemory;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Stream;

/** A storage node: the native core, with this class as the shell that its process would put around it. */
final class SimNode extends SimProcess {
    private static final long TICK_MS = 50;
    private static final long LEAVE_MS_MAX = 250;
    private static final long HEARD_KEPT_MS = 15_000;
    static final long SEGMENT_BYTES = 16 << 20;
    private static final long SSD_BYTES = 16 << 20;

    /** How long its SSD takes: as a rule, and now and then. */
    private static final long SSD_MS_MAX = 5;

    private static final long SSD_SLOW_MS_MAX = 1_500;
    private static final long STAGING_BYTES = 8 << 20;
    private static final long TIER_STAGING_BYTES = 4 << 20;

    /** Beside the numbers of connections and of jobs of the SSD, for transfers by CANN. */
    private static final long MOVES = -(1L << 40);

    /** A payload on its way into the segment, or to nowhere. */
    private record Receiving(boolean keeps, long offset, long length) {}

    /** Whom this node dialled: a master by its number, or another node by the number that the core gave it. */
    private record Dialled(boolean isMaster, long number) {}

    final String address;
    final boolean isTransient;
    final SegmentMemory memory = new SegmentMemory(SEGMENT_BYTES);
    final SegmentImage image = new SegmentImage(memory);

    /** Null without an SSD, and so is its image. */
    private final SegmentMemory ssd;

    private final SsdImage ssdImage;

    /** Null where the segment lies in memory. */
    private final SegmentMemory disk;

    /** Null where clients offer no memory. */
    private final SimCann cann;

    private final SegmentMemory staging;
    private SimCard card;

    private long boot = 1;

    /** The power failed without an end in order before: what the segment says until the next life began is no truth. */
    private boolean setBack;

    /** The segment that it had before the one that it has now; null when that is gone. */
    private byte[] aside;

    /** A life has begun since the last one that ended in order, if there was any. */
    private boolean livedSinceEnd;

    private boolean ssdFails;
    private boolean leaves;
    private boolean fullOfTombstones;

    /** When it became, or was no more, full of tombstones. */
    private long fullOfTombstonesMs = Long.MIN_VALUE;

    private boolean out;

    /** Objects of which its memory has other bytes than were put, and its SSD maybe as well. */
    private final Set<ObjectId> damaged = new HashSet<>();

    private final UUID pool;

    /** Whose engine lends the memory; of storage nodes any. Empty in pools without certificates. */
    final Optional<Tenant> tenant;

    private final List<String> masters;
    private final NodeWatch watch;
    private final Map<Long, End> ends = new TreeMap<>();
    private final Map<Long, Receiving> receiving = new TreeMap<>();
    private final Map<Long, Dialled> dials = new TreeMap<>();
    /** When something came from each life of a master, lately. */
    private final Map<Long, TreeSet<Long>> heard = new TreeMap<>();

    private NodeCore core;
    private String nodeId;
    private int lives;
    private long incarnation;
    private final Set<Long> incarnationsOfMemory = new TreeSet<>();
    private long cutStores = NodeCore.NEVER_CUT;

    SimNode(
            Network network,
            UUID pool,
            String nodeId,
            boolean isTransient,
            boolean hasSsd,
            boolean onDisk,
            List<String> masters,
            Optional<Tenant> tenant,
            SimCann cann,
            NodeWatch watch) {
        super(network, nodeId);
        this.tenant = tenant;
        this.ssd = hasSsd ? new SegmentMemory(SSD_BYTES) : null;
        this.disk = onDisk ? new SegmentMemory(SEGMENT_BYTES) : null;
        this.ssdImage = hasSsd ? new SsdImage(ssd) : null;
        this.cann = cann;
        this.staging = cann == null ? null : new SegmentMemory(STAGING_BYTES);
        this.pool = pool;
        this.nodeId = nodeId;
        this.address = nodeId + ":1";
        this.isTransient = isTransient;
        this.masters = masters;
        this.watch = watch;
        network.listen(address, this);
        NodeCore.format(identity(), memory);
    }

    @Override
    Optional<String> certified() {
        return tenant.map(whose -> isTransient ? "tenant/" + whose + "/rw/" + nodeId : "node/" + nodeId);
    }

    String nodeId() {
        return nodeId;
    }

    long incarnation() {
        return incarnation;
    }

    /** Whether a life of this node had the memory that is there now. */
    boolean isMemoryOf(long incarnationOfLife) {
        return incarnationsOfMemory.contains(incarnationOfLife);
    }

    /** Stores to the segment in this life; -1 while there is none. */
    long stores() {
        return core == null ? -1 : core.stores();
    }

    /** What its memory holds, and its SSD as far as this life, or the next one, believes that. */
    List<Slot> held() {
        List<Slot> held = setBack ? new ArrayList<>() : image.committed();
        held.addAll(heldOnSsd());
        return held;
    }

    List<Slot> heldOnSsd() {
        return ssd == null || !(setBack || image.believes(ssdImage.number())) ? List.of() : ssdImage.committed();
    }

    /** What is on its SSD if its memory is lost now; not what a leader would have it drop then, by the register. */
    Stream<Slot> wouldShow(Register register) {
        boolean counts = ssd != null && register.failedSsd(nodeId()) != Integer.toUnsignedLong(ssdImage.number());
        return counts ? ssdImage.committed().stream() : Stream.empty();
    }

    /** Whether nothing below this id would be on its SSD if its memory were lost now. */
    boolean hasPurgedSsd(ObjectId purgeId) {
        return ssd == null || !image.believes(ssdImage.number()) || !purgeId.isNewerThan(ssdImage.purgeId());
    }

    /** Whether it runs, has since then, reached all others, and does not end in order. */
    boolean staysSince(long ms) {
        return isWellSince(ms) && !leaves;
    }

    private Identity identity() {
        return new Identity(
                pool,
                nodeId,
                address,
                incarnation,
                incarnation,
                masters.size(),
                isTransient,
                ssd,
                disk,
                boot,
                tenant.isPresent(),
                staging,
                TIER_STAGING_BYTES,
                cann == null ? null : cann.plan.settings());
    }

    /** The next life is cut during its recovery, after so many stores. */
    void cutNextRecovery(long stores) {
        cutStores = stores;
    }

    /** Dies at a store to its directory, of which only some bytes are done. */
    void cut(long stores, int bytes) {
        if (isUp()) {
            world.trace(() -> name + " dies after " + stores + " more stores, " + bytes + " bytes into the next");
            core.cut(stores, bytes);
        }
    }

    /** The memory is lost; not while it lives. */
    void wipe() {
        world.trace(() -> name + " loses its memory");
        watch.wiped(this);
        incarnationsOfMemory.clear();
        damaged.clear();
        memory.wipe();
        if (disk != null) {
            disk.wipe();
        }
        setBack = false;
        livedSinceEnd = false;
        NodeCore.format(identity(), memory);
        watch.changed(this);
    }

    /** Another segment takes the place of its own, which is kept, or that one is back; not while it lives. */
    void swapMemory() {
        world.trace(() -> name + (aside == null ? " has another memory" : " has its earlier memory again"));
        watch.wiped(this);
        incarnationsOfMemory.clear();
        byte[] now = NativeMemory.read(memory.address(), (int) SEGMENT_BYTES);
        if (aside == null) {
            memory.wipe();
            NodeCore.format(identity(), memory);
            aside = now;
        } else {
            NativeMemory.write(memory.address(), aside);
            aside = null;
        }
        watch.swapped(this);
    }

    /** Whether its machine may lose the power without the node's memory, which a disk keeps in part. */
    boolean isOnDisk() {
        return disk != null;
    }

    /** Its machine loses the power, at once or after the node has ended in order, and starts again. */
    void losePower(boolean afterEnd) {
        if (afterEnd && isUp()) {
            try {
                core.end();
                livedSinceEnd = false;
            } catch (LifeCut cut) {
                world.trace(() -> name + " dies at its end");
            }
        }
        crash();
        world.trace(() -> "the machine of " + name + " loses its power");
        if (livedSinceEnd && !setBack) {
            watch.wiped(this);
        }
        NodeCore.cutPower(memory, disk, world.random.nextLong());
        boot++;
        boolean notBelieved = NodeCore.maySetBack(memory, boot);
        Violation.unless(
                notBelieved || !livedSinceEnd || setBack,
                "what a power cut may have set back is not believed",
                "the segment of %s is, though its last life did not end in order",
                name);
        if (notBelieved) {
            if (!livedSinceEnd && !setBack) {
                watch.wiped(this); // a start that was cut had begun to take the word of the end back
            }
            incarnationsOfMemory.clear();
            setBack = true;
        }
    }

    /** What masters ask it to keep of removals finds no room from now on, or does again. */
    void fullOfTombstones(boolean now) {
        world.trace(() -> name + (now ? " has no room for tombstones" : " has room for tombstones again"));
        fullOfTombstones = now;
        fullOfTombstonesMs = world.nowMs();
    }

    boolean isFullOfTombstones() {
        return fullOfTombstones;
    }

    boolean wasFullOfTombstonesSince(long ms) {
        return fullOfTombstones || fullOfTombstonesMs >= ms;
    }

    /** The pool is to have this node no more, or again. */
    void out(boolean now) {
        out = now;
    }

    boolean isOut() {
        return out;
    }

    boolean isDamaged(ObjectId id) {
        return damaged.contains(id);
    }

    /** A byte of an object in memory changes: of its payload, of its key, or of its record while no life looks after that. */
    boolean damage() {
        List<Slot> slots = setBack ? List.of() : image.committed();
        if (slots.isEmpty()) {
            return false;
        }
        Slot slot = slots.get(world.random.nextInt(slots.size()));
        damaged.add(slot.id());
        watch.damaged(this, slot);
        if (world.oneIn(3)) {
            // Of some keys the last digit becomes another one: what lies there then seems to be another key's.
            long last = slot.offset() + slot.key().length() - 1;
            change("key", slot, memory.address() + last, 1 << world.random.nextInt(3));
        } else if (!isUp() && world.oneIn(2)) {
            long at = image.recordAt(slot.number()) + world.random.nextInt((int) SegmentImage.RECORD_BYTES);
            change("record", slot, at, 0xFF);
        } else {
            long at = slot.payloadOffset() + world.random.nextLong(slot.payloadLength());
            change("payload", slot, memory.address() + at, 0xFF);
        }
        return true;
    }

    private void change(String what, Slot slot, long at, int bits) {
        world.trace(() -> name + " has a wrong byte in the " + what + " of " + slot);
        NativeMemory.write(at, new byte[] {(byte) (NativeMemory.read(at, 1)[0] ^ bits)});
    }

    /** From now on the SSD fails whatever it is asked for, until the node is started again. */
    void failSsd() {
        world.trace(() -> "the SSD of " + name + " fails from now on");
        ssdFails = true;
    }

    boolean hasSsd() {
        return ssd != null;
    }

    /** The SSD is replaced by an empty one; not while the node lives. */
    void wipeSsd() {
        world.trace(() -> name + " loses its SSD");
        watch.ssdLost(this);
        ssd.wipe();
    }

    /** Gives the memory of this simulation back. */
    void release() {
        memory.close();
        if (ssd != null) {
            ssd.close();
        }
        if (disk != null) {
            disk.close();
        }
        if (staging != null) {
            staging.close();
        }
    }

    @Override
    void begin() {
        ssdFails = false;
        leaves = false;
        incarnation = world.random.nextLong(1, Long.MAX_VALUE);
        lives++;
        incarnationsOfMemory.add(incarnation);
        if (isTransient && lives > 1) {
            nodeId = name + "-" + lives;
            NodeCore.format(identity(), memory);
        }
        try {
            core = NodeCore.start(identity(), memory, cutStores, cutStores < 0 ? 0 : world.random.nextInt(128));
        } catch (LifeCut cut) {
            cutStores = NodeCore.NEVER_CUT;
            world.trace(() -> name + " dies while it recovers");
            crash();
            watch.died(this);
            return;
        }
        card = cann == null ? null : new SimCard(this, cann);
        setBack = false;
        livedSinceEnd = true;
        core.cut(NodeCore.NEVER_CUT, 0);
        cutStores = NodeCore.NEVER_CUT;
        watch.changed(this);
        tick();
    }

    @Override
    void end() {
        if (core != null) {
            if (ssd != null) {
                core.tearSsd(world.random.nextLong());
            }
            core.close();
            core = null;
        }
        if (card != null) {
            card.goes();
        }
        ends.clear();
        receiving.clear();
        dials.clear();
        watch.ended(this);
        if (!setBack) {
            watch.changed(this);
        }
        if (isTransient) {
            // Its memory and its name go with the process.
            wipe();
        }
    }

    /** Ends in order: it says so and waits until the masters have heard it, but not for those that do not answer. */
    void leave(Runnable whenEnded) {
        world.trace(() -> name + " leaves");
        leaves = true;
        feed(() -> core.leave());
        in(LEAVE_MS_MAX, () -> {
            crash();
            whenEnded.run();
        });
    }

    private void tick() {
        feed(() -> core.tick(clockMs()));
        in(TICK_MS, this::tick);
    }

    // ---- what happened --------------------------------------------------------------------------------------------

    private void feed(Runnable input) {
        if (core == null) {
            return;
        }
        try {
            input.run();
            act();
        } catch (LifeCut cut) {
            crash();
            watch.died(this);
            return;
        }
        watch.changed(this);
    }

    @Override
    void accepted(End end) {
        ends.put(end.id, end);
        if (network.peersAreSlow() && world.oneIn(15)) {
            // A reader that takes its time: the node can send no faster.
            end.slow(world.between(100, 3_000));
        }
        feed(() -> core.accepted(clockMs(), end.id, end.local, end.peer().owner.certified()));
    }

    @Override
    void opened(End end) {
        Dialled to = dials.get(end.id);
        if (to.isMaster) {
            feed(() -> core.dialled(clockMs(), end.id, (int) to.number));
        } else {
            feed(() -> core.sourceDialled(clockMs(), end.id, to.number));
        }
    }

    @Override
    void dialFailed(End end, String reason, boolean refused) {
        if (ends.remove(end.id) != null) {
            Dialled to = dials.remove(end.id);
            if (to.isMaster) {
                feed(() -> core.dialFailed(clockMs(), (int) to.number, refused));
            } else {
                feed(() -> core.sourceDialFailed(to.number));
            }
        }
    }

    @Override
    void closed(End end, String reason) {
        if (ends.remove(end.id) != null) {
            dials.remove(end.id);
            receiving.remove(end.id);
            watch.transferEnds(this, end.id);
            feed(() -> core.closed(clockMs(), end.id));
        }
    }

    /** Whether the connection has not ended here. */
    boolean knows(End end) {
        return ends.containsKey(end.id);
    }

    void cannAnswered(long call, int status) {
        feed(() -> core.cannAnswered(clockMs(), call, status));
    }

    /** Whether something came from this life of a master within that time. */
    boolean hasHeard(long incarnationOfMaster, long fromMs, long untilMs) {
        return heard.getOrDefault(incarnationOfMaster, new TreeSet<>())
                        .subSet(fromMs, true, untilMs, true)
                        .size()
                > 0;
    }

    @Override
    void frame(End end, byte[] body) {
        if (end.peer().owner instanceof SimMaster master) {
            TreeSet<Long> times = heard.computeIfAbsent(master.incarnation(), it -> new TreeSet<>());
            times.headSet(world.nowMs() - HEARD_KEPT_MS).clear();
            times.add(world.nowMs());
        }
        feed(() -> core.frame(clockMs(), end.id, body));
    }

    @Override
    void garbled(End end) {
        feed(() -> core.malformed(end.id));
    }

    @Override
    void payload(End end, byte[] bytes, long at, boolean last, int crc) {
        Receiving it = receiving.get(end.id);
        if (it == null) {
            return;
        }
        if (it.keeps) {
            NativeMemory.write(memory.address() + it.offset + at, bytes);
        }
        if (!last) {
            return;
        }
        if (at + bytes.length != it.length) {
            throw new AssertionError(
                    "a payload of " + (at + bytes.length) + " bytes came, " + name + " was told " + it.length);
        }
        receiving.remove(end.id);
        if (it.keeps) {
            int computed = NativeMemory.crc32c(memory.address() + it.offset, it.length);
            watch.transferEnds(this, end.id);
            feed(() -> core.payloadReceived(end.id, computed, crc));
        }
    }

    // ---- what to do -----------------------------------------------------------------------------------------------

    private void act() {
        for (Action action = core.next(); action != null; action = core.next()) {
            perform(action);
        }
    }

    private void perform(Action action) {
        switch (action.kind()) {
            case SEND_FRAMES, SEND_SEGMENTS -> {
                End end = ends.get(action.connection());
                if (end != null) {
                    end.sendFrames(action.data());
                    core.sent(end.id, action.data().length);
                }
            }
            case SEND_PAYLOAD -> {
                watch.transferBegins(this, action.connection(), action.offset(), action.length(), false);
                sendPayload(action, memory.address() + action.offset());
            }
            case SEND_TIER_PAYLOAD -> {
                watch.ssdRead(this);
                sendPayload(action, action.offset());
            }
            case TIER_WRITE -> {
                watch.transferBegins(this, -action.connection(), action.offset(), action.length(), false);
                workSsd(action.connection());
            }
            case TIER_STORE, TIER_READ -> workSsd(action.connection());
            case RECEIVE_PAYLOAD -> {
                receiving.put(action.connection(), new Receiving(true, action.offset(), action.length()));
                watch.transferBegins(this, action.connection(), action.offset(), action.length(), true);
            }
            case DISCARD_PAYLOAD ->
                receiving.put(action.connection(), new Receiving(false, 0, discarded(action.length())));
            case MAP_STAGING ->
                in(world.between(0, 1), () -> {
                    if (ends.containsKey(action.connection())) {
                        feed(() -> core.stagingMapped(action.connection()));
                    }
                });
            case COPY_STAGING -> {
                watch.transferBegins(this, action.connection(), action.offset(), action.length(), true);
                ends.get(action.connection()).hold();
                long half = action.length() / 2;
                copyStaging(action, 0, half, () -> copyStaging(action, half, action.length(), () -> staged(action)));
            }
            case PULL ->
                watch.transferBegins(this, MOVES - action.connection(), action.offset(), action.length(), true);
            case PUSH ->
                watch.transferBegins(this, MOVES - action.connection(), action.offset(), action.length(), false);
            case MOVED -> watch.transferEnds(this, MOVES - action.connection());
            case CANN_CONNECT -> card.connect(action.connection(), endpoint(action), action.length());
            case CANN_DISCONNECT -> card.disconnect(action.connection(), endpoint(action));
            case CANN_READ ->
                card.read(
                        action.connection(),
                        endpoint(action),
                        action.offset(),
                        action.stagingOffset(),
                        action.length(),
                        action.crc());
            case CANN_WRITE ->
                card.write(
                        action.connection(),
                        endpoint(action),
                        action.offset(),
                        action.stagingOffset(),
                        action.length(),
                        action.crc());
            case CLOSE -> close(action);
            case DIAL -> dial(masters.get(action.master()), new Dialled(true, action.master()));
            case DIAL_SOURCE ->
                dial(new String(action.data(), StandardCharsets.UTF_8), new Dialled(false, action.connection()));
            case NOTE -> world.trace(() -> name + ": " + new String(action.data(), StandardCharsets.UTF_8));
            default -> throw new AssertionError("a node is asked for " + action.kind());
        }
    }

    private static String endpoint(Action action) {
        return new String(action.data(), StandardCharsets.UTF_8);
    }

    /** The core counts the checksum behind the bytes, the network carries it beside them. */
    private static long discarded(long length) {
        return Math.max(0, length - Integer.BYTES);
    }

    /** The client may write to its staging memory meanwhile. */
    private void copyStaging(Action action, long from, long to, Runnable next) {
        in(world.between(0, 1), () -> {
            End end = ends.get(action.connection());
            if (end != null) {
                long source = end.peer().staging.address() + action.stagingOffset();
                byte[] bytes = NativeMemory.read(source + from, (int) (to - from));
                NativeMemory.write(memory.address() + action.offset() + from, bytes);
                next.run();
            }
        });
    }

    private void staged(Action action) {
        int computed = NativeMemory.crc32c(memory.address() + action.offset(), action.length());
        watch.transferEnds(this, action.connection());
        End end = ends.get(action.connection());
        feed(() -> core.payloadReceived(action.connection(), computed, action.crc()));
        end.goOn();
    }

    private void sendPayload(Action action, long address) {
        End end = ends.get(action.connection());
        if (end == null) {
            watch.transferEnds(this, action.connection());
            return;
        }
        end.sendPayload(address, action.length(), action.crc(), () -> {
            watch.transferEnds(this, end.id);
            feed(() -> core.payloadSent(end.id));
        });
    }

    /** The SSD does one thing, sooner or later than others. */
    private void workSsd(long job) {
        long delayMs = world.oneIn(20) ? world.between(50, SSD_SLOW_MS_MAX) : world.between(0, SSD_MS_MAX);
        in(delayMs, () -> {
            watch.transferEnds(this, -job);
            if (ssdFails) {
                watch.ssdLost(this);
            }
            feed(() -> core.workSsd(job, ssdFails));
            watch.ssdChanged(this);
        });
    }

    private void close(Action action) {
        End end = ends.remove(action.connection());
        receiving.remove(action.connection());
        dials.remove(action.connection());
        watch.transferEnds(this, action.connection());
        if (end != null) {
            world.trace(() -> name + " closes " + end.id + ": " + new String(action.data(), StandardCharsets.UTF_8));
            end.close();
        }
        core.closed(clockMs(), action.connection());
    }

    private void dial(String where, Dialled to) {
        End end = network.dial(this, where);
        ends.put(end.id, end);
        dials.put(end.id, to);
    }
}
