// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.register;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;

/**
 * What nodes say of epoch, purge id and versions, held against the Lease and the register. They bound it: what one node says beyond
 * them is refused, for it would outlive that node. Only if the Lease was deleted or set back may nodes know better, though of no epoch more than
 * {@link Bounds#EPOCH_STEP_MAX} above the Lease's, however many say so: in a pool of one storage node that is any process with its name. If the register is
 * older than they are, it counts what a majority of the expected nodes, in a pool of engines alone of its members, says at least, of removals a majority of those that are not
 * behind. If the register was lost, it is not known who is behind, and one node is enough to know of a removal of everything, and one storage
 * node of the wire version, up to what the masters' build knows: no leader tells a node of one that the register did not have, and nothing removed may be read again. An engine without a certificate that lies
 * can do no more to objects than any client that removes everything. A process that is most of the members of a pool of engines alone can raise the
 * wire version for good, up to what the masters' build knows. An engine with the certificate of a tenant could do more, to others: what it says of
 * removals counts for {@link TenantPurges objects of its tenant} alone, and is not held against it.
 */
public final class Claims {
    /** The end of what is said of a node, with what a person can do. */
    public static final String NOT_BELIEVED =
            "; this node is not believed (if that lasts, remove the files of its segment and of its SSD tier: what it holds is lost, and the node comes back empty)";

    private final Leadership leadership;
    private final Membership membership;
    private final Members members;
    private final RegisterKeeper register;
    private final TenantPurges ofTenants;
    private final Runnable whenPurged;

    /** @param whenPurged told when objects in view may be covered that were not */
    public Claims(
            Leadership leadership,
            Membership membership,
            Members members,
            RegisterKeeper register,
            TenantPurges ofTenants,
            Runnable whenPurged) {
        this.leadership = leadership;
        this.membership = membership;
        this.members = members;
        this.register = register;
        this.ofTenants = ofTenants;
        this.whenPurged = whenPurged;
    }

    /** Whether a node knows of an epoch after this one, or of another leader with the same. */
    public static boolean isAbove(NodeView node, Authority ours) {
        int order = Long.compareUnsigned(node.highestEpoch(), ours.epoch());
        boolean otherLeader = node.seen().epoch() == ours.epoch() && node.seen().nonce() != ours.nonce();
        return order > 0 || (order == 0 && otherLeader);
    }

    /** What is wrong with the epoch that a node knows of, empty when a leader may have had it. */
    public static String objectionToEpoch(NodeView node, Authority ours) {
        return isTooFar(node.highestEpoch(), ours.epoch())
                ? "node %s knows of epoch %d, the Lease says %d, and no leader can have had one more than %d above that unless the Lease was deleted or set back: then set its leaseTransitions to %d%s"
                        .formatted(
                                node.id,
                                node.highestEpoch(),
                                ours.epoch(),
                                Bounds.EPOCH_STEP_MAX,
                                node.highestEpoch(),
                                NOT_BELIEVED)
                : "";
    }

    private static boolean isTooFar(long epoch, long above) {
        return Long.compareUnsigned(epoch, above + Bounds.EPOCH_STEP_MAX) > 0;
    }

    /** The epoch that a majority of the expected nodes has at least, when these know of one that is not this leader's. */
    public OptionalLong majoritysEpoch(Authority ours) {
        List<Long> epochs = new ArrayList<>();
        for (String id : membership.expected()) {
            NodeView node = membership.node(id);
            if (node != null && isAbove(node, ours) && !isTooFar(node.highestEpoch(), ours.epoch())) {
                epochs.add(node.highestEpoch());
            }
        }
        epochs.sort(Comparator.reverseOrder());
        int majority = Math.max(1, membership.majority());
        return epochs.size() < majority ? OptionalLong.empty() : OptionalLong.of(epochs.get(majority - 1));
    }

    /**
     * Whether a node alone may know of a Lease that was lost. A tenant's engine may not where there are others: anyone with such a certificate
     * could have the leader begin again for ever.
     */
    public boolean mayKnowLeases(NodeView node) {
        return node.mayKnowAllKeys() || membership.expected().isEmpty();
    }

    /** The highest epoch that a majority of the expected nodes has at least; 0 when fewer have told any. */
    public long epochToldByMajority() {
        return toldByMajority(membership.expected(), this::possibleEpoch, 0L);
    }

    private long possibleEpoch(NodeView node) {
        return isTooFar(node.highestEpoch(), leadership.leaseEpoch()) ? 0 : node.highestEpoch();
    }

    /**
     * What is wrong with what a node says, empty when nothing is. Of a register that was lost, or set back, what nodes know is taken over
     * first.
     */
    public String objection(NodeView node, Authority ours) {
        recover(ours);
        if (members.isRegisterLost()) {
            lost(node, ours);
        }
        Register bounds = register.wanted();
        if (node.mayKnowAllKeys() && node.purgeId().isNewerThan(bounds.purgeId())) {
            return "node %s says that everything below %s was removed, the register says below %s%s"
                    .formatted(node.id, node.purgeId(), bounds.purgeId(), NOT_BELIEVED);
        }
        return objectionToWire(node);
    }

    /** A higher layout is the node's own affair: a build that knows no lower one formats its segment again, and no node follows it. */
    private String objectionToWire(NodeView node) {
        ActiveVersions active = register.wanted().active();
        if (!active.equals(ActiveVersions.UNKNOWN) && node.active().wire() > active.wire()) {
            return "node %s speaks wire %d, the register says %d%s"
                    .formatted(node.id, node.active().wire(), active.wire(), NOT_BELIEVED);
        }
        return "";
    }

    /**
     * What is wrong with what a node that is there says it speaks by now, empty when nothing is: the leader before may have raised that just
     * before the register was lost or set back.
     */
    public String objectionToVersions(NodeView node, Authority ours) {
        if (node.active().wire() <= register.wanted().active().wire()) {
            return "";
        }
        recover(ours);
        return objectionToWire(node);
    }

    /**
     * Nodes that are behind were away when something was removed: of that they know nothing, and count neither for nor against it.
     */
    private void recover(Authority ours) {
        Set<String> asked = asked();
        List<String> upToDate = new ArrayList<>(asked);
        upToDate.removeAll(register.wanted().behind());
        purged(toldByMajority(upToDate, node -> node.purgeId(), ObjectId.NONE), ours);
        int wire = Math.max(toldByMajority(asked, node -> node.active().wire(), 0), wireBeforeLoss());
        // Engines have no segments that last. Nothing would lower it again.
        int layout = toldByMajority(membership.expected(), node -> node.active().layout(), 0);
        register.change(it -> it.raised(new ActiveVersions(wire, layout)));
    }

    /**
     * What one storage node knows of a register that was lost: it was told so by a leader that had it in the register, perhaps as the first,
     * and nothing takes it back. 0 when none was lost.
     */
    private int wireBeforeLoss() {
        int wire = 0;
        for (String id : membership.expected()) {
            NodeView node = membership.node(id);
            if (node != null && members.mayKnowLostRegister(node)) {
                wire = Math.max(wire, node.active().wire());
            }
        }
        return wire;
    }

    /** Of engines with certificates one tenant may have most: none of those is counted. */
    private Set<String> asked() {
        Set<String> expected = membership.expected();
        return expected.isEmpty() ? register.wanted().members().keySet() : expected;
    }

    /** Of the register that was lost, what the node knows. */
    private void lost(NodeView node, Authority ours) {
        if (node.mayKnowAllKeys()) {
            purged(node.purgeId(), ours);
        } else if (isOfBefore(node.purgeId(), ours)
                && ofTenants.told(node.peer().tenant().get(), node.purgeId())) {
            whenPurged.run();
        }
    }

    private void purged(ObjectId told, Authority ours) {
        if (isOfBefore(told, ours) && told.isNewerThan(register.wanted().purgeId())) {
            register.change(it -> it.purged(told));
            whenPurged.run();
        }
    }

    /** No purge is of this leader's own epoch but those that it has made itself. */
    private static boolean isOfBefore(ObjectId purgeId, Authority ours) {
        return Long.compareUnsigned(purgeId.epoch(), ours.epoch()) < 0;
    }

    /** The highest value that at least a majority of some nodes reaches. */
    private <T extends Comparable<T>> T toldByMajority(
            Collection<String> nodes, Function<NodeView, T> value, T nothing) {
        List<T> values = new ArrayList<>();
        for (String id : nodes) {
            NodeView node = membership.node(id);
            if (node != null && node.mayKnowAllKeys()) {
                values.add(value.apply(node));
            }
        }
        values.sort(Collections.reverseOrder());
        int majority = nodes.size() / 2 + 1;
        return values.size() < majority ? nothing : values.get(majority - 1);
    }
}
