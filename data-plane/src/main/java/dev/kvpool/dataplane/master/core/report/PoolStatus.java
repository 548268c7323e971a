// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.report;

import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a master knows at one moment, for people, probes and metrics; never changes.
 *
 * @param servingUntilMs on the core's clock; a leader is one only before this moment
 * @param notReady why this master is not ready, empty when it is
 * @param connectedNodes of the expected ones, those with a connection to this master
 * @param isHalfConnected whether at least half of the storage nodes that are members have a connection to this master; true where there are engines only
 * @param capacityBytes memory of ready nodes
 * @param sharedCapacityBytes the same without memory that engines lend, which holds their tenants' objects only
 * @param tombstones keys whose removal is kept for nodes that have missed it
 * @param underReplicatedObjects with fewer copies on ready nodes than they should have, unavailable ones included
 * @param softPinnedObjects that were put with a soft pin, whether it has ended or not
 * @param promotionsUnderWay moves from an SSD to memory that wait or are being made
 * @param recoveredUntilMs on the core's clock; before it nothing that the last takeover found is evicted
 * @param active the versions the pool speaks and writes, as far as its nodes have told
 * @param register what the pool keeps beside its leadership
 * @param index how full the index is
 * @param tenants what other tenants than the default one have
 * @param quotas how tenants stand to theirs
 * @param highestEpoch the highest epoch that a majority of the expected nodes has reached, as far as they have told
 */
public record PoolStatus(
        State state,
        long epoch,
        long servingUntilMs,
        String notReady,
        long highestEpoch,
        int expectedNodes,
        int connectedNodes,
        boolean isHalfConnected,
        int readyNodes,
        long capacityBytes,
        long sharedCapacityBytes,
        long usedBytes,
        long objects,
        long unavailableObjects,
        long tombstones,
        long underReplicatedObjects,
        long overReplicatedObjects,
        long softPinnedObjects,
        int promotionsUnderWay,
        int copiesUnderWay,
        long copyBytesUnderWay,
        int clients,
        int grantsUnderWay,
        long lastTakeoverMs,
        long recoveredUntilMs,
        ActiveVersions active,
        IndexUse index,
        List<Node> nodes,
        List<DrainStatus> drains,
        Kept register,
        List<TenantStatus> tenants,
        List<QuotaStatus> quotas,
        Counters counters) {
    /** What the master does. */
    public enum State {
        STARTING,
        STANDBY,
        RECOVERING,
        SERVING
    }

    /** How a node stands to this master. */
    public enum NodeState {
        READY,
        /** Ready, but takes nothing new: it is being emptied. */
        DRAINING,
        /** It may leave, or its emptying ended with something left. */
        DRAINED,
        SYNCING,
        AWAY,
        REFUSED,
        /** Its stream could not be followed; it is let in again later. */
        SET_APART;

        /** Whether readers are sent there. */
        public boolean servesReaders() {
            return this == READY || this == DRAINING || this == DRAINED;
        }
    }

    /**
     * What the records of objects take.
     *
     * @param problem why puts are refused, and what helps; empty when they are not
     */
    public record IndexUse(long usedBytes, long maxBytes, String problem) {}

    /**
     * One storage node.
     *
     * @param reason why it is not ready, empty when it is
     * @param address where clients reach it by tcp; empty until it has introduced itself
     * @param sharedMemory boot id of its machine, a colon and the path of a unix socket there; empty when it shares none
     * @param active the versions it keeps as its pool's, as it told last
     * @param contents what it says to hold; empty until it has introduced itself on this connection
     */
    public record Node(
            String id,
            NodeState state,
            String reason,
            boolean isTransient,
            long capacityBytes,
            long usedBytes,
            long objects,
            long incarnation,
            String product,
            List<String> protocols,
            String address,
            String sharedMemory,
            ActiveVersions active,
            Ssd ssd,
            Optional<Contents> contents) {}

    /**
     * The SSD tier of a node; all 0 when it has none.
     *
     * @param arriving objects on their way there from its memory
     * @param problem why one that was asked for is off; empty when it works
     */
    public record Ssd(long capacityBytes, long usedBytes, long objects, long arriving, String problem) {
        static final Ssd NONE = new Ssd(0, 0, 0, 0, "");
    }

    /**
     * What a node holds, in numbers that can be compared before and after its process was replaced.
     *
     * @param committed what it said at most 500 ms ago; empty when it has said nothing yet
     * @param restored what this life of the process found in its segments
     * @param lostAtReturn replicas of published objects that were gone when it came back; empty when this master cannot tell
     */
    public record Contents(Optional<Committed> committed, Restored restored, OptionalLong lostAtReturn) {}

    /**
     * The register, as this master saw it last.
     *
     * @param awaitsWitness nodes are behind, and this leader has met nobody who knows what they have missed: what only they show is
     *     not served
     */
    public record Kept(Register register, boolean awaitsWitness) {}

    /** Committed objects, and the order-free hash of their ids. */
    public record Committed(long objects, long idsHash) {}

    /** Nodes whose stream could not be followed. */
    public long nodesSetApart() {
        return nodes.stream()
                .filter(node -> node.state() == NodeState.SET_APART)
                .count();
    }

    public boolean isLeader(long nowMs) {
        return state == State.SERVING && nowMs < servingUntilMs;
    }
}
