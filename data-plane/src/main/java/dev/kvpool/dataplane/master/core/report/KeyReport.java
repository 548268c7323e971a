// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.report;

import dev.kvpool.dataplane.master.core.command.Grants;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.RecentRemovals;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.report.KeyStatus.Cause;
import dev.kvpool.dataplane.master.core.report.KeyStatus.Holder;
import dev.kvpool.dataplane.master.core.report.KeyStatus.State;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/** Draws up a {@link KeyStatus}. Counts nothing, leases nothing: nobody has read the key. */
public final class KeyReport {
    private final Index index;
    private final Membership membership;
    private final RecentRemovals removals;
    private final Members members;
    private final Absences absences;
    private final Grants grants;

    public KeyReport(View view, Orders orders, Grants grants) {
        this.index = view.index();
        this.membership = view.membership();
        this.removals = view.removals();
        this.members = orders.members();
        this.absences = orders.absences();
        this.grants = grants;
    }

    /** What this master, which must serve as leader, knows of a key. */
    public KeyStatus of(Key key, long nowMs) {
        StoredObject object = index.published(key);
        Cause cause = object == null ? causeOfAbsence(key) : causeOfSilence(object);
        State state = state(object, cause, grants.isBeingPut(key, nowMs));
        return new KeyStatus(
                state,
                state == State.BEING_PUT ? Cause.NONE : cause,
                object == null ? knownFor(removals.goneForMs(key)) : OptionalLong.empty(),
                object == null ? OptionalLong.empty() : OptionalLong.of(object.payloadLength()),
                object != null && object.isLeased(nowMs),
                object == null ? List.of() : holders(object),
                object == null ? unheard() : List.of(),
                knownFor(removals.purgedForMs()),
                removals.remembersForMs());
    }

    private static State state(StoredObject object, Cause cause, boolean beingPut) {
        if (cause == Cause.NONE) {
            return State.READABLE;
        }
        if (beingPut) {
            return State.BEING_PUT;
        }
        return object == null && cause != Cause.UNHEARD ? State.ABSENT : State.UNAVAILABLE;
    }

    private Cause causeOfAbsence(Key key) {
        if (members.isTransientToCome(Tenant.of(key))) {
            return Cause.UNHEARD;
        }
        return switch (removals.fateOf(key)) {
            case UNKNOWN -> Cause.UNKNOWN;
            case EVICTED -> Cause.EVICTED;
            case REMOVED -> Cause.REMOVED;
            case LOST -> Cause.LOST;
        };
    }

    /** Why readers may not be told of an object that is there. */
    private Cause causeOfSilence(StoredObject object) {
        if (absences.mayRead(object)) {
            return Cause.NONE;
        }
        if (object.isAvailable()) {
            return Cause.BEHIND;
        }
        for (Replica replica : object.replicas()) {
            if (!membership.isRefusedForItsVersion(replica.node())) {
                return Cause.NODES_AWAY;
            }
        }
        return Cause.VERSION;
    }

    private List<Holder> holders(StoredObject object) {
        List<Holder> holders = new ArrayList<>();
        for (Replica replica : object.replicas()) {
            NodeView node = replica.node();
            holders.add(new Holder(
                    node.id, replica.isInMemory(), node.usable(), absences.isBehind(node.id), node.leaving()));
        }
        holders.sort(Comparator.comparing((Holder holder) -> !holder.inMemory()).thenComparing(Holder::node));
        return holders;
    }

    private List<String> unheard() {
        Set<String> unheard = new TreeSet<>(members.unheard());
        unheard.addAll(members.transientsToCome());
        return List.copyOf(unheard);
    }

    private static OptionalLong knownFor(long ms) {
        return ms < 0 ? OptionalLong.empty() : OptionalLong.of(ms);
    }
}
