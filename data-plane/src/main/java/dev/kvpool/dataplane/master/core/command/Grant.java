// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.command;

import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.base.PendingReply;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Leave to put one object: room is set aside on its targets until they commit or the grant ends. */
public final class Grant {
    /** A client that waits for its publish until the named nodes' records have arrived. */
    public record PublishWait(PendingReply reply, int line, Collection<Long> incarnations, long untilMs) {}

    /** The connection that asked for it. */
    final long session;

    public final ObjectId id;
    public final Key key;
    public final long extentBytes;
    final long deadlineMs;

    /** An upsert: what has the key when it is published gives way at once. */
    public final boolean replaces;

    /** What is put never gives way to other objects. */
    final boolean isHardPinned;

    /** The pinned object that gives way to it when it is published; {@link ObjectId#NONE} when there is none. */
    private final ObjectId replacedPin;

    private final long replacedPinBytes;

    public final List<NodeView> targets;

    /** Copies the object should have. */
    public final int wanted;

    public final List<PublishWait> waits = new ArrayList<>(1);

    /** Bit i: the room set aside on target i is still to be given back. */
    private int reserved;

    /** Its connection ended. The writer may still finish, but nobody waits for it any more. */
    boolean abandoned;

    /**
     * Leave to put one object.
     *
     * @param present what the key has now; null when it has nothing
     */
    public Grant(
            long session,
            ObjectId id,
            Key key,
            long extentBytes,
            List<NodeView> targets,
            int wanted,
            long deadlineMs,
            boolean replaces,
            boolean isHardPinned,
            StoredObject present) {
        this.isHardPinned = isHardPinned;
        boolean replacesPin =
                isHardPinned && present != null && present.retention().hard();
        this.replacedPin = replacesPin ? present.id() : ObjectId.NONE;
        this.replacedPinBytes = replacesPin ? present.countedBytes() : 0;
        this.replaces = replaces;
        this.session = session;
        this.id = id;
        this.key = key;
        this.extentBytes = extentBytes;
        this.targets = targets;
        this.wanted = wanted;
        this.deadlineMs = deadlineMs;
        this.reserved = (1 << targets.size()) - 1;
        for (NodeView node : targets) {
            node.room.setAside(extentBytes);
        }
    }

    /** What it counts against its tenant's quota: an extent for each copy that the object should have. */
    long countedBytes() {
        return ExtentSize.ofCopies(extentBytes, wanted);
    }

    /** Its pin counts with its tenant's from now on, and twice for nothing: what gives way to it counts less by as much. */
    void bookPin(TenantAccounts accounts) {
        if (isHardPinned) {
            accounts.pinned(Tenant.of(key), countedBytes());
            if (replacedPinBytes > 0) {
                accounts.yields(Tenant.of(key), replacedPin, Math.min(countedBytes(), replacedPinBytes));
            }
        }
    }

    void takePinBack(TenantAccounts accounts) {
        if (isHardPinned) {
            accounts.yieldsNoMore(Tenant.of(key), replacedPin);
            accounts.pinned(Tenant.of(key), -countedBytes());
        }
    }

    /** From the node's record on, the bytes count as used instead of granted. */
    public void release(NodeView node) {
        int place = targets.indexOf(node);
        if (place >= 0 && (reserved & 1 << place) != 0) {
            reserved &= ~(1 << place);
            node.room.giveBack(extentBytes);
        }
    }

    /** Whether some target has not shown the object. */
    boolean isOpen() {
        return reserved != 0;
    }

    void releaseAll() {
        targets.forEach(this::release);
    }
}
