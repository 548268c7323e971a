// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.request;

import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.Finding;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Groups;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.NodeTable;
import dev.kvpool.dataplane.master.core.membership.RecentRemovals;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.register.ObjectLeases;
import dev.kvpool.dataplane.master.core.replication.Promotions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.Existence;
import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.ReplicaRef;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Answers readers. Whoever is told about an object gets a lease on it. */
final class ReadRequests {
    private final ObjectLeases leases;
    private final Index index;
    private final Membership membership;
    private final Groups groups;
    private final Members members;
    private final Absences absences;
    private final RecentRemovals removals;
    private final Promotions promotions;
    private final Counters counters;

    ReadRequests(ObjectLeases leases, View view, Orders orders, Promotions promotions, Counters counters) {
        this.leases = leases;
        this.index = view.index();
        this.membership = view.membership();
        this.groups = view.groups();
        this.members = orders.members();
        this.absences = orders.absences();
        this.removals = view.removals();
        this.promotions = promotions;
        this.counters = counters;
    }

    LookupReply lookup(LookupRequest request, Authority authority, long nowMs) {
        NodeTable nodes = new NodeTable();
        List<Found> found = lastFirst(request.keys(), key -> find(key, nodes, nowMs));
        return new LookupReply(request.requestId(), Status.OK, authority, leases.promisedMs(), nodes.nodes(), found);
    }

    /**
     * Readers ask in the order of a prompt, and what stands late in it is of no use without what stands before: the first key is the
     * last to be used, so that the last is the first to be evicted.
     */
    private <T> List<T> lastFirst(List<Key> keys, Function<Key, T> answer) {
        List<T> answers = new ArrayList<>(keys.size());
        for (Key key : keys.reversed()) {
            answers.add(answer.apply(key));
        }
        index.endPrompt();
        return answers.reversed();
    }

    private Found find(Key key, NodeTable nodes, long nowMs) {
        StoredObject object = index.published(key);
        Finding finding = finding(key, object);
        if (finding != Finding.FOUND) {
            return missed(finding);
        }
        List<ReplicaRef> replicas = new ArrayList<>(object.usableReplicas());
        name(object, true, nodes, replicas, nowMs);
        boolean inMemory = !replicas.isEmpty();
        name(object, false, nodes, replicas, nowMs);
        if (replicas.isEmpty()) {
            return missed(Finding.UNAVAILABLE);
        }
        counters.add(Finding.FOUND.ofLookup);
        lease(object, nowMs);
        if (!inMemory) {
            counters.add(Count.LOOKUP_HITS_SSD);
            promotions.hit(object.name(), nowMs);
        }
        return new Found(Status.OK, object.id(), object.payloadLength(), object.payloadCrc(), replicas);
    }

    private Found missed(Finding finding) {
        counters.add(finding.ofLookup);
        return new Found(finding.status, ObjectId.NONE, 0, 0, List.of());
    }

    /** Memory first: a reader takes them in this order. */
    private void name(StoredObject object, boolean inMemory, NodeTable nodes, List<ReplicaRef> replicas, long nowMs) {
        for (Replica replica : object.replicas()) {
            if (replica.isInMemory() == inMemory && isNamed(replica, object)) {
                NodeView node = replica.node();
                replicas.add(new ReplicaRef(nodes.place(node), replica.extent(), replica.offset()));
                if (node.leaving()) {
                    node.namedWhileLeaving(nowMs + leases.promisedMs());
                }
            }
        }
    }

    /** What there is to say about a key and the object published under it, null when there is none. */
    private Finding finding(Key key, StoredObject object) {
        if (!key.isValid()) {
            return Finding.INVALID;
        }
        if (object != null) {
            return absences.mayRead(object) ? Finding.FOUND : unavailable(object);
        }
        if (members.isTransientToCome(Tenant.of(key))) {
            return Finding.UNAVAILABLE;
        }
        return switch (removals.fateOf(key)) {
            case UNKNOWN -> Finding.NEVER_PUT;
            case EVICTED -> Finding.EVICTED;
            case REMOVED -> Finding.REMOVED;
            case LOST -> Finding.LOST;
        };
    }

    private Finding unavailable(StoredObject object) {
        if (object.isAvailable()) {
            return Finding.UNAVAILABLE;
        }
        for (Replica replica : object.replicas()) {
            if (!membership.isRefusedForItsVersion(replica.node())) {
                return Finding.UNAVAILABLE;
            }
        }
        return Finding.VERSION;
    }

    /**
     * Readers are not sent to a node that leaves as long as there is another one, and never to a replica that its node was told to free:
     * it cannot be promised to stay, also when the copy for whose sake it goes has gone meanwhile.
     */
    private static boolean isNamed(Replica replica, StoredObject object) {
        if (!replica.node().usable() || replica.isFreeing()) {
            return false;
        }
        return !replica.node().leaving() || !hasStaying(object);
    }

    private static boolean hasStaying(StoredObject object) {
        for (Replica replica : object.replicas()) {
            if (replica.isStaying()) {
                return true;
            }
        }
        return false;
    }

    ExistsReply exists(ExistsRequest request, long nowMs) {
        return new ExistsReply(request.requestId(), Status.OK, lastFirst(request.keys(), key -> exists(key, nowMs)));
    }

    private Existence exists(Key key, long nowMs) {
        StoredObject object = index.published(key);
        Finding finding = finding(key, object);
        counters.add(finding.ofExists);
        if (finding != Finding.FOUND) {
            return new Existence(finding == Finding.INVALID ? Status.INVALID_KEY : Status.NOT_FOUND, 0);
        }
        lease(object, nowMs);
        return new Existence(Status.OK, object.payloadLength());
    }

    private void lease(StoredObject object, long nowMs) {
        index.used(object, nowMs, leases.promisedMs());
        index.lease(object, nowMs + leases.promisedMs());
        groups.leased(object);
    }
}
