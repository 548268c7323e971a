// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.wire.codec.FullPeerEncoder;
import dev.kvpool.dataplane.wire.codec.MessageDecoder;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantLine;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantTarget;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/**
 * Memory and speed of the master's core with many objects. Run by {@code data-plane/bench/index}; not part of the tests. The
 * core runs in this thread alone, as it does in a master, with nodes that answer at once.
 */
class IndexBenchmark {
    private static final int BATCH = 32;
    private static final int SNAPSHOT_BATCH = 256;
    private static final long TICK_NANOS = 10_000_000;
    private static final int OBJECTS = Integer.getInteger("kvpool.bench.objects", 1_000_000);
    private static final int REPLICAS = Integer.getInteger("kvpool.bench.replicas", 1);
    private static final int NODES = Integer.getInteger("kvpool.bench.nodes", REPLICAS);
    private static final int SECONDS = Integer.getInteger("kvpool.bench.seconds", 10);

    /** A pool at its watermark, below the reserve: what is put evicts as much. */
    private static final double HIGH = 0.90;

    private static final double LOW = 0.899;

    private final Random random = new Random(7);
    private final Clock clock = new Clock();
    private Pool pool;
    private long keysPut;
    private long requestId;

    @Test
    void measure() throws Exception {
        System.out.printf(
                "%d objects, keys of 64 bytes, %d replica(s) on %d node(s); %s, %s%n",
                OBJECTS,
                REPLICAS,
                NODES,
                System.getProperty("java.vm.version"),
                ManagementFactory.getRuntimeMXBean().getInputArguments());
        pool = new Pool(
                clock, NODES, REPLICAS, (long) (OBJECTS / HIGH * REPLICAS / NODES), EvictionRules.between(LOW, HIGH));
        coldStart();
        takeover();
        // Leases of the leader before end, and the first evictions bring the pool to its watermark.
        pool.skip(60_000);
        warmUp();
        double lookups = lookupsPerSecond();
        double puts = putsPerSecond();
        mixed(puts / 2, lookups / 5);
        PoolStatus status = pool.core.status();
        System.out.printf(
                "  in the end %d objects, %d evicted, %d lookups found nothing; collections: %s, the longest %d ms%n",
                status.objects(),
                status.counters().get(Count.EVICTED),
                status.counters().get(Count.LOOKUP_NEVER_PUT)
                        + status.counters().get(Count.LOOKUP_EVICTED),
                Memory.collections(),
                clock.longestPauseMs());
    }

    /** The nodes send their directories; decoding and applying count, not what the nodes do. */
    private void coldStart() throws Exception {
        long liveBefore = Memory.live();
        long residentBefore = Memory.resident();
        MessageDecoder decoder = new MessageDecoder();
        FullPeerEncoder encoder = new FullPeerEncoder();
        long nanos = 0;
        for (BenchNode node : pool.nodes) {
            pool.tell(node, new SnapshotBegin(0));
            int number = pool.nodes.indexOf(node);
            int count = 0;
            for (int first = 0; first < OBJECTS; first += SNAPSHOT_BATCH * NODES) {
                List<DirectoryRecord> lines = new ArrayList<>();
                for (int i = first; i < Math.min(OBJECTS, first + SNAPSHOT_BATCH * NODES); i++) {
                    if ((number - i % NODES + NODES) % NODES < REPLICAS) {
                        lines.add(node.store(new ObjectId(1, i + 1), Keys.of(i)));
                    }
                }
                count += lines.size();
                byte[] frame = encoder.encode(new SnapshotRecords(lines));
                long begun = clock.nanos();
                pool.tell(node, decoder.decode(new UnsafeBuffer(frame), 0, frame.length));
                nanos += clock.nanos() - begun;
            }
            long begun = clock.nanos();
            pool.tell(node, new SnapshotEnd(count, 0));
            nanos += clock.nanos() - begun;
        }
        keysPut = OBJECTS;
        long live = Memory.live() - liveBefore;
        long resident = Memory.resident() - residentBefore;
        System.out.printf(
                "cold start: %.2f s to decode and apply %d records, %.0f a second%n",
                nanos / 1e9, (long) OBJECTS * REPLICAS, OBJECTS * (long) REPLICAS * 1e9 / nanos);
        System.out.printf(
                "memory before the takeover: %.1f bytes of live heap an object; resident memory grew by %.1f%n",
                (double) live / OBJECTS, (double) resident / OBJECTS);
        baseLive = liveBefore;
        baseResident = residentBefore;
    }

    private long baseLive;
    private long baseResident;

    private void takeover() {
        long begun = clock.nanos();
        pool.lead();
        long nanos = clock.nanos() - begun;
        PoolStatus status = pool.core.status();
        if (status.objects() != OBJECTS) {
            throw new IllegalStateException(status.objects() + " objects published");
        }
        System.out.printf("takeover: %.0f ms until serving, %d objects published%n", nanos / 1e6, status.objects());
        System.out.printf(
                "memory, all published: %.1f bytes of live heap an object; resident memory grew by %.1f%n",
                (double) (Memory.live() - baseLive) / OBJECTS, (double) (Memory.resident() - baseResident) / OBJECTS);
    }

    private void warmUp() {
        for (int i = 0; i < 200_000; i++) {
            lookup();
        }
        for (int i = 0; i < 3_000; i++) {
            put();
            pool.tick();
        }
    }

    private double lookupsPerSecond() {
        long begun = clock.nanos();
        long end = begun + 2_000_000_000L;
        long count = 0;
        while (clock.nanos() < end) {
            lookup();
            count++;
        }
        double rate = count * 1e9 / (clock.nanos() - begun);
        System.out.printf("lookups alone: %.0f a second, one key each, any of the objects%n", rate);
        return rate;
    }

    private double putsPerSecond() {
        long evictedBefore = pool.core.status().counters().get(Count.EVICTED);
        long begun = clock.nanos();
        long end = begun + 3_000_000_000L;
        long nextTick = begun;
        long count = 0;
        while (clock.nanos() < end) {
            put();
            count += BATCH;
            if (clock.nanos() >= nextTick) {
                pool.tick();
                nextTick += TICK_NANOS;
            }
        }
        double seconds = (clock.nanos() - begun) / 1e9;
        long evicted = pool.core.status().counters().get(Count.EVICTED) - evictedBefore;
        System.out.printf(
                "puts alone: %.0f published and %.0f evicted a second, in batches of %d%n",
                count / seconds, evicted / seconds, BATCH);
        return count / seconds;
    }

    /**
     * Lookups come at their times whatever the loop is doing, and wait when it is busy: a time counts from when a lookup was
     * due. The same with nothing else to do, and with no core at all, shows what of it is the machine.
     */
    private void mixed(double putRate, double lookupRate) {
        System.out.printf("machine alone, %.0f a second:      %s%n", lookupRate, run(0, lookupRate, () -> {}));
        System.out.printf("lookups alone, %.0f a second:      %s%n", lookupRate, run(0, lookupRate, this::lookup));
        long evictedBefore = pool.core.status().counters().get(Count.EVICTED);
        Latencies times = run(putRate, lookupRate, this::lookup);
        System.out.printf(
                "lookups, with %.0f puts and %.0f evictions a second: %s%n",
                putRate, (pool.core.status().counters().get(Count.EVICTED) - evictedBefore) / (double) SECONDS, times);
    }

    private Latencies run(double putRate, double lookupRate, Runnable lookup) {
        Latencies times = new Latencies((int) (lookupRate * SECONDS * 1.1));
        long begun = clock.nanos();
        long end = begun + SECONDS * 1_000_000_000L;
        double putEvery = putRate == 0 ? Double.POSITIVE_INFINITY : BATCH * 1e9 / putRate;
        double lookupEvery = 1e9 / lookupRate;
        double nextPut = begun + putEvery;
        double nextLookup = begun + lookupEvery;
        double nextTick = begun + TICK_NANOS;
        while (true) {
            double due = Math.min(nextPut, Math.min(nextLookup, nextTick));
            if (due >= end) {
                return times;
            }
            while (clock.nanos() < due) {
                Thread.onSpinWait();
            }
            if (due == nextTick) {
                pool.tick();
                nextTick += TICK_NANOS;
            } else if (due == nextLookup) {
                lookup.run();
                times.add(clock.nanos() - (long) nextLookup);
                nextLookup += lookupEvery;
            } else {
                put();
                nextPut += putEvery;
            }
        }
    }

    /** Any of the last objects, most of which are there. */
    private void lookup() {
        long number = keysPut - 1 - random.nextLong(Math.min(keysPut, OBJECTS * 9L / 10));
        requestId++;
        LookupReply reply = (LookupReply) pool.ask(new LookupRequest(requestId, List.of(Keys.of(number))));
        if (reply.objects().getFirst().status() == Status.UNAVAILABLE) {
            throw new IllegalStateException("an object of a connected node is unavailable");
        }
    }

    private void put() {
        List<GrantKey> keys = new ArrayList<>(BATCH);
        for (int i = 0; i < BATCH; i++) {
            keys.add(new GrantKey(Keys.of(keysPut + i), BenchNode.PAYLOAD));
        }
        keysPut += BATCH;
        requestId++;
        GrantReply granted = (GrantReply) pool.ask(new GrantRequest(requestId, REPLICAS, 10_000, false, keys, ""));
        List<Put> puts = new ArrayList<>(BATCH);
        Map<BenchNode, List<DirectoryRecord>> written = new LinkedHashMap<>();
        for (int i = 0; i < BATCH; i++) {
            GrantLine line = granted.grants().get(i);
            if (line.status() != Status.OK) {
                throw new IllegalStateException("grant: " + line.status());
            }
            List<Long> incarnations = new ArrayList<>(REPLICAS);
            for (GrantTarget target : line.targets()) {
                BenchNode node = pool.node(granted.nodes().get(target.node()).incarnation());
                incarnations.add(node.incarnation());
                written.computeIfAbsent(node, it -> new ArrayList<>())
                        .add(node.store(line.objectId(), keys.get(i).key()));
            }
            puts.add(new Put(
                    line.objectId(),
                    PutOutcome.WRITTEN,
                    incarnations,
                    keys.get(i).key()));
        }
        written.forEach((node, records) -> pool.tell(node, node.changes(records)));
        requestId++;
        PublishReply published = (PublishReply) pool.ask(new PublishRequest(requestId, puts));
        for (Status result : published.results()) {
            if (result != Status.OK) {
                throw new IllegalStateException("publish: " + result);
            }
        }
    }
}
