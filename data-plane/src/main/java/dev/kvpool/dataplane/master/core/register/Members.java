// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.register;

import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.register.Member;
import dev.kvpool.dataplane.register.RegisterText;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The nodes that may hold objects of the pool, as the register has them: the expected ones as they come, and transient nodes. A node
 * takes objects only when the register has it, so every leader knows of it: what it misses while it is away is written down. What a
 * node holds that the register does not have counts for nothing; it takes part when it has dropped all of it.
 */
public final class Members {
    private final RegisterKeeper register;
    private final FailedSsds failedSsds;
    private final Leadership leadership;
    private final Membership membership;
    private final Outbox outbox;

    /** This term, or the one that it raised, found no register: the pool is new, or it was lost. */
    private boolean beganWithout;

    public Members(
            RegisterKeeper register,
            FailedSsds failedSsds,
            Leadership leadership,
            Membership membership,
            Outbox outbox) {
        this.register = register;
        this.failedSsds = failedSsds;
        this.leadership = leadership;
        this.membership = membership;
        this.outbox = outbox;
    }

    /** A term begins; of a pool that has no register all expected nodes are members. */
    public void begin() {
        if (register.stored().isLost()) {
            beganWithout = true;
            register.change(it -> it.enrolled(membership.expected()));
        }
        membership.all().forEach(failedSsds::note);
    }

    /** Another may lead now, and know better. A leader that takes a higher epoch after it has met its nodes goes on as it began. */
    public void endTerm() {
        beganWithout = false;
        failedSsds.endTerm();
    }

    /** Whether there was no register when this term began, or in a term not long ago. */
    boolean isRegisterLost() {
        return beganWithout || register.wanted().open();
    }

    /** Whether the pool had a register that this leader never read, and this node was there. */
    boolean mayKnowLostRegister(NodeView node) {
        return isRegisterLost() && hasObeyedAnother(node);
    }

    /** Whether a node may hold something that counts. */
    public boolean isMember(NodeView node) {
        return register.wanted().isMember(node.id) && !failedSsds.isBack(node) && !isGivenUp(node);
    }

    /**
     * Whether a node shows what it had before another memory came under its name. The register said that all of it was gone, so
     * no leader told it what was removed since. A memory that is only about to be written down, or given up again, has taken nothing yet.
     */
    private boolean isGivenUp(NodeView node) {
        boolean holdsInMemory = node.replicaCount() > node.ssd.objects();
        boolean holdsOnSsd = node.ssd.objects() > 0;
        return (holdsInMemory || holdsOnSsd)
                && !register.isPossible(
                        it -> !it.isGivenUp(node.id, node.memory(), holdsInMemory, node.ssd.number(), holdsOnSsd));
    }

    /** Whether a node's SSD is the one that counts, whatever its memory is: it was told of everything beside the one that does. */
    public boolean isSsdSure(NodeView node) {
        long number = node.ssd.number();
        return number != 0
                && node.ssd.works()
                && !failedSsds.isBack(node)
                && !register.isPossible(it -> !it.isOnSsd(node.id, number));
    }

    /** The register has no other memory under this name, whatever becomes of what is being written. */
    public boolean isSureOf(NodeView node) {
        return register.isSure(it -> it.isIn(node.id, node.memory(), node.ssd.number()));
    }

    /** Whether this node's memory is to be the one that counts, and the register may not say so yet. */
    public boolean isBeingTakenUp(NodeView node) {
        return isMember(node) && !isSureOf(node);
    }

    /** Nodes that new objects of a tenant may be put on. */
    public List<NodeView> takers(Tenant tenant) {
        List<NodeView> takers = membership.takers();
        takers.removeIf(node -> !mayTake(node) || !node.mayHoldOf(tenant));
        return takers;
    }

    /** Whoever leads next will know of this node. */
    boolean mayTake(NodeView node) {
        return isSureOf(node);
    }

    /** Whether what a node holds may be used: it was told of everything, or will be, as far as it has anything. */
    public boolean mayTakePart(NodeView node) {
        if (beganWithout && hasObeyedAnother(node)) {
            register.change(it -> it.open(true));
            beganWithout = false;
        }
        if (register.wanted().open() && !isMember(node)) {
            int charsMax = node.isTransient() ? RegisterText.CHARS_FOR_ENGINES : RegisterText.CHARS_MAX;
            register.changeWithin(
                    charsMax,
                    it -> node.isTransient() ? it.lent(Map.of(node.id, node.lender())) : it.enrolled(Set.of(node.id)));
        }
        if (failedSsds.isBack(node)) {
            if (node.replicaCount() == 0) {
                failedSsds.emptied(node);
            }
            return false; // until the next leader knows, too, that what comes there from now on counts
        }
        if (!isMember(node)) {
            return node.replicaCount() == 0 && !register.isPossible(it -> it.isMember(node.id));
        }
        takeUp(node);
        return isWantedIn(node) && isSureOf(node);
    }

    private void takeUp(NodeView node) {
        if (isWantedIn(node)) {
            return; // this is asked of all nodes whenever one comes, and a change copies what the register has of all
        }
        boolean isAnother = register.stored().isInAnother(node.id, node.memory());
        register.change(it -> it.in(node.id, node.memory(), node.ssd.number()));
        if (isAnother && isWantedIn(node)) {
            outbox.warn(
                    "node %s is here with a new memory, which takes the place of its former one: what that held counts for nothing from now on, and is freed if it comes back"
                            .formatted(node.id));
        }
    }

    private boolean isWantedIn(NodeView node) {
        return register.wanted().isIn(node.id, node.memory(), node.ssd.number());
    }

    /** This master under an earlier epoch is no other: it has written down whom it let take part. */
    private boolean hasObeyedAnother(NodeView node) {
        Authority seen = node.info() == null ? Authority.NONE : node.info().seen();
        return seen.epoch() != 0 && seen.nonce() != leadership.authority().nonce();
    }

    /** Members, by id, that take no part now and may come back with what they hold. */
    Set<String> absent() {
        Set<String> absent = new TreeSet<>();
        for (String id : register.possibleMembers()) {
            if (!isUsable(id)) {
                absent.add(id);
            }
        }
        return absent;
    }

    /** What the members in view do not hold, nobody holds. */
    public boolean isAllInView() {
        for (String id : register.possibleMembers()) {
            if (!isUsable(id)) {
                return false;
            }
        }
        return true;
    }

    /** It takes part, or has nothing any more: its process ended in order, and its memory with it. */
    private boolean isUsable(String id) {
        NodeView node = membership.node(id);
        return (node != null && node.usable()) || membership.hasEnded(id);
    }

    /** Whether this leader knows all that a node holds, though it may be away again. */
    boolean isHeard(String id) {
        NodeView node = membership.node(id);
        return node != null && node.heardUnder().equals(leadership.authority());
    }

    /** Members that are away and have not shown this leader what they hold. */
    public List<String> unheard() {
        List<String> unheard = new ArrayList<>();
        for (String id : register.possibleMembers()) {
            if (!isUsable(id) && !isHeard(id)) {
                unheard.add(id);
            }
        }
        return unheard;
    }

    /** Ids of transient nodes that may come soon and that this master has never heard: what they hold is not known here. */
    public List<String> transientsToCome() {
        List<String> toCome = new ArrayList<>();
        if (!register.isAnyTransient()) {
            return toCome;
        }
        register.wanted().members().forEach((id, member) -> {
            NodeView node = membership.node(id);
            if (member.isTransient() && !membership.hasEnded(id) && (node == null || !node.known())) {
                toCome.add(id);
            }
        });
        return toCome;
    }

    /** Whether one of them may hold objects of this tenant. */
    public boolean isTransientToCome(Tenant tenant) {
        return transientsToCome().stream().anyMatch(id -> member(id).tenant().equals(tenant));
    }

    /** Whether this is the id of a storage node: one that is expected, or that the register has as one. */
    public boolean isStorageNode(String id) {
        Member member = member(id);
        return membership.expected().contains(id) || (member != null && !member.isTransient());
    }

    /** Whether the register has this id, and as that of an engine. */
    public boolean isEngine(String id) {
        Member member = member(id);
        return member != null && member.isTransient();
    }

    /** The member with this id, as it is to be; null when there is none. */
    Member member(String id) {
        return register.wanted().members().get(id);
    }
}
