// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.election.Term;
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

/** What the admin endpoint asks of a master; safe to call from any thread. */
public interface MasterAdmin {
    String name();

    String poolId();

    Versions versions();

    PoolStatus status();

    /** By the ids of the nodes that are behind, a time at which they were so already. */
    Map<String, Instant> behindSince();

    /** Why this process should be ended and started again; empty when it is well. */
    Optional<String> illness();

    /** The rules of the cache it goes by. */
    RulesInEffect rules();

    /** Whether {@link #changeQuota} may be called: what it changes the next leader knows. */
    boolean changesQuotas();

    /**
     * Gives a tenant another ceiling of bytes, for all masters.
     *
     * @param ceilingBytes empty: its quota is taken away
     * @throws IllegalArgumentException when it may not have that
     * @throws IllegalStateException when it cannot be kept; the message says why
     */
    CompletableFuture<Void> changeQuota(Tenant tenant, OptionalLong ceilingBytes);

    /** What certificates hang on; empty where this master signs none. */
    Optional<TrustInEffect> trust();

    /** Leads and serves at this moment. */
    boolean isLeader();

    /** What it does. A leader whose time ran out does not serve, whatever the last status said. */
    default PoolStatus.State state() {
        PoolStatus.State told = status().state();
        return told == PoolStatus.State.SERVING && !isLeader() ? PoolStatus.State.STANDBY : told;
    }

    /** The leadership Lease as this master read it last. */
    Optional<LeaseRecord> lease();

    /** The leadership of this master that began last, also when it has ended; empty when it never led. */
    Optional<Term> term();

    /**
     * Somebody who watches the leader's process says that it is gone. This master looks for itself, and only takes a Lease that
     * still names this authority; so a wrong or late word costs a look, or at worst a change of leaders.
     *
     * @param address where the leader listened for nodes and clients
     */
    void leaderGone(Authority authority, HostPort address);

    /** Nodes and clients that are connected now. */
    List<ConnectedPeer> peers();

    /**
     * Gives the leadership away, and answers when the Lease is free; may take some seconds.
     *
     * @return the epoch that ended; empty when this master does not lead
     */
    OptionalLong handOver();

    /** Keys of a tenant that can be read here, at most {@code limit}. */
    CompletableFuture<List<String>> keys(Tenant tenant, int limit);

    /** Ids of the nodes that hold the object of a qualified key; empty when there is none. */
    CompletableFuture<List<String>> holders(Key key);

    /** Whether a qualified key can be read, and if not, why; empty when this master does not serve as leader. */
    CompletableFuture<Optional<KeyStatus>> explain(Key key);

    /**
     * Removes everything.
     *
     * @param tenant whose objects; empty: those of the whole pool
     */
    CompletableFuture<RemoveAllReply> removeAll(Optional<Tenant> tenant, boolean force, String pattern);

    /** Removes all objects of a group. */
    CompletableFuture<RemoveReply> removeGroup(Tenant tenant, Key name, boolean force);

    /**
     * Says what will become of an object, or of those of a group.
     *
     * @param time of a hint to retain; else zero
     */
    CompletableFuture<HintReply> hint(Tenant tenant, Hint hint, Duration time, boolean ofGroup, Key name);

    /** Has every node go over to these versions; the answer says why that is not possible, or nothing. */
    CompletableFuture<Optional<String>> activate(ActiveVersions versions);

    /**
     * Begins to empty a node; the answer says why that is not possible, or nothing.
     *
     * @param clears whether nothing is to be left there, not even what others have too
     */
    CompletableFuture<Optional<String>> drain(String node, boolean clears, Duration timeout, Instant startedAt);

    /**
     * Begins to empty all of these nodes, or none; the answer says why that is not possible, or nothing.
     *
     * @param startedAt which no other drain may have
     * @param objection to drains as they are then, in the thread of the core
     */
    CompletableFuture<Optional<String>> drainAll(
            List<String> nodes,
            Duration timeout,
            Instant startedAt,
            Function<List<DrainStatus>, Optional<String>> objection);

    /** Drains as the core has them now; {@link #status} may be older than one that was begun just before. */
    CompletableFuture<List<DrainStatus>> drains();

    /** A person gives a node up that knows what others have missed, or is behind; the answer says why not, or nothing. */
    CompletableFuture<Optional<String>> forget(String node);

    /** Who follows what changes for readers. */
    EventStreams events();

    /** Ends the emptying of a node, which takes part again; the answer is false when there was none. */
    CompletableFuture<Boolean> cancelDrain(String node);

    /** Ends the emptying of all nodes that began at this time; the answer is false when there was none. */
    CompletableFuture<Boolean> cancelDrains(Instant startedAt);
}
