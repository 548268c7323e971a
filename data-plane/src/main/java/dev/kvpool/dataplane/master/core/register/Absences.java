// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.register;

import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Who is behind, who witnesses, and what this leader may believe of it. Before anything is acknowledged that a node away misses, the
 * register says that it is behind; every tombstone is at all of the register's witnesses. So a leader that has met one of these knows
 * all tombstones, and one that has met none knows what not to believe: what a node shows that is behind.
 */
public final class Absences {
    private final CurrentRules rules;
    private final Leadership leadership;
    private final Membership membership;
    private final RegisterKeeper register;
    private final Members members;

    /** This leader has met a witness, or nobody was behind when its term began: it knows every tombstone. */
    private boolean knowsAll;

    /** Nodes that took part in this term and left: all that they hold has lower ids than these. */
    private final Map<String, ObjectId> leftBefore = new HashMap<>();

    /** Nodes that held nothing when they began to take part, and have not left: what they may have missed is about nothing of theirs. */
    private final Set<String> cameEmpty = new TreeSet<>();

    public Absences(
            CurrentRules rules,
            Leadership leadership,
            Membership membership,
            RegisterKeeper register,
            Members members) {
        this.rules = rules;
        this.leadership = leadership;
        this.membership = membership;
        this.register = register;
        this.members = members;
    }

    public void begin() {
        leftBefore.clear();
        cameEmpty.clear();
        knowsAll = isNothingWitnessed();
    }

    /** A node that took part is away: nothing that is granted from now on comes to it. */
    public void left(NodeView node) {
        cameEmpty.remove(node.id);
        if (leadership.leads()) {
            leftBefore.put(node.id, leadership.nextObjectId());
        }
    }

    /** A node takes part, with all it has shown decided about. */
    public void joined(NodeView node) {
        knowsAll |= register.isSure(it -> it.isWitness(node.id, node.memory()));
        if (node.replicaCount() == 0) {
            cameEmpty.add(node.id);
        }
    }

    public boolean knowsAll() {
        return knowsAll;
    }

    /** Nodes are behind, and nobody was met who knows what they have missed. */
    public boolean awaitsWitness() {
        return !knowsAll && !rules.servesBehind() && !isNobodyBehind();
    }

    /** A person says that a node does not come back with what it knows and holds, or must not be believed. */
    public void forget(String id) {
        NodeView node = membership.node(id);
        Set<String> ids = Set.of(id);
        // One that is there has what it has shown; but it is no witness any more.
        register.change(it -> node != null && node.usable() ? it.struckOff(ids) : it.dropped(ids));
        knowsAll |= register.wanted().witnesses().isEmpty();
    }

    /** There is no tombstone that anybody has to know of. */
    private boolean isNothingWitnessed() {
        return isNobodyBehind() || register.possibleWitnesses().isEmpty();
    }

    public boolean isNobodyBehind() {
        return !register.isAnyBehind();
    }

    // ---- before something is acknowledged -------------------------------------------------------------------------

    /** Whether removals and the like can be made to hold with the nodes as they are now. */
    public boolean isPossible() {
        // Who knows every tombstone can have others keep them in place of a witness that is away.
        return members.isAllInView()
                || !witnessesInView().isEmpty()
                || ((knowsAll || needsNoWitnessOfBefore()) && !candidates().isEmpty());
    }

    /** Whether every node that is away stands as behind, and somebody in view witnesses what it misses; else sees to it. */
    public boolean isPrepared() {
        Set<String> absent = members.absent();
        if (absent.isEmpty() || isPrepared(absent)) {
            return true;
        }
        List<NodeView> fresh = needsNoWitnessOfBefore() ? candidates() : List.of();
        List<NodeView> inView = witnessesInView();
        if (fresh.isEmpty() && inView.isEmpty()) {
            return false; // whoever knows the tombstones is away: it must stay the one who does
        }
        register.change(it -> {
            Register next = it;
            for (String id : absent) {
                // No later than that: what was put since then may have replaced what it holds.
                next = next.away(Set.of(id), holdsBefore(id));
            }
            if (!fresh.isEmpty()) {
                next = next.struckOff(it.witnesses().keySet());
            } else if (!inView.isEmpty()) {
                next = next.struckOff(withOtherMemories(it));
            }
            for (NodeView witness : fresh) {
                next = next.witnessed(witness.id, witness.memory());
            }
            return next;
        });
        knowsAll |= !fresh.isEmpty(); // whatever else there was is given up
        return isPrepared(absent);
    }

    /** No witness of earlier tombstones is needed: there are none, or no witness has them all and the pool goes on without. */
    private boolean needsNoWitnessOfBefore() {
        return isNothingWitnessed()
                || (rules.servesBehind() && !knowsAll && witnessesInView().isEmpty());
    }

    private boolean isPrepared(Set<String> absent) {
        boolean witnessed = register.isSure(
                it -> !it.witnesses().isEmpty() && withOtherMemories(it).isEmpty());
        return witnessed && isSure(absent) && absent.stream().noneMatch(witnesses()::contains);
    }

    /**
     * Witnesses that are here without the memory in which they are that. What is told them now, the former memory does not have when it is
     * back, though it is believed to know of every removal.
     */
    private Set<String> withOtherMemories(Register register) {
        Set<String> ids = new TreeSet<>();
        register.witnesses().forEach((id, memory) -> {
            NodeView node = membership.node(id);
            if (node != null && node.usable() && node.memory() != memory) {
                ids.add(id);
            }
        });
        return ids;
    }

    /**
     * Calls back when the register says of every member that has not shown this leader what it holds that it is behind: a put may have
     * replaced something there. Of those that are behind and here it says that they may hold such a put.
     */
    public void whenWrittenDown(Runnable whenSure) {
        Set<String> unheard = Set.copyOf(members.unheard());
        Set<String> heard = new TreeSet<>(register.wanted().behind());
        heard.removeAll(unheard);
        if (!isSure(unheard) || !register.isSure(it -> it.saysTheSame(it.holdingNewer(heard)))) {
            register.change(it -> {
                Register next = it;
                for (String id : unheard) {
                    next = next.lagging(Set.of(id), holdsBefore(id));
                }
                return next.holdingNewer(heard);
            });
        }
        register.whenSure(it -> isBehind(it, unheard) && it.saysTheSame(it.holdingNewer(heard)), whenSure);
    }

    /** A node that is away has nothing with this id or a higher one. */
    private ObjectId holdsBefore(String id) {
        return leftBefore.getOrDefault(id, beforeThisTerm());
    }

    /** A node that has not shown this leader what it holds has nothing with this id or a higher one. */
    private ObjectId beforeThisTerm() {
        return new ObjectId(leadership.authority().epoch(), 1);
    }

    /** Whether the register has these nodes, which are away, as behind in all that they may hold. */
    private boolean isBehind(Register register, Set<String> ids) {
        for (String id : ids) {
            if (register.isMember(id) && holdsBefore(id).isNewerThan(register.behindSince(id))) {
                return false;
            }
        }
        return true;
    }

    private boolean isSure(Set<String> absent) {
        return register.isSure(it -> isBehind(it, absent));
    }

    /** Ids of the nodes that must have a tombstone before it counts. */
    public Set<String> witnesses() {
        return register.possibleWitnesses();
    }

    /** Strikes a witness off that could not be told, if another one is left. */
    public void strikeOff(String id) {
        boolean another = witnessesInView().stream().anyMatch(node -> !node.id.equals(id));
        if (another) {
            register.change(it -> it.struckOff(Set.of(id)));
        }
    }

    public List<NodeView> witnessesInView() {
        List<NodeView> inView = new ArrayList<>();
        register.wanted().witnesses().forEach((id, memory) -> {
            NodeView node = membership.node(id);
            if (node != null && node.usable() && node.memory() == memory) {
                inView.add(node);
            }
        });
        return inView;
    }

    /** Nodes that could witness from now on, the best first. Those who stay are better than those who leave, or are transient. */
    public List<NodeView> candidates() {
        List<NodeView> candidates = membership.usable();
        candidates.removeIf(node -> !members.mayTake(node) || !node.mayKnowAllKeys());
        candidates.sort(Comparator.comparingInt(this::rank).thenComparing(node -> node.id));
        return candidates.subList(0, Math.min(candidates.size(), Register.WITNESSES_MAX));
    }

    public int rank(NodeView node) {
        boolean stays = membership.expected().contains(node.id) && !node.isTransient();
        return (stays ? 0 : 4)
                + (node.leaving() ? 2 : 0)
                + (register.wanted().behindSince(node.id).equals(ObjectId.NONE) ? 0 : 1);
    }

    // ---- what may be believed -------------------------------------------------------------------------------------

    /** Whether readers may be told of an object: it is there, and cannot have been removed or replaced without our knowing. */
    public boolean mayRead(StoredObject object) {
        if (!object.isAvailable()) {
            return false;
        }
        if (!register.isAnyStoredBehind() || rules.servesBehind()) {
            return true;
        }
        for (Replica replica : object.replicas()) {
            if (replica.node().usable() && !isSuspect(replica.node(), object)) {
                return true;
            }
        }
        return false;
    }

    private boolean isSuspect(NodeView node, StoredObject object) {
        ObjectId since = register.stored().behindSince(node.id);
        return since.isNewerThan(object.id()) && (!knowsAll || isAnyNewerUnheard(node.id, since));
    }

    /** Some member may hold what replaced it, put while the node was away, and has not shown this leader what it has. */
    private boolean isAnyNewerUnheard(String id, ObjectId since) {
        for (String other : members.unheard()) {
            if (!other.equals(id) && !register.stored().isAwaySince(other, since)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a node has missed something, and has not caught up. */
    public boolean isBehind(String id) {
        return register.stored().behind().contains(id);
    }

    /** Nodes that are behind, take part, and could be let catch up: all that they have missed is known, or is about nothing of theirs. */
    public Set<String> returned() {
        Set<String> returned = new TreeSet<>();
        if (!isNobodyBehind()) {
            for (String id : register.wanted().behind()) {
                NodeView node = membership.node(id);
                if (node != null && node.usable() && (cameEmpty.contains(id) || isAllKnown(id))) {
                    returned.add(id);
                }
            }
        }
        return returned;
    }

    /** Whether this leader knows all that a node which is behind has missed. */
    private boolean isAllKnown(String id) {
        return rules.servesBehind()
                || (knowsAll && !isAnyNewerUnheard(id, register.stored().behindSince(id)));
    }

    /** These have dropped all that they had missed. When no node is behind any longer, there is nothing to witness. */
    public void caughtUp(Set<String> ids) {
        register.change(it -> {
            Register next = it.caughtUp(ids);
            return next.isAnyBehind() ? next : next.struckOff(next.witnesses().keySet());
        });
        knowsAll |= !register.wanted().isAnyBehind();
    }
}
