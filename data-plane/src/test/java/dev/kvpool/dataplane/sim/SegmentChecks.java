// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.SegmentImage.Slot;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** What must hold for the bytes of a segment after each input of its node. */
final class SegmentChecks implements NodeWatch {
    /** What a segment said when it was looked at last. */
    private static final class Seen {
        long stores = -1;
        Authority authority = Authority.NONE;
        int activeWire;
        List<Slot> slots = new ArrayList<>();
        Map<Integer, Slot> onSsd = new TreeMap<>();
        final Map<Long, Transfer> transfers = new TreeMap<>();
    }

    /** Bytes that are being written or read; {@code crc} of what is read. */
    private record Transfer(long offset, long length, boolean into) {
        boolean overlaps(long otherOffset, long otherLength) {
            return otherOffset < offset + length && offset < otherOffset + otherLength;
        }
    }

    private final Truth truth;
    private final Promises promises;
    private final Tally tally;
    private final Consumer<SimNode> whenDied;
    private final Map<SimNode, Seen> seen = new HashMap<>();

    SegmentChecks(Truth truth, Promises promises, Tally tally, Consumer<SimNode> whenDied) {
        this.truth = truth;
        this.promises = promises;
        this.tally = tally;
        this.whenDied = whenDied;
    }

    private Seen seen(SimNode node) {
        return seen.computeIfAbsent(node, it -> new Seen());
    }

    @Override
    public void changed(SimNode node) {
        Seen before = seen(node);
        long stores = node.stores();
        if (stores >= 0 && stores == before.stores) {
            return;
        }
        before.stores = stores;
        authority(node, before);
        boolean lives = stores >= 0;
        Violation.unless(
                !lives || node.image.torn() < 0,
                "records of a living node are whole",
                "%s recovered from a record that is torn, slot %d",
                node,
                node.image.torn());
        List<Slot> now = node.image.slots();
        for (int i = 0; i < now.size(); i++) {
            Slot old = i < before.slots.size() ? before.slots.get(i) : null;
            compare(node, old, now.get(i), before);
        }
        before.slots = now;
    }

    private static void authority(SimNode node, Seen before) {
        Authority now = node.image.authority();
        int order = Long.compareUnsigned(now.epoch(), before.authority.epoch());
        Violation.unless(
                order > 0 || now.equals(before.authority),
                "authority never goes back",
                "%s obeyed %s and now obeys %s",
                node,
                before.authority,
                now);
        before.authority = now;
        int activeWire = node.image.activeWire();
        Violation.unless(
                activeWire >= before.activeWire,
                "versions never go back",
                "%s spoke wire version %d and now speaks %d",
                node,
                before.activeWire,
                activeWire);
        before.activeWire = activeWire;
    }

    private void compare(SimNode node, Slot old, Slot now, Seen context) {
        boolean same = old != null && now != null && old.generation() == now.generation();
        if (old != null && old.committed() && !(same && now.committed())) {
            promises.freed(node, old);
            truth.freed(old);
        }
        if (old != null && now != null) {
            Violation.unless(
                    now.generation() >= old.generation(),
                    "generations never go back",
                    "slot %d of %s went from generation %d to %d",
                    now.number(),
                    node,
                    old.generation(),
                    now.generation());
        }
        if (now != null && now.committed() && !(same && old.committed())) {
            Violation.unless(
                    now.id().epoch() == context.authority.epoch() || truth.wasCopied(now.id()),
                    "commits are of the obeyed epoch",
                    "%s committed object %s of %s while it obeys %s",
                    node,
                    now.id(),
                    now.key(),
                    context.authority);
            Violation.unless(
                    node.image.sumsFit(now),
                    "sums fit their payload",
                    "%s committed object %s of %s with other sums behind its %d bytes",
                    node,
                    now.id(),
                    now.key(),
                    now.payloadLength());
        }
    }

    /**
     * An object leaves an SSD like any other extent: not while a reader may rely on it. What a tombstone covers cannot be read from an SSD,
     * since its bytes come by the node alone, so a node that starts frees it at once.
     */
    @Override
    public void ssdChanged(SimNode node) {
        Seen before = seen(node);
        Map<Integer, Slot> now = new TreeMap<>();
        node.heldOnSsd().forEach(slot -> now.put(slot.number(), slot));
        before.onSsd.forEach((number, old) -> {
            Slot slot = now.get(number);
            if (slot == null || slot.generation() != old.generation()) {
                if (!node.image.coversWithTombstone(old)) {
                    promises.freed(node, old);
                }
                truth.freed(old);
            }
            Violation.unless(
                    slot == null || slot.generation() >= old.generation(),
                    "generations never go back",
                    "slot %d of the SSD of %s went from generation %d to an earlier one",
                    number,
                    node,
                    old.generation());
        });
        now.forEach((number, slot) -> {
            Slot old = before.onSsd.get(number);
            if (old == null || old.generation() != slot.generation()) {
                tally.count("objects seen to come to an SSD");
            }
        });
        before.onSsd = now;
    }

    @Override
    public void ssdRead(SimNode node) {
        tally.count("reads from an SSD");
    }

    @Override
    public void ssdLost(SimNode node) {
        truth.ssdLost(node);
        promises.forget(node, ExtentRef.SSD);
        seen(node).onSsd.clear();
    }

    @Override
    public void wiped(SimNode node) {
        truth.memoryLost(node);
        promises.forget(node, ExtentRef.MEMORY);
        seen.remove(node);
    }

    @Override
    public void swapped(SimNode node) {
        Seen now = seen(node);
        now.authority = node.image.authority();
        now.activeWire = node.image.activeWire();
        now.slots = node.image.slots();
    }

    @Override
    public void damaged(SimNode node, Slot slot) {
        truth.damaged(node, slot);
    }

    @Override
    public void died(SimNode node) {
        whenDied.accept(node);
    }

    @Override
    public void transferBegins(SimNode node, long connection, long offset, long length, boolean into) {
        Map<Long, Transfer> transfers = seen(node).transfers;
        transfers.forEach((other, transfer) -> Violation.unless(
                other == connection || length == 0 || !(into || transfer.into) || !transfer.overlaps(offset, length),
                "extents in transfer are not reused",
                "%s uses bytes %d to %d for connection %d while connection %d still %s them",
                node,
                offset,
                offset + length,
                connection,
                other,
                transfer.into ? "writes" : "reads"));
        transfers.put(connection, new Transfer(offset, length, into));
    }

    @Override
    public void transferEnds(SimNode node, long connection) {
        seen(node).transfers.remove(connection);
    }

    @Override
    public void ended(SimNode node) {
        seen(node).transfers.clear();
    }
}
