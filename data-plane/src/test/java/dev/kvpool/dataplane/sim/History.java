// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.sim.Values.Value;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What clients did and were told, key by key, and what must therefore hold. */
final class History {
    /** An operation whose outcome nobody knows may still take effect this long after its client gave it up. */
    static final long UNSURE_MS = 25_000;

    private static final long RUNNING = Long.MAX_VALUE;

    /**
     * Who reads.
     *
     * @param reuses it reads what it was told of before without asking again, while its lease holds
     */
    record Reader(String client, boolean reuses) {}

    /** One try to put a value. */
    static final class Put {
        final String client;
        final String key;
        final long beginMs;
        long endMs = RUNNING;
        final boolean upsert;
        final boolean hardPinned;
        boolean acknowledged;

        Put(String client, String key, long beginMs, boolean upsert, boolean hardPinned) {
            this.client = client;
            this.key = key;
            this.beginMs = beginMs;
            this.upsert = upsert;
            this.hardPinned = hardPinned;
        }

        /** Until when it may take effect. */
        long untilMs() {
            return endMs == RUNNING || acknowledged ? endMs : endMs + UNSURE_MS;
        }
    }

    /** One removal of a key, or of all keys of a tenant. */
    static final class Removal {
        final String client;
        final String key;
        final Tenant tenant;
        final boolean force;
        final long beginMs;
        long endMs = RUNNING;
        boolean acknowledged;

        /** Keys of which a node still held something when it was acknowledged, such as one that the leader does not reach. */
        Set<String> left = Set.of();

        Removal(String client, String key, Tenant tenant, boolean force, long beginMs) {
            this.client = client;
            this.key = key;
            this.tenant = tenant;
            this.force = force;
            this.beginMs = beginMs;
        }

        boolean concerns(String other) {
            return key == null ? tenant.owns(Key.of(other)) : key.equals(other);
        }

        /** Until when it may take effect. */
        long untilMs() {
            return endMs == RUNNING || acknowledged ? endMs : endMs + UNSURE_MS;
        }
    }

    /**
     * A client was told that there is nothing under a key.
     *
     * @param removal what it asked for when it was told; null when it only looked
     */
    private record Absence(String key, String client, long beginMs, long endMs, Removal removal) {}

    private final World world;
    private final List<Absence> absences = new ArrayList<>();
    private final Map<Integer, Put> puts = new TreeMap<>();
    private final List<Removal> removals = new ArrayList<>();
    private final Map<String, Long> lostMs = new TreeMap<>();

    /** When what an object had replaced may have come back, since the object went without a trace. */
    private final Map<String, Long> untracedMs = new TreeMap<>();

    private final Map<String, Long> unheardMs = new TreeMap<>();

    private final Values values;
    private final Tally tally;
    private final long leaseMs;
    private long tombstonesLostMs = Long.MIN_VALUE;

    /**
     * Nothing has happened yet.
     *
     * @param leaseMs how long a reader may rely on what a leader told it
     */
    History(World world, Values values, Tally tally, long leaseMs) {
        this.leaseMs = leaseMs;
        this.world = world;
        this.values = values;
        this.tally = tally;
    }

    void putBegins(String client, String key, int value, boolean upsert, boolean hardPinned) {
        puts.put(value, new Put(client, key, world.nowMs(), upsert, hardPinned));
    }

    void putEnds(int value, boolean acknowledged) {
        Put put = puts.get(value);
        put.endMs = world.nowMs();
        put.acknowledged = acknowledged;
        tally.count(acknowledged ? "puts acknowledged" : "puts failed");
    }

    /** @param key null for all keys of the tenant */
    Removal removalBegins(String client, String key, Tenant tenant, boolean force) {
        Removal removal = new Removal(client, key, tenant, force, world.nowMs());
        removals.add(removal);
        return removal;
    }

    /** @param left keys of which some node holds something now */
    void removalEnds(Removal removal, boolean acknowledged, Set<String> left) {
        removal.left = left;
        removal.endMs = world.nowMs();
        removal.acknowledged = acknowledged;
        tally.count(acknowledged ? "removals acknowledged" : "removals refused");
    }

    /** A removal of this key that began then has found nothing. */
    void removedNothing(String client, String key, long beginMs, Removal removal) {
        tally.count("absences told");
        absences.add(new Absence(key, client, beginMs, world.nowMs(), removal));
    }

    /** A get or a question of this key that began then has found nothing. It is a miss, and no more, of a leader that knew no better. */
    void missed(String client, String key, long beginMs) {
        if (unheardMs.getOrDefault(key, Long.MIN_VALUE) < beginMs) {
            removedNothing(client, key, beginMs, null);
        }
    }

    /** A leader answers that there is nothing, and some node has not shown it yet what it holds. */
    void missedUnheard(String key) {
        unheardMs.put(key, world.nowMs());
    }

    /** Of what was removed or replaced until now it may no longer be known what nodes away have missed. */
    void tombstonesLost() {
        tombstonesLostMs = world.nowMs();
    }

    /** Not for a while after it was lost: until then whoever comes is taken for a member, also who has missed what was removed since. */
    private boolean isRegisterWhole(long ms) {
        return !wasRegisterLost() || tombstonesLostMs + Bounds.REGISTER_OPEN_MS < ms;
    }

    boolean wasRegisterLost() {
        return tombstonesLostMs != Long.MIN_VALUE;
    }

    /** The object of a key was lost with the memory of its nodes. */
    void mayBeGone(String key) {
        lostMs.put(key, world.nowMs());
        untracedMs.put(key, world.nowMs());
    }

    /** Whether the object of a key may have gone since a moment, by whatever rule. */
    boolean mayHaveGoneSince(String key, long ms) {
        return wasLostSince(key, ms) || isRemovalPossible(key, ms, false);
    }

    /** Whether the object of a key was evicted since a moment, or lost with the memory of its nodes. */
    boolean wasLostSince(String key, long ms) {
        return lostMs.getOrDefault(key, Long.MIN_VALUE) >= ms;
    }

    /** Whether a removal of this key may take effect at some moment from {@code fromMs} on. */
    boolean isRemovalPossible(String key, long fromMs, boolean forcedOnly) {
        for (Removal removal : removals) {
            if (removal.concerns(key) && removal.untilMs() >= fromMs && (removal.force || !forcedOnly)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a removal that was not acknowledged may have taken effect between two moments; that of all tells of no key. */
    private boolean isRemovalUnsure(Absence absence, long fromMs) {
        return removals.stream()
                .anyMatch(it -> it != absence.removal
                        && it.concerns(absence.key)
                        && !(it.acknowledged && it.endMs <= absence.endMs && (it.key != null || it.force))
                        && it.beginMs <= absence.endMs
                        && it.untilMs() >= fromMs);
    }

    /** Whether the object of this key may be replaced, whoever reads it, at some moment from {@code fromMs} on. */
    boolean isUpsertPossible(String key, long fromMs) {
        return puts.values().stream().anyMatch(put -> put.upsert && put.key.equals(key) && put.untilMs() >= fromMs);
    }

    /**
     * A leader evicted the object of a key.
     *
     * @param marked it saw to it that nothing older of that key comes back
     */
    void evicted(String key, boolean marked) {
        boolean pinned = puts.values().stream().anyMatch(put -> put.key.equals(key))
                && puts.values().stream().allMatch(put -> put.hardPinned || !put.key.equals(key))
                && !isRemovalPossible(key, world.nowMs(), false);
        Violation.unless(!pinned, "pinned objects stay", "%s was evicted although every put of it pins it hard", key);
        lostMs.put(key, world.nowMs());
        if (!marked) {
            untracedMs.put(key, world.nowMs());
        }
    }

    /** A read that began at {@code beginMs} brought these bytes. */
    void read(Reader reader, String key, byte[] bytes, long beginMs) {
        tally.count("reads");
        Value value = values.of(bytes);
        check(value != null, "key %s was read as %d bytes that are no value", key, bytes.length);
        check(value.key().equals(key), "key %s was read as value %d of key %s", key, value.number(), value.key());
        Put put = puts.get(value.number());
        checkNotReplaced(reader, key, value, put, beginMs);
        checkNotAbsent(reader, key, value, put, beginMs);
        for (Removal removal : removals) {
            boolean stillSomewhere = removal.force && removal.left.contains(key);
            long sinceMs = stillSomewhere ? toldMs(reader, removal.client, beginMs) : beginMs;
            boolean removed = removal.acknowledged
                    && removal.concerns(key)
                    && (removal.key != null || removal.force)
                    && isRegisterWhole(removal.beginMs)
                    && put.acknowledged
                    && put.endMs < removal.beginMs
                    && removal.endMs < sinceMs;
            check(
                    !removed,
                    "key %s was read as value %d, which was acknowledged at %d and removed from %d to %d, before %d",
                    key,
                    value.number(),
                    put.endMs,
                    removal.beginMs,
                    removal.endMs,
                    beginMs);
        }
    }

    /**
     * What was acknowledged before somebody was told that it is not there does not come back, unless it was put again. A removal that
     * failed, or has not ended, may be on its way out and back in, and of what was evicted a copy may come back with a node.
     */
    private void checkNotAbsent(Reader reader, String key, Value value, Put put, long beginMs) {
        boolean holds = put.acknowledged && !wasLostSince(key, put.endMs) && tombstonesLostMs < put.endMs;
        for (Absence absence : holds ? absences : List.<Absence>of()) {
            boolean wasGone = absence.key.equals(key)
                    && put.endMs < absence.beginMs
                    && !isRemovalUnsure(absence, put.beginMs)
                    && absence.endMs < toldMs(reader, absence.client, beginMs);
            check(
                    !wasGone,
                    "key %s was read as value %d, which was acknowledged at %d and not there from %d to %d, before %d",
                    key,
                    value.number(),
                    put.endMs,
                    absence.beginMs,
                    absence.endMs,
                    beginMs);
        }
    }

    /**
     * What an acknowledged upsert replaced is not read again when no descriptor of before can be relied on any more, unless
     * what replaced it was lost, or evicted by a leader that could not write that down (docs/internals/master.md, *Not solved*).
     */
    private void checkNotReplaced(Reader reader, String key, Value value, Put put, long beginMs) {
        for (Put other : puts.values()) {
            boolean replaced = other != put
                    && other.upsert
                    && other.acknowledged
                    && other.key.equals(key)
                    && put.acknowledged
                    && put.endMs < other.beginMs
                    && other.endMs < toldMs(reader, other.client, beginMs)
                    && untracedMs.getOrDefault(key, Long.MIN_VALUE) < put.endMs
                    && !isRemovalPossible(key, other.beginMs, false)
                    && isRegisterWhole(other.beginMs);
            check(
                    !replaced,
                    "key %s was read as value %d, which was acknowledged at %d and replaced from %d to %d, before %d",
                    key,
                    value.number(),
                    put.endMs,
                    other.beginMs,
                    other.endMs,
                    beginMs);
        }
    }

    /**
     * Since when a reader may have known where an object is that it read. Who reads without asking relies on what he was told while its
     * lease holds; what he does himself he knows.
     */
    private long toldMs(Reader reader, String actor, long beginMs) {
        return reader.reuses && !reader.client.equals(actor) ? beginMs - leaseMs : beginMs;
    }

    /**
     * Whether something acknowledged must be there under this key now. What was removed, and was there again for a while since the register
     * was lost, goes when a node comes back that knows of the removal.
     */
    boolean mustExist(String key) {
        if (removals.stream().anyMatch(it -> it.concerns(key) && it.beginMs <= tombstonesLostMs)) {
            return false;
        }
        for (Put put : puts.values()) {
            boolean safe = put.key.equals(key)
                    && put.acknowledged
                    && lostMs.getOrDefault(key, Long.MIN_VALUE) < put.beginMs
                    && !isRemovalPossible(key, put.beginMs, false);
            if (safe) {
                return true;
            }
        }
        return false;
    }

    private void check(boolean holds, String otherwise, Object... words) {
        Violation.unless(holds, "read", otherwise, words);
    }
}
