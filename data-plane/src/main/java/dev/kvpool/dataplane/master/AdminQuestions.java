// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.admin.ConnectedPeer;
import dev.kvpool.dataplane.admin.MasterAdmin;
import dev.kvpool.dataplane.admin.RulesInEffect;
import dev.kvpool.dataplane.admin.TrustInEffect;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.report.KeyStatus;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.events.EventStreams;
import dev.kvpool.dataplane.master.loop.CoreLoop;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientReply.HintReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.HintRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.wire.Hint;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Asks the core what the admin endpoint wants to know. */
final class AdminQuestions implements MasterAdmin {
    private final MasterConfig config;
    private final Versions versions;
    private final CoreLoop loop;
    private final LocalRequests localRequests;
    private final Supplier<PoolStatus> status;
    private final BehindTimes behind;
    private final LeadershipEvents leadership;
    private final Supplier<List<ConnectedPeer>> peers;
    private final EarlyTakeover early;
    private final HandingOver handingOver;
    private final RulesFollower rules;
    private final EventStreams events;
    private final Supplier<Optional<TrustInEffect>> trust;

    AdminQuestions(
            MasterConfig config,
            Versions versions,
            CoreLoop loop,
            LocalRequests localRequests,
            Supplier<PoolStatus> status,
            BehindTimes behind,
            LeadershipEvents leadership,
            Supplier<List<ConnectedPeer>> peers,
            EarlyTakeover early,
            HandingOver handingOver,
            RulesFollower rules,
            EventStreams events,
            Supplier<Optional<TrustInEffect>> trust) {
        this.config = config;
        this.versions = versions;
        this.loop = loop;
        this.localRequests = localRequests;
        this.status = status;
        this.behind = behind;
        this.leadership = leadership;
        this.peers = peers;
        this.early = early;
        this.handingOver = handingOver;
        this.rules = rules;
        this.events = events;
        this.trust = trust;
    }

    @Override
    public String name() {
        return config.name();
    }

    @Override
    public String poolId() {
        return config.poolId().toString();
    }

    @Override
    public Versions versions() {
        return versions;
    }

    @Override
    public PoolStatus status() {
        return status.get();
    }

    @Override
    public Map<String, Instant> behindSince() {
        return behind.since();
    }

    @Override
    public Optional<String> illness() {
        long ageMs = loop.beat().ageMs();
        long maxMs = config.times().renewDeadlineMs();
        return ageMs <= maxMs
                ? Optional.empty()
                : Optional.of("the core of this master hangs: its last turn ended " + ageMs + " ms ago, which may be "
                        + maxMs + "; it has let go of the Lease, and the process should be started again");
    }

    @Override
    public RulesInEffect rules() {
        return rules.now();
    }

    @Override
    public boolean changesQuotas() {
        return rules.changes();
    }

    @Override
    public CompletableFuture<Void> changeQuota(Tenant tenant, OptionalLong ceilingBytes) {
        try {
            return rules.changeQuota(tenant.name(), ceilingBytes, loop);
        } catch (IOException e) {
            throw new IllegalStateException("the file of cache rules cannot be changed: " + e.getMessage(), e);
        }
    }

    @Override
    public Optional<TrustInEffect> trust() {
        return trust.get();
    }

    @Override
    public EventStreams events() {
        return events;
    }

    @Override
    public boolean isLeader() {
        return status.get().isLeader(loop.nowMs());
    }

    @Override
    public Optional<LeaseRecord> lease() {
        return leadership.lease();
    }

    @Override
    public Optional<Term> term() {
        return leadership.term();
    }

    @Override
    public void leaderGone(Authority authority, HostPort address) {
        early.leaderCrashed(authority, address.toString());
    }

    @Override
    public List<ConnectedPeer> peers() {
        return peers.get();
    }

    @Override
    public OptionalLong handOver() {
        return handingOver.giveAway();
    }

    @Override
    public CompletableFuture<List<String>> keys(Tenant tenant, int limit) {
        return loop.ask(core -> core.keys(tenant, limit));
    }

    @Override
    public CompletableFuture<List<String>> holders(Key key) {
        return loop.ask(core -> core.holders(key));
    }

    @Override
    public CompletableFuture<Optional<KeyStatus>> explain(Key key) {
        return loop.ask(core -> core.explain(key, loop.nowMs()));
    }

    @Override
    public CompletableFuture<Optional<String>> activate(ActiveVersions active) {
        return kept("activate", core -> core.activate(active, loop.nowMs()), Optional::isEmpty);
    }

    @Override
    public CompletableFuture<Optional<String>> drain(String node, boolean clears, Duration timeout, Instant startedAt) {
        return kept(
                "drain " + node,
                core -> DrainTurns.begin(
                        core, node, clears, timeout.toMillis(), startedAt.toEpochMilli(), loop.nowMs()),
                Optional::isEmpty);
    }

    @Override
    public CompletableFuture<Optional<String>> drainAll(
            List<String> nodes,
            Duration timeout,
            Instant startedAt,
            Function<List<DrainStatus>, Optional<String>> objection) {
        return kept(
                "drain " + nodes,
                core -> DrainTurns.beginAll(
                        core, nodes, timeout.toMillis(), startedAt.toEpochMilli(), loop.nowMs(), objection),
                Optional::isEmpty);
    }

    @Override
    public CompletableFuture<List<DrainStatus>> drains() {
        return loop.ask(core -> core.drains());
    }

    @Override
    public CompletableFuture<Optional<String>> forget(String node) {
        return kept("forget " + node, core -> core.forget(node, loop.nowMs()), Optional::isEmpty);
    }

    @Override
    public CompletableFuture<Boolean> cancelDrain(String node) {
        return cancelled("cancelDrain " + node, core -> core.cancelDrain(node));
    }

    @Override
    public CompletableFuture<Boolean> cancelDrains(Instant startedAt) {
        return cancelled("cancelDrains " + startedAt, core -> DrainTurns.cancelAll(core, startedAt.toEpochMilli()));
    }

    /** That there is none would be believed of a leader that has not taken up those of before. */
    private CompletableFuture<Boolean> cancelled(String what, Function<MasterCore, Boolean> cancel) {
        return loop.ask(MasterCore::serves)
                .thenCompose(serves -> serves
                        ? kept(what, cancel, Boolean::booleanValue)
                        : CompletableFuture.failedFuture(new IllegalStateException(MasterCore.NOT_SERVING)));
    }

    @Override
    public CompletableFuture<RemoveAllReply> removeAll(Optional<Tenant> tenant, boolean force, String pattern) {
        return ask("removeAll", tenant, id -> new RemoveAllRequest(id, force, pattern))
                .thenApply(RemoveAllReply.class::cast);
    }

    @Override
    public CompletableFuture<RemoveReply> removeGroup(Tenant tenant, Key name, boolean force) {
        return ask("removeGroup", Optional.of(tenant), id -> new RemoveRequest(id, force, true, List.of(name)))
                .thenApply(RemoveReply.class::cast);
    }

    @Override
    public CompletableFuture<HintReply> hint(Tenant tenant, Hint hint, Duration time, boolean ofGroup, Key name) {
        return ask(
                        "hint",
                        Optional.of(tenant),
                        id -> new HintRequest(id, hint, time.toMillis(), ofGroup, List.of(name)))
                .thenApply(HintReply.class::cast);
    }

    /** The answer to a wish; if it was granted, once the next leader will know of it: who reads the answer may end this one. */
    private <T> CompletableFuture<T> kept(String what, Function<MasterCore, T> wish, Predicate<T> isGranted) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        loop.request(requestsOf(what, Optional.empty()), answer, core -> {
            T heard = wish.apply(core);
            if (isGranted.test(heard)) {
                core.whenKept(() -> answer.complete(heard));
            } else {
                answer.complete(heard);
            }
        });
        return answer;
    }

    private CompletableFuture<ClientReply> ask(
            String what, Optional<Tenant> tenant, LongFunction<ClientRequest> request) {
        CompletableFuture<ClientReply> answer = new CompletableFuture<>();
        loop.request(
                requestsOf(what, tenant),
                answer,
                core -> localRequests.send(core, loop.nowMs(), tenant, request, answer));
        return answer;
    }

    /** Each kind of change for itself, and each node's: the one over which the core throws keeps no other out. */
    private static String requestsOf(String what, Optional<Tenant> tenant) {
        return tenant.map(one -> "of tenant " + one + " ").orElse("") + "at the admin endpoint (" + what + ")";
    }
}
