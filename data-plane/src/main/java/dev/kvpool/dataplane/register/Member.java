// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.register;

import dev.kvpool.dataplane.wire.message.ObjectId;

/**
 * A node that may hold objects of the pool.
 *
 * @param isTransient it lives in the process of an engine, and nobody configured it
 * @param behindSince what the node holds with a lower id may have been removed, replaced or evicted while it was away; {@link
 *     ObjectId#NONE} when it has missed nothing
 * @param witnessMemory number of the memory with which it holds every tombstone; 0 when it is no witness. A node that lost its
 *     memory comes back with another number
 */
public record Member(boolean isTransient, ObjectId behindSince, long witnessMemory) {
    static final long NO_WITNESS = 0;

    static Member inSync(boolean isTransient) {
        return new Member(isTransient, ObjectId.NONE, NO_WITNESS);
    }

    public boolean isBehind() {
        return !behindSince.equals(ObjectId.NONE);
    }

    public boolean isWitness() {
        return witnessMemory != NO_WITNESS;
    }

    Member witness(long memory) {
        return new Member(isTransient, behindSince, memory);
    }

    /** It misses something from now on. One that has missed something before, and was back meanwhile, may hold what came until now. */
    Member away(ObjectId since) {
        return new Member(isTransient, since.isNewerThan(behindSince) ? since : behindSince, NO_WITNESS);
    }

    /** It misses puts, and maybe what they replaced, but no tombstone. */
    Member lagging(ObjectId since) {
        return away(since).witness(witnessMemory);
    }

    Member caughtUp() {
        return new Member(isTransient, ObjectId.NONE, witnessMemory);
    }
}
