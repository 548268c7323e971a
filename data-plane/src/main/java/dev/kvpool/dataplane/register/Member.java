// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.register;

import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;

/**
 * A node that may hold objects of the pool.
 *
 * @param isTransient it lives in the process of an engine, and nobody configured it
 * @param tenant whose objects alone a transient one may hold; of others {@link Tenant#DEFAULT}
 * @param behindSince what the node holds with a lower id may have been removed, replaced or evicted while it was away; {@link
 *     ObjectId#NONE} when it has missed nothing
 * @param missesFrom what has this id, or a higher one, may have replaced something that the node holds. That is where {@code
 *     behindSince} began: it moves on when the node is away anew before it has caught up
 * @param holdsNewer it was back while it was behind, and may hold what was put since: it may know what others have missed
 * @param witnessMemory number of the memory with which it holds every tombstone; 0 when it is no witness. A node that lost its
 *     memory comes back with another number
 * @param memory number of the memory that is the node's; 0 of transient nodes, and of one that never took part. What comes under the
 *     node's name with another memory, and holds something there, was given up
 * @param ssd number of the SSD that is the node's beside that memory; 0 when it has none
 * @param failedSsd number of its SSD that failed, or was not there any more: what lies on it may have been removed or replaced since;
 *     0 when there is none
 */
public record Member(
        boolean isTransient,
        Tenant tenant,
        ObjectId behindSince,
        ObjectId missesFrom,
        boolean holdsNewer,
        long witnessMemory,
        long memory,
        long ssd,
        long failedSsd) {
    static final long NO_MEMORY = 0;
    static final long NO_WITNESS = 0;
    static final long NO_SSD = 0;

    static Member storageNode() {
        return new Member(
                false, Tenant.DEFAULT, ObjectId.NONE, ObjectId.NONE, false, NO_WITNESS, NO_MEMORY, NO_SSD, NO_SSD);
    }

    static Member engine(Tenant tenant) {
        return new Member(true, tenant, ObjectId.NONE, ObjectId.NONE, false, NO_WITNESS, NO_MEMORY, NO_SSD, NO_SSD);
    }

    public boolean isBehind() {
        return !behindSince.equals(ObjectId.NONE);
    }

    public boolean isWitness() {
        return witnessMemory != NO_WITNESS;
    }

    Member witness(long number) {
        return new Member(isTransient, tenant, behindSince, missesFrom, holdsNewer, number, memory, ssd, failedSsd);
    }

    /** It misses something from now on. One that has missed something before, and was back meanwhile, may hold what came until now. */
    Member away(ObjectId since) {
        return since.isNewerThan(behindSince)
                ? new Member(
                        isTransient,
                        tenant,
                        since,
                        isBehind() ? missesFrom : since,
                        false,
                        NO_WITNESS,
                        memory,
                        ssd,
                        failedSsd)
                : witness(NO_WITNESS);
    }

    /** It misses puts, and maybe what they replaced, but no tombstone. */
    Member lagging(ObjectId since) {
        return away(since).witness(witnessMemory);
    }

    /** It is behind, and takes puts. */
    Member holdingNewer() {
        return isBehind()
                ? new Member(isTransient, tenant, behindSince, missesFrom, true, witnessMemory, memory, ssd, failedSsd)
                : this;
    }

    /** As it was written down. */
    Member behind(ObjectId since, ObjectId from, boolean newer) {
        return new Member(isTransient, tenant, since, from, newer, witnessMemory, memory, ssd, failedSsd);
    }

    Member caughtUp() {
        return new Member(
                isTransient, tenant, ObjectId.NONE, ObjectId.NONE, false, witnessMemory, memory, ssd, failedSsd);
    }

    Member withFailedSsd(long number) {
        return new Member(isTransient, tenant, behindSince, missesFrom, holdsNewer, witnessMemory, memory, ssd, number);
    }

    /** What it holds is in this memory from now on, and on this SSD; what it was behind in it may have there still. */
    Member in(long newMemory, long newSsd) {
        return isTransient
                ? this
                : new Member(
                        false,
                        tenant,
                        behindSince,
                        missesFrom,
                        holdsNewer,
                        witnessMemory,
                        newMemory,
                        newSsd,
                        failedSsd);
    }

    boolean isIn(long thatMemory, long thatSsd) {
        return isTransient || (memory == thatMemory && ssd == thatSsd);
    }

    /** Whether this memory is another than the one that is known to be the node's. */
    boolean isNotIn(long thatMemory) {
        return memory != NO_MEMORY && memory != thatMemory;
    }
}
