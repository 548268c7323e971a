// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.admin.ConnectedPeer;
import dev.kvpool.dataplane.admin.MasterAdmin;
import dev.kvpool.dataplane.admin.RulesInEffect;
import dev.kvpool.dataplane.admin.TrustInEffect;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.master.DrainTurns;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.report.KeyStatus;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.events.EventStreams;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.HintReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.wire.Hint;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** What admin routes ask of a master, answered by the core that a scenario talks to, without threads. */
final class AskedCore implements MasterAdmin {
    private final Scenario pool;

    /** What the process says of itself; empty when it is well. */
    Optional<String> illness = Optional.empty();

    /** Comes between what a route has looked at and the turn of the core in which it begins drains. */
    Runnable justBefore = () -> {};

    AskedCore(Scenario pool) {
        this.pool = pool;
    }

    private MasterCore core() {
        return pool.talkedTo().core();
    }

    @Override
    public String name() {
        return "m-0";
    }

    @Override
    public String poolId() {
        return "00000000-0000-0001-0000-000000000002";
    }

    @Override
    public PoolStatus status() {
        return core().status();
    }

    @Override
    public Optional<String> illness() {
        return illness;
    }

    @Override
    public boolean isLeader() {
        return status().isLeader(pool.world.nowMs());
    }

    @Override
    public Optional<LeaseRecord> lease() {
        return Optional.of(
                new LeaseRecord("m-0_0123456789abcdef", 5, Instant.EPOCH, Instant.EPOCH, status().highestEpoch()));
    }

    @Override
    public EventStreams events() {
        return new EventStreams(null, this::isLeader, () -> 0);
    }

    @Override
    public CompletableFuture<Optional<KeyStatus>> explain(Key key) {
        return CompletableFuture.completedFuture(core().explain(key, pool.world.nowMs()));
    }

    @Override
    public CompletableFuture<Optional<String>> drain(String node, boolean clears, Duration timeout, Instant startedAt) {
        return CompletableFuture.completedFuture(DrainTurns.begin(
                core(), node, clears, timeout.toMillis(), startedAt.toEpochMilli(), pool.world.nowMs()));
    }

    @Override
    public CompletableFuture<Optional<String>> drainAll(
            List<String> nodes,
            Duration timeout,
            Instant startedAt,
            Function<List<DrainStatus>, Optional<String>> objection) {
        justBefore.run();
        return CompletableFuture.completedFuture(DrainTurns.beginAll(
                core(), nodes, timeout.toMillis(), startedAt.toEpochMilli(), pool.world.nowMs(), objection));
    }

    @Override
    public CompletableFuture<Boolean> cancelDrains(Instant startedAt) {
        return CompletableFuture.completedFuture(DrainTurns.cancelAll(core(), startedAt.toEpochMilli()));
    }

    @Override
    public CompletableFuture<Boolean> cancelDrain(String node) {
        return CompletableFuture.completedFuture(core().cancelDrain(node));
    }

    @Override
    public CompletableFuture<List<DrainStatus>> drains() {
        return CompletableFuture.completedFuture(status().drains());
    }

    @Override
    public RulesInEffect rules() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Versions versions() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Map<String, Instant> behindSince() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean changesQuotas() {
        return false;
    }

    @Override
    public CompletableFuture<Void> changeQuota(Tenant tenant, OptionalLong ceilingBytes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<TrustInEffect> trust() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<Term> term() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void leaderGone(Authority authority, HostPort address) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<ConnectedPeer> peers() {
        throw new UnsupportedOperationException();
    }

    @Override
    public OptionalLong handOver() {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<List<String>> keys(Tenant tenant, int limit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<List<String>> holders(Key key) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<RemoveAllReply> removeAll(Optional<Tenant> tenant, boolean force, String pattern) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<RemoveReply> removeGroup(Tenant tenant, Key name, boolean force) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<HintReply> hint(Tenant tenant, Hint hint, Duration time, boolean ofGroup, Key name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Optional<String>> activate(ActiveVersions versions) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Optional<String>> forget(String node) {
        throw new UnsupportedOperationException();
    }
}
