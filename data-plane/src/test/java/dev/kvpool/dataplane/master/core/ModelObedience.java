// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeCommand.Activate;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;

/** Whom a node obeys and what it was told to remember, across the lives of its process. */
final class ModelObedience {
    private static final ActiveVersions FIRST = new ActiveVersions(1, 1);

    private Authority seen = Authority.NONE;
    private ObjectId purgeId = ObjectId.NONE;
    private long objectLeaseMaxMs;
    private ActiveVersions active = FIRST;
    private ActiveVersions known = FIRST;
    private int activationsHeard;

    Authority seen() {
        return seen;
    }

    ObjectId purgeId() {
        return purgeId;
    }

    long objectLeaseMaxMs() {
        return objectLeaseMaxMs;
    }

    ActiveVersions active() {
        return active;
    }

    int activationsHeard() {
        return activationsHeard;
    }

    void know(ActiveVersions versions) {
        known = versions;
    }

    boolean obeys(Authority authority) {
        return authority.equals(seen);
    }

    /** What a writer hears who was granted something by this authority. */
    Status judge(Authority authority) {
        if (obeys(authority)) {
            return Status.OK;
        }
        return Long.compareUnsigned(authority.epoch(), seen.epoch()) > 0 ? Status.NOT_FENCED : Status.STALE_EPOCH;
    }

    /** Whether it obeys this one from now on. */
    boolean fence(Fence fence) {
        Authority asked = fence.authority();
        boolean accepted = obeys(asked) || Long.compareUnsigned(asked.epoch(), seen.epoch()) > 0;
        if (accepted) {
            seen = asked;
            objectLeaseMaxMs = Math.max(objectLeaseMaxMs, fence.objectLeaseMs());
        }
        return accepted;
    }

    void raisePurge(ObjectId below) {
        purgeId = below.isNewerThan(purgeId) ? below : purgeId;
    }

    Status activate(Activate activate) {
        activationsHeard++;
        if (activate.versions().exceeds(known)) {
            return Status.VERSION_MISMATCH;
        }
        active = obeys(activate.authority()) ? active.or(activate.versions()) : active;
        return Status.OK;
    }

    /** All of it lay in the memory that is lost. */
    void wipe() {
        seen = Authority.NONE;
        purgeId = ObjectId.NONE;
        objectLeaseMaxMs = 0;
        active = FIRST;
    }
}
