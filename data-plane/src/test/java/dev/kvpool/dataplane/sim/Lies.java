// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeStats;
import java.util.HashSet;
import java.util.Set;

/**
 * What one storage node says that is not so: it knows of an epoch or a wire version that there never were. Others, or the register, know
 * better, and its word alone changes nothing. Of a removal of everything one node may know that is alone in having missed nothing.
 */
final class Lies {
    private static final long FAR_MIN = 50;

    private final World world;
    private SimNode node;
    private Authority seen;
    private int wire;

    /** All that was ever said. */
    private long lowestEpoch = Long.MAX_VALUE;

    private final Set<Integer> wires = new HashSet<>();

    Lies(World world) {
        this.world = world;
    }

    /** @param highest the highest epoch of a leader until now */
    void ofEpoch(SimNode liar, long highest) {
        long far = world.between(FAR_MIN, world.oneIn(3) ? 2 * Bounds.EPOCH_STEP_MAX : Bounds.EPOCH_STEP_MAX / 2);
        begin(liar, new Authority(highest + far, world.between(1, Long.MAX_VALUE - 1)), 0);
    }

    void ofWire(SimNode liar, int version) {
        begin(liar, Authority.NONE, version);
    }

    private void begin(SimNode liar, Authority lieOfEpoch, int lieOfWire) {
        node = liar;
        seen = lieOfEpoch;
        wire = lieOfWire;
        if (seen.epoch() > 0) {
            lowestEpoch = Math.min(lowestEpoch, seen.epoch());
        }
        if (wire > 0) {
            wires.add(wire);
        }
        world.trace(() -> liar + " lies: " + seen + ", wire " + wire);
    }

    boolean areUnderWay() {
        return node != null;
    }

    void end() {
        node = null;
    }

    /** The message as masters hear it. */
    Message in(SimProcess from, Message message) {
        if (node == null || !node.equals(from)) {
            return message;
        }
        return switch (message) {
            case NodeInfo it ->
                new NodeInfo(
                        said(it.seen()),
                        it.purgeId(),
                        it.objectLeaseMaxMs(),
                        it.highestObject(),
                        it.isTransient(),
                        it.restored(),
                        it.memory(),
                        it.tier(),
                        said(it.active()),
                        it.segments(),
                        it.tcp(),
                        it.shm(),
                        it.zone());
            case FenceAck it ->
                new FenceAck(
                        it.requestId(),
                        it.accepted(),
                        said(it.seen()),
                        it.incarnation(),
                        it.sequence(),
                        it.objectLeaseMaxMs(),
                        it.purgeId());
            case NodeStats it ->
                new NodeStats(
                        it.sequence(),
                        it.usedBytes(),
                        it.largestFreeBytes(),
                        it.slotsUsed(),
                        it.objects(),
                        it.drainingBytes(),
                        it.idsHash(),
                        it.damaged(),
                        it.scrubRounds(),
                        said(it.active()),
                        it.ssd());
            default -> message;
        };
    }

    private Authority said(Authority truth) {
        return seen.epoch() > 0 ? seen : truth;
    }

    private ActiveVersions said(ActiveVersions truth) {
        return wire > 0 ? new ActiveVersions(wire, truth.layout()) : truth;
    }

    /** A master leads. */
    void leads(Authority authority) {
        Violation.unless(
                authority.epoch() < lowestEpoch,
                "the word of one node is not enough",
                "a leader has epoch %d, and only a node that lies said that there had been %d",
                authority.epoch(),
                lowestEpoch);
    }

    void stored(Register register) {
        Violation.unless(
                !wires.contains(register.active().wire()),
                "the word of one node is not enough",
                "only a node that lies speaks wire version %d, and the Lease has that",
                register.active().wire());
    }
}
