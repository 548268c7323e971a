// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.replication.Copies;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Clears what a tombstone covers from the SSDs of nodes in view. After a power cut a node has its SSD and no memory, so no tombstone:
 * it shows whatever record of an object is still there.
 */
final class SsdClearing {
    /** When what a tombstone covers must leave SSDs. */
    enum When {
        /** Nothing is acknowledged by it. */
        IN_ITS_TIME,

        /** Readers keep what they were promised. */
        AFTER_LEASES,

        /** The request itself ends them. */
        AT_ONCE
    }

    private final Index index;
    private final Frees frees;
    private final Copies copies;

    SsdClearing(Index index, Frees frees, Copies copies) {
        this.index = index;
        this.frees = frees;
        this.copies = copies;
    }

    /**
     * Frees what was given up of a key, up to an id, on SSDs. What nodes away have there is for the witnesses.
     *
     * @param whenCleared told, unless nothing is there, whether something was freed; there may be more
     * @return whether nothing is there, nor on its way there
     */
    boolean clear(Key key, ObjectId upTo, When when, Consumer<Boolean> whenCleared) {
        if (when == When.IN_ITS_TIME) {
            return true;
        }
        StoredObject.Name onItsWay = copies.demoting(key, upTo);
        if (onItsWay != null) {
            copies.afterwards(onItsWay, () -> whenCleared.accept(true));
            return false;
        }
        boolean isAnyLeased = false;
        List<Replica> onSsds = new ArrayList<>(0);
        for (ObjectId id : index.remains().of(key)) {
            StoredObject object = id.isNewerThan(upTo) ? null : index.object(id, key);
            if (object == null) {
                continue;
            }
            boolean isLeased = when == When.AFTER_LEASES && frees.isPromised(object);
            for (Replica replica : object.replicas()) {
                if (replica.isInMemory() || !replica.node().usable()) {
                    continue;
                }
                if (isLeased && !replica.isFreeing()) {
                    isAnyLeased = true;
                } else {
                    onSsds.add(replica);
                }
            }
        }
        if (onSsds.isEmpty()) {
            if (isAnyLeased) {
                whenCleared.accept(false);
            }
            return !isAnyLeased;
        }
        frees.trim(onSsds, new Frees.Removal(whenCleared));
        return false;
    }
}
