// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.nativecore.NativeMemory;
import dev.kvpool.dataplane.sim.nativecore.SegmentMemory;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/** One side of a connection: what it receives comes in order, what it sends leaves in order. */
final class End {
    private static final int FRAME_HEADER_BYTES = 8;
    private static final int PAYLOADS_A_GARBLED_ONE = 60;
    private static final int FRAMES_A_GARBLED_ONE = 4_000;

    /** What is under way to this end. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Parcel(long atMs, Kind kind, byte[] bytes, long at, boolean last, int crc, String reason) {}

    private enum Kind {
        ACCEPT,
        FRAME,
        PAYLOAD,
        END
    }

    /** What this end is about to send: frames, or a payload that is read from memory while it leaves. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Outgoing(byte[] frame, long memory, long length, int crc, boolean computeCrc, Runnable onSent) {}

    final long id;
    final SimProcess owner;
    /** The session, transfer or whatever else the owner keeps with a connection. */
    Object note;

    /** Both sides are on one machine. */
    boolean local;

    /** Memory that the owner has given to its peer, and can go on writing to; null when there is none. */
    SegmentMemory staging;

    private final Network network;
    private final World world;
    private final Deque<Parcel> inbox = new ArrayDeque<>();
    private final Deque<Outgoing> outgoing = new ArrayDeque<>();
    private End peer;
    private boolean open;
    private boolean closed;

    /** The owner takes nothing from here for now. */
    private boolean held;

    private boolean sending;
    private long lastArrivalMs;
    /** Payload writers and readers take this long for each half. */
    private long slownessMs;

    End(Network network, long id, SimProcess owner) {
        this.network = network;
        this.world = network.world;
        this.id = id;
        this.owner = owner;
    }

    boolean isClosed() {
        return closed;
    }

    boolean isOpen() {
        return open && !closed;
    }

    End peer() {
        return peer;
    }

    void slow(long ms) {
        slownessMs = ms;
    }

    // ---- opening --------------------------------------------------------------------------------------------------

    void join(End other) {
        peer = other;
        other.peer = this;
        other.local = local;
        open = true;
        other.open = true;
        other.enqueue(Kind.ACCEPT, null, 0, false, 0, "");
        owner.opened(this);
    }

    /** @param refused the other machine answered, and nobody listens there */
    void failToOpen(String reason, boolean refused) {
        if (!closed && !open) {
            closed = true;
            owner.detach(this);
            owner.dialFailed(this, reason, refused);
        }
    }

    // ---- sending --------------------------------------------------------------------------------------------------

    /** Whole frames in a row, as a core hands them out. */
    void sendFrames(byte[] frames) {
        int at = 0;
        while (at < frames.length) {
            int length = (frames[at] & 0xFF)
                    | (frames[at + 1] & 0xFF) << 8
                    | (frames[at + 2] & 0xFF) << 16
                    | (frames[at + 3] & 0xFF) << 24;
            send(Arrays.copyOfRange(frames, at + FRAME_HEADER_BYTES, at + FRAME_HEADER_BYTES + length));
            at += FRAME_HEADER_BYTES + length;
        }
    }

    void send(byte[] body) {
        outgoing.add(new Outgoing(body, 0, 0, 0, false, null));
        sendNext();
    }

    /** The bytes are read while they leave, half of them later than the others. */
    void sendPayload(long memory, long length, int crc, Runnable onSent) {
        outgoing.add(new Outgoing(null, memory, length, crc, false, onSent));
        sendNext();
    }

    /** As a sender does that sums what it sends. */
    void sendPayload(long memory, long length, Runnable onSent) {
        outgoing.add(new Outgoing(null, memory, length, 0, true, onSent));
        sendNext();
    }

    private void sendNext() {
        while (isOpen() && !sending && !outgoing.isEmpty()) {
            Outgoing next = outgoing.remove();
            if (next.frame != null) {
                network.sends(this, next.frame);
                peer.enqueue(Kind.FRAME, next.frame, 0, true, 0, "");
            } else {
                sending = true;
                owner.in(pauseMs(), () -> sendFirstHalf(next));
            }
        }
    }

    private void sendFirstHalf(Outgoing payload) {
        if (!isOpen()) {
            return;
        }
        int half = (int) (payload.length / 2);
        byte[] first = NativeMemory.read(payload.memory, half);
        peer.enqueue(Kind.PAYLOAD, first, 0, false, 0, "");
        owner.in(pauseMs(), () -> sendSecondHalf(payload, first));
    }

    private void sendSecondHalf(Outgoing payload, byte[] first) {
        if (!isOpen()) {
            return;
        }
        byte[] second = NativeMemory.read(payload.memory + first.length, (int) (payload.length - first.length));
        int crc = payload.computeCrc ? Checksums.crc32c(first, second) : payload.crc;
        if (second.length > 0 && network.garbles(PAYLOADS_A_GARBLED_ONE)) {
            world.trace(() -> "a byte from " + owner + " to " + peer.owner + " changes on the way");
            int at = world.random.nextInt(second.length);
            second[at] = (byte) ~second[at];
        }
        peer.enqueue(Kind.PAYLOAD, second, first.length, true, crc, "");
        sending = false;
        payload.onSent.run();
        sendNext();
    }

    private long pauseMs() {
        return slownessMs > 0 ? world.between(0, slownessMs) : world.between(0, 1);
    }

    private void enqueue(Kind kind, byte[] bytes, long at, boolean last, int crc, String reason) {
        if (closed) {
            return;
        }
        lastArrivalMs = Math.max(lastArrivalMs, world.nowMs() + network.delayMs());
        inbox.add(new Parcel(lastArrivalMs, kind, bytes, at, last, crc, reason));
        world.in(lastArrivalMs - world.nowMs(), this::pump);
    }

    // ---- receiving ------------------------------------------------------------------------------------------------

    /** Hands over what has arrived, as far as the owner hears it. */
    void pump() {
        while (!closed && !inbox.isEmpty() && inbox.peek().atMs <= world.nowMs() && mayHear()) {
            deliver(inbox.remove());
        }
    }

    void hold() {
        held = true;
    }

    void goOn() {
        held = false;
        pump();
    }

    private boolean mayHear() {
        return !held && owner.hears() && !network.isBlocked(peer.owner, owner);
    }

    private void deliver(Parcel parcel) {
        switch (parcel.kind) {
            case ACCEPT -> owner.accepted(this);
            case FRAME -> {
                world.happened(id, parcel.bytes);
                if (network.garbles(FRAMES_A_GARBLED_ONE)) {
                    owner.garbled(this);
                } else {
                    owner.frame(this, parcel.bytes);
                }
            }
            case PAYLOAD -> owner.payload(this, parcel.bytes, parcel.at, parcel.last, parcel.crc);
            case END -> {
                closed = true;
                owner.detach(this);
                owner.closed(this, parcel.reason);
            }
        }
    }

    // ---- ending ---------------------------------------------------------------------------------------------------

    /** The owner closes: what it sent before still arrives, what it was sent is lost. */
    void close() {
        if (!closed) {
            owner.detach(this);
            vanish("the peer closed");
        }
    }

    /** The owner is gone, or closed; it is told nothing more. */
    void vanish(String reason) {
        if (closed) {
            return;
        }
        closed = true;
        inbox.clear();
        outgoing.clear();
        if (peer != null && !peer.closed) {
            peer.enqueue(Kind.END, null, 0, false, 0, reason);
        }
    }

    /** Cut on the way: both sides lose a part of what was sent, perhaps from the middle of a payload on. */
    void cut() {
        world.trace(() -> "the connection of " + owner + " and " + (peer == null ? "nobody" : peer.owner) + " is cut");
        if (isOpen()) {
            peer.lose();
            lose();
        }
    }

    private void lose() {
        if (closed) {
            return;
        }
        outgoing.clear();
        int keep = world.random.nextInt(inbox.size() + 1);
        Deque<Parcel> kept = new ArrayDeque<>();
        while (kept.size() < keep) {
            kept.add(inbox.remove());
        }
        Parcel torn = inbox.peek();
        if (torn != null && torn.kind == Kind.PAYLOAD && torn.bytes.length > 0) {
            byte[] part = Arrays.copyOf(torn.bytes, world.random.nextInt(torn.bytes.length));
            kept.add(new Parcel(torn.atMs, Kind.PAYLOAD, part, torn.at, false, 0, ""));
        }
        inbox.clear();
        inbox.addAll(kept);
        enqueue(Kind.END, null, 0, false, 0, "connection reset");
    }
}
