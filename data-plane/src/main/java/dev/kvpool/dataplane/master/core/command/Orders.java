// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.command;

import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.register.FailedSsds;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.master.core.register.TenantPurges;

/** What a leader has nodes do, apart from serving its clients: give extents back, drop what is purged, obey commands. */
public final class Orders {
    private final RegisterKeeper register;
    private final Commands commands;
    private final Frees frees;
    private final TenantPurges tenantPurges = new TenantPurges();
    private final Purges purges;
    private final FailedSsds failedSsds;
    private final Members members;
    private final Absences absences;
    private final LateWrites lateWrites;
    private long lastRequestId;

    public Orders(
            CurrentRules rules,
            Leadership leadership,
            View view,
            RegisterKeeper register,
            LateWrites lateWrites,
            Outbox outbox) {
        this.register = register;
        this.lateWrites = lateWrites;
        commands = new Commands(outbox, this::nextRequestId);
        frees = new Frees(view.index(), outbox, this::nextRequestId);
        purges = new Purges(register, tenantPurges, view.membership(), view.index(), commands);
        failedSsds = new FailedSsds(register, leadership);
        members = new Members(register, failedSsds, leadership, view.membership(), outbox);
        absences = new Absences(rules, leadership, view.membership(), register, members);
    }

    /** What is stored beside the leadership. */
    public RegisterKeeper register() {
        return register;
    }

    public Commands commands() {
        return commands;
    }

    public Frees frees() {
        return frees;
    }

    public Purges purges() {
        return purges;
    }

    /** What engines of tenants tell of removals of everything. */
    public TenantPurges tenantPurges() {
        return tenantPurges;
    }

    /** Nodes that may hold objects. */
    public Members members() {
        return members;
    }

    /** SSDs on which nothing is cleared any more. */
    public FailedSsds failedSsds() {
        return failedSsds;
    }

    /** Which of them are behind, and what may be believed. */
    public Absences absences() {
        return absences;
    }

    /** Keys of which a node may still show an object that is not wanted any more. */
    public LateWrites lateWrites() {
        return lateWrites;
    }

    /** A number that no request to any node has had. */
    public long nextRequestId() {
        lastRequestId++;
        return lastRequestId;
    }
}
