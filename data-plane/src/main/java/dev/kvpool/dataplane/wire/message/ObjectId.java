// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

/** Names an object: given with the grant of a put; a higher (epoch, counter) is newer. Both are unsigned. */
public record ObjectId(long epoch, long counter) implements Comparable<ObjectId> {
    public static final ObjectId NONE = new ObjectId(0, 0);

    @Override
    public int compareTo(ObjectId other) {
        int byEpoch = Long.compareUnsigned(epoch, other.epoch);
        return byEpoch != 0 ? byEpoch : Long.compareUnsigned(counter, other.counter);
    }

    /** The newest id that is older than this one; of {@link #NONE} there is none. */
    public ObjectId before() {
        if (equals(NONE)) {
            throw new IllegalStateException("no id is older than " + this);
        }
        return counter == 0 ? new ObjectId(epoch - 1, -1) : new ObjectId(epoch, counter - 1);
    }

    public boolean isNewerThan(ObjectId other) {
        return compareTo(other) > 0;
    }

    // Written out: masters compare and hash ids for each object of a batch, and until Java's second compiler has seen
    // to it what Java makes for records takes several times as long.

    @Override
    public boolean equals(Object other) {
        return other instanceof ObjectId id && id.epoch == epoch && id.counter == counter;
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(epoch) + Long.hashCode(counter);
    }

    @Override
    public String toString() {
        return Long.toUnsignedString(epoch) + "." + Long.toUnsignedString(counter);
    }
}
