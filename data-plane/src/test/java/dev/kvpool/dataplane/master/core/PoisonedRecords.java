// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import java.util.AbstractList;
import java.util.List;

/** Records of a node of which one makes the core throw, when those before it have been applied: a bug of ours, as seen from outside. */
public final class PoisonedRecords extends AbstractList<DirectoryRecord> {
    private final List<DirectoryRecord> records;
    private final int at;

    private PoisonedRecords(List<DirectoryRecord> records, int at) {
        this.records = records;
        this.at = at;
    }

    /**
     * The same records, of which reading one throws.
     *
     * @param at which of them is poison
     */
    public static List<DirectoryRecord> of(List<DirectoryRecord> records, int at) {
        return new PoisonedRecords(records, at);
    }

    @Override
    public DirectoryRecord get(int index) {
        if (index == at) {
            throw new IllegalStateException("planted: a record that the core cannot bear");
        }
        return records.get(index);
    }

    @Override
    public int size() {
        return records.size();
    }
}
