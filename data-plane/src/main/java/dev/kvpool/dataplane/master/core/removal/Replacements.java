// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.command.LateWrites;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.register.FailedSsds;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.replication.Copies;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.function.Consumer;

/**
 * Sees to it, before a put is acknowledged, that nothing it has replaced is read again: what lies, or may still come to lie, on nodes
 * in view or away is covered by a tombstone below the new object. A member of which this leader does not know what it holds is behind
 * from now on.
 */
public final class Replacements {
    private final Index index;
    private final Members members;
    private final FailedSsds failedSsds;
    private final Absences absences;
    private final LateWrites lateWrites;
    private final TombstoneWriter tombstoneWriter;
    private final Copies copies;
    private final CurrentRules rules;

    public Replacements(CurrentRules rules, View view, Orders orders, TombstoneWriter tombstoneWriter, Copies copies) {
        this.rules = rules;
        this.index = view.index();
        this.members = orders.members();
        this.failedSsds = orders.failedSsds();
        this.absences = orders.absences();
        this.lateWrites = orders.lateWrites();
        this.tombstoneWriter = tombstoneWriter;
        this.copies = copies;
    }

    /**
     * Has what an object replaced stay replaced.
     *
     * @param whenSettled told OK when the next leader shows the object with this id, or a newer one, or none
     */
    public void settle(Key key, ObjectId id, long nowMs, Consumer<Status> whenSettled) {
        coverReplaced(key, id, nowMs, status -> failedSsds.whenNoted(() -> whenSettled.accept(status)));
    }

    private void coverReplaced(Key key, ObjectId id, long nowMs, Consumer<Status> whenSettled) {
        ObjectId upTo = id.before();
        boolean replaced = lateWrites.mayCome(key, nowMs)
                || copies.demoting(key, upTo) != null
                || index.remains().has(key, upTo);
        if (replaced) {
            tombstoneWriter.write(
                    key,
                    upTo,
                    tombstoneWriter.holders(key, upTo, nowMs),
                    SsdClearing.When.AFTER_LEASES,
                    nowMs,
                    outcome -> whenSettled.accept(rules.servesBehind() ? Status.OK : outcome.status()));
        } else if (members.unheard().isEmpty()) {
            whenSettled.accept(Status.OK);
        } else {
            absences.whenWrittenDown(() -> whenSettled.accept(Status.OK));
        }
    }
}
