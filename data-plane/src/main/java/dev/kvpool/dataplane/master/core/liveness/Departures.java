// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.base.ProtocolViolation;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeMessage.LeaderGone;
import dev.kvpool.wire.Departure;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts the expected nodes that say of a leader that it has crashed. One node may be cut off from a leader that lives, most
 * of them hardly are; and even then this only makes a standby try for itself.
 */
public final class Departures {
    private final Leadership leadership;
    private final Membership membership;
    private final Outbox outbox;
    private final Silences silences;

    /** The leader that is spoken of, and when each node did so last. A leader of a higher epoch makes this one history. */
    private Authority authority = Authority.NONE;

    private final Map<String, Long> witnesses = new HashMap<>();

    /** From then on a word of a node is worth a look at the Lease. */
    private long lookMs = Long.MIN_VALUE;

    private boolean wantsLook;

    public Departures(Leadership leadership, Membership membership, Silences silences, Outbox outbox) {
        this.leadership = leadership;
        this.membership = membership;
        this.silences = silences;
        this.outbox = outbox;
    }

    public void heard(NodeView node, LeaderGone told, long nowMs) throws ProtocolViolation {
        if (told.address().length() > Bounds.ENDPOINT_CHARS_MAX) {
            throw new ProtocolViolation("an address of more than " + Bounds.ENDPOINT_CHARS_MAX + " characters");
        }
        if (Long.compareUnsigned(told.authority().epoch(), leadership.objectEpochMax()) > 0) {
            return; // such a leader there cannot have been, and what is said of it would make that of others old
        }
        if (told.departure() == Departure.LEFT) {
            left(nowMs);
            return;
        }
        if (told.departure() == Departure.SILENT) {
            silences.heard(node, told, nowMs);
            return;
        }
        if (!membership.expected().contains(node.id) || isOld(told.authority())) {
            return;
        }
        if (!told.authority().equals(authority)) {
            authority = told.authority();
            witnesses.clear();
        }
        witnesses.put(node.id, nowMs);
        long agreeing = agreeing(nowMs);
        if (2 * agreeing > membership.expected().size()) {
            outbox.report("%d of %d expected nodes say that the leader with %s at %s has crashed"
                    .formatted(agreeing, membership.expected().size(), authority, told.address()));
            outbox.leaderCrashed(authority, told.address());
        }
    }

    /** All nodes say so at about the same time; and each look is a question to the API server. The last word is never lost. */
    private void left(long nowMs) {
        wantsLook = true;
        tick(nowMs);
    }

    public void tick(long nowMs) {
        if (wantsLook && nowMs >= lookMs) {
            wantsLook = false;
            lookMs = nowMs + Bounds.LOOK_REST_MS;
            outbox.lookAtLease();
        }
    }

    /** This master leads: whatever was said is about leaders of the past. */
    public void forget(Authority ours) {
        authority = ours;
        witnesses.clear();
        silences.forget(ours);
    }

    private boolean isOld(Authority told) {
        return Long.compareUnsigned(told.epoch(), authority.epoch()) < 0;
    }

    private long agreeing(long nowMs) {
        return witnesses.entrySet().stream()
                .filter(witness -> membership.expected().contains(witness.getKey()))
                .filter(witness -> nowMs - witness.getValue() <= Bounds.WITNESS_MS)
                .count();
    }
}
