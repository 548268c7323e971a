// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.upkeep;

import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.command.Commands;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.command.Purges;
import dev.kvpool.dataplane.master.core.eviction.Evictions;
import dev.kvpool.dataplane.master.core.eviction.Evictor;
import dev.kvpool.dataplane.master.core.eviction.MemoryPressure;
import dev.kvpool.dataplane.master.core.eviction.QuotaEvictor;
import dev.kvpool.dataplane.master.core.eviction.RetainedObjects;
import dev.kvpool.dataplane.master.core.eviction.SsdEvictor;
import dev.kvpool.dataplane.master.core.eviction.TakeoverReserve;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Tombstones;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.Standings;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;
import dev.kvpool.dataplane.master.core.register.ObjectLeases;
import dev.kvpool.dataplane.master.core.removal.Enrolling;
import dev.kvpool.dataplane.master.core.removal.Predecessors;
import dev.kvpool.dataplane.master.core.removal.TombstoneWriter;
import dev.kvpool.dataplane.master.core.removal.Witnessing;
import dev.kvpool.dataplane.master.core.replication.Copies;
import dev.kvpool.dataplane.master.core.replication.CopyTasks;
import dev.kvpool.dataplane.master.core.replication.DrainEntries;
import dev.kvpool.dataplane.master.core.replication.Drains;
import dev.kvpool.dataplane.master.core.replication.Promotions;
import dev.kvpool.dataplane.master.core.replication.Repairs;
import dev.kvpool.dataplane.master.core.tenant.QuotaOutcomes;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import java.util.Optional;
import java.util.function.Consumer;

/** What a leader does of itself while it serves, beside answering: it keeps removals true, copies complete and room free. */
public final class Upkeep {
    private final Leadership leadership;
    private final Membership membership;
    private final Tombstones tombstones;
    private final Commands commands;
    private final TombstoneWriter tombstoneWriter;
    private final Enrolling enrolling;
    private final Purges purges;
    private final Activation activation;
    private final Reconciliation reconciliation;
    private final ObjectLeases objectLeases;
    private final Standings standings;
    private final Copies copies;
    private final CopyTasks tasks;
    private final Repairs repairs;
    private final Drains drains;
    private final DrainEntries drainEntries;
    private final Witnessing witnessing;
    private final TakeoverReserve reserve;
    private final RetainedObjects retained;
    private final Evictor evictor;
    private final SsdEvictor ssdEvictor;
    private final QuotaEvictor quotaEvictor;
    private final QuotaOutcomes quotaOutcomes = new QuotaOutcomes();
    private final Promotions promotions;

    public Upkeep(
            CurrentRules rules,
            boolean evictionsTold,
            Leadership leadership,
            View view,
            Orders orders,
            Reconciliation reconciliation,
            Clients clients,
            Counters counters,
            Outbox outbox) {
        this.leadership = leadership;
        this.membership = view.membership();
        this.tombstones = view.tombstones();
        this.commands = orders.commands();
        this.purges = orders.purges();
        this.reconciliation = reconciliation;
        activation = new Activation(orders.register(), membership, commands, outbox);
        enrolling = new Enrolling(rules, leadership, view, orders, reconciliation);
        objectLeases = new ObjectLeases(rules, membership, orders.members(), orders.register());
        standings = new Standings(clients, counters);
        copies = new Copies(rules, view.index(), orders, standings, counters);
        tombstoneWriter = new TombstoneWriter(view, orders, copies);
        tasks = new CopyTasks(view, orders, copies, clients, counters);
        drains = new Drains(objectLeases, membership, reconciliation, counters, outbox);
        drainEntries = new DrainEntries(orders.register(), drains);
        witnessing = new Witnessing(view, orders, tombstoneWriter);
        repairs = new Repairs(rules, view, orders, copies, tasks, standings, drains, counters);
        reserve = new TakeoverReserve(rules, leadership, membership, reconciliation);
        Predecessors predecessors = new Predecessors(view, orders, tombstoneWriter, counters);
        MemoryPressure pressure = new MemoryPressure(leadership, view, orders, copies, counters);
        Evictions evictions =
                new Evictions(rules, counters, view.removals(), orders.frees(), quotaOutcomes, outbox, evictionsTold);
        retained = new RetainedObjects(view, clients);
        evictor = new Evictor(
                rules, leadership, view, reconciliation, predecessors, pressure, retained, evictions, counters);
        quotaEvictor = new QuotaEvictor(rules, leadership, view, predecessors, retained, evictions);
        ssdEvictor = new SsdEvictor(rules, leadership, view, orders, predecessors, retained, evictions, counters);
        promotions = new Promotions(view, copies, counters);
    }

    public TombstoneWriter tombstoneWriter() {
        return tombstoneWriter;
    }

    public ObjectLeases objectLeases() {
        return objectLeases;
    }

    public Standings standings() {
        return standings;
    }

    /** A node introduced itself on a new connection. */
    public void introduced(NodeView node) {
        drains.introduced(node);
    }

    /** Begins to empty a node; answers why not, or nothing. */
    public Optional<String> drain(String node, boolean clears, long timeoutMs, long startedAtMs, long nowMs) {
        Optional<String> objection = drains.start(node, clears, timeoutMs, startedAtMs, nowMs);
        repairs.lookAgain();
        drainEntries.tick(nowMs);
        return objection;
    }

    public Activation activation() {
        return activation;
    }

    public TakeoverReserve reserve() {
        return reserve;
    }

    public Copies copies() {
        return copies;
    }

    public CopyTasks tasks() {
        return tasks;
    }

    public Promotions promotions() {
        return promotions;
    }

    public RetainedObjects retained() {
        return retained;
    }

    /** Makes room for a tenant below its ceilings. */
    public QuotaEvictor quotaEvictor() {
        return quotaEvictor;
    }

    /** What tenants were refused and have lost. */
    public QuotaOutcomes quotaOutcomes() {
        return quotaOutcomes;
    }

    /** Whether there was one to be ended, or the register still says so. */
    public boolean cancelDrain(String node, long nowMs) {
        boolean ended = drains.cancel(node);
        drainEntries.tick(nowMs);
        return ended || drainEntries.mayHold(node);
    }

    public Drains drains() {
        return drains;
    }

    public void answered(NodeView node, CommandAck ack) {
        commands.answered(node, ack);
    }

    /** The pool has other rules now: what was given up under the old ones is tried again. */
    public void rulesChanged(long nowMs) {
        objectLeases.changed(nowMs);
        repairs.lookAgain();
        evictor.rulesChanged();
        ssdEvictor.beginAnew();
        quotaEvictor.beginAnew();
    }

    /** Nodes are not where they seemed to be: copies may lie together. */
    public void zonesChanged() {
        repairs.lookAgain();
    }

    /** A node takes part beside others. */
    public void joined(NodeView node, long nowMs) {
        standings.joined(node, membership.usable(), nowMs);
        repairs.lookAgain();
    }

    /** The node cannot be told anything any more: its connection or our term ended. */
    public void abandon(NodeView node) {
        tombstoneWriter.abandon(node);
        commands.abandon(node);
        activation.abandon(node);
        repairs.lookAgain();
    }

    /** A term's serving begins. */
    public void serving(long nowMs) {
        drainEntries.resume(nowMs);
        evictor.serving();
        quotaEvictor.serving();
        reserve.tick(nowMs);
    }

    public void endTerm() {
        evictor.endTerm();
        ssdEvictor.beginAnew();
        quotaEvictor.endTerm();
        promotions.endTerm();
        retained.endTerm();
        reserve.endTerm();
        tombstoneWriter.endTerm();
        witnessing.endTerm();
        purges.endTerm();
        tombstones.endTerm();
        activation.endTerm();
        enrolling.endTerm();
        repairs.endTerm();
        drains.endTerm();
        tasks.endTerm();
        copies.endTerm();
        standings.forget();
    }

    /**
     * Time goes by.
     *
     * @param step runs each part of what is to be done
     */
    public void tick(long nowMs, Consumer<Runnable> step) {
        step.accept(() -> commands.tick(nowMs));
        if (!leadership.serves(nowMs)) {
            return;
        }
        Authority authority = leadership.authority();
        step.accept(() -> objectLeases.tick(reconciliation.recoveredUntilMs(), nowMs));
        step.accept(() -> standings.tick(membership.usable(), nowMs));
        step.accept(() -> purges.tick(authority, nowMs));
        step.accept(() -> activation.tick(authority, nowMs));
        step.accept(() -> tombstoneWriter.tick(authority, nowMs));
        step.accept(() -> enrolling.tick(authority, nowMs));
        step.accept(() -> copies.tick(nowMs));
        step.accept(() -> drains.tick(nowMs));
        step.accept(() -> drainEntries.tick(nowMs));
        step.accept(() -> witnessing.tick(nowMs));
        step.accept(() -> tasks.tick(authority, nowMs));
        step.accept(() -> repairs.tick(authority, nowMs));
        step.accept(() -> promotions.tick(authority));
    }

    /** Makes room; after whatever else a tick brings, which may have taken some. */
    public void makeRoom(long nowMs, Consumer<Runnable> step) {
        step.accept(() -> reserve.tick(nowMs));
        step.accept(() -> retained.tick(nowMs));
        step.accept(() -> quotaEvictor.tick(nowMs));
        step.accept(() -> evictor.tick(nowMs));
        step.accept(() -> ssdEvictor.tick(nowMs));
    }

    /** So many objects were put, and took room. */
    public void put(int objects, long nowMs) {
        evictor.put(objects, nowMs);
    }

    /** Sends what the last input has led to. */
    public void send(long nowMs) {
        if (leadership.phase() == Leadership.Phase.SERVING) {
            tombstoneWriter.send(leadership.authority(), nowMs);
        }
    }
}
