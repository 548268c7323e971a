// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.base.ProtocolViolation;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeMessage.LeaderGone;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Counts the storage nodes that have come, in pools of engines alone those, that say of a leader that it has crashed. One node may be cut off from a leader that lives, most
 * of them hardly are; and even then this only makes a standby try for itself. Each node has one word, its last one: whatever leader it
 * names, those of others count as before.
 */
public final class Departures {
    /** What a node has said of the leader that it knows, and when. */
    private record Word(Authority leader, long atMs) {}

    private final Leadership leadership;
    private final Reach reach;
    private final Outbox outbox;
    private final Silences silences;
    private final LeaseLooks looks;
    private final Map<String, Word> words = new HashMap<>();

    /** This master led with that one: those of before it are of the past. */
    private long ledEpoch;

    public Departures(Leadership leadership, Reach reach, Silences silences, LeaseLooks looks, Outbox outbox) {
        this.leadership = leadership;
        this.reach = reach;
        this.silences = silences;
        this.looks = looks;
        this.outbox = outbox;
    }

    public void heard(NodeView node, LeaderGone told, long nowMs) throws ProtocolViolation {
        if (told.address().length() > Bounds.ENDPOINT_CHARS_MAX) {
            throw new ProtocolViolation("an address of more than " + Bounds.ENDPOINT_CHARS_MAX + " characters");
        }
        if (Long.compareUnsigned(told.authority().epoch(), leadership.objectEpochMax()) > 0) {
            return; // such a leader there cannot have been
        }
        switch (told.departure()) {
            case LEFT -> left(node, told.authority(), nowMs);
            case SILENT -> silences.heard(node, told, nowMs);
            default -> crashed(node, told, nowMs);
        }
    }

    private void crashed(NodeView node, LeaderGone told, long nowMs) {
        Authority leader = told.authority();
        if (reach.isOfEngines() && node.peer().tenant().isPresent()) {
            return; // one tenant may have most of the engines: it would end leaders at will
        }
        Set<String> counted = reach.counted();
        if (!counted.contains(node.id) || Long.compareUnsigned(leader.epoch(), ledEpoch) < 0) {
            return;
        }
        words.put(node.id, new Word(leader, nowMs));
        words.keySet().retainAll(counted);
        long agreeing = agreeing(leader, nowMs);
        if (2 * agreeing > counted.size()) {
            outbox.report("%d of %d expected nodes say that the leader with %s at %s has crashed"
                    .formatted(agreeing, counted.size(), leader, told.address()));
            outbox.leaderCrashed(leader, told.address());
        }
    }

    /** Engines come and go, and lie at will: where there are storage nodes theirs counts of the leader alone that the Lease has. */
    private void left(NodeView node, Authority leader, long nowMs) {
        if (reach.counted().contains(node.id) || leader.epoch() == leadership.leaseEpoch()) {
            looks.ask(nowMs);
        }
    }

    /** This master leads: whatever was said is about leaders of the past. */
    public void forget(Authority ours) {
        ledEpoch = ours.epoch();
        words.clear();
        silences.forget(ours);
    }

    private long agreeing(Authority leader, long nowMs) {
        return words.entrySet().stream()
                .filter(word -> word.getValue().leader().equals(leader))
                .filter(word -> nowMs - word.getValue().atMs() <= Bounds.WITNESS_MS)
                .count();
    }
}
