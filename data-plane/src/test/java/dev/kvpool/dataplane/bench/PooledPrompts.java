// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantLine;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The master's core as engines use it: whether the blocks are there, then the longest prefix is read and the rest put. Watermarks and
 * reserve are those of a pool, leases end between two prompts, and a block has its place wherever one is free.
 */
final class PooledPrompts implements PromptCache {
    private static final int BATCH = 128;
    private static final long BETWEEN_PROMPTS_MS = 6_000;

    private static final long TICK_MS = 10;
    private static final int ATTEMPTS = 5;

    /** As pools have them by default. */
    private static final EvictionRules RULES = new EvictionRules(0.98, 0.97, 0.01, 1_800_000, true);

    private final Pool pool;
    private long requestId;
    private long waited;

    PooledPrompts(int capacity) {
        pool = new Pool(new Clock(), 1, 1, capacity, RULES);
        for (BenchNode node : pool.nodes) {
            pool.tell(node, new SnapshotBegin(0));
            pool.tell(node, new SnapshotEnd(0, 0));
        }
        pool.lead();
    }

    /** Blocks that found room only after a while. */
    long waited() {
        return waited;
    }

    /** The part of the memory that objects have now. */
    double used() {
        PoolStatus status = pool.core.status();
        return (double) status.objects() / pool.nodes.getFirst().capacity();
    }

    /** Which of these blocks are there now. */
    Set<Integer> there(Collection<Integer> blocks) {
        Set<Integer> found = new HashSet<>();
        List<Integer> all = List.copyOf(blocks);
        for (int from = 0; from < all.size(); from += BATCH) {
            List<Integer> asked = all.subList(from, Math.min(all.size(), from + BATCH));
            requestId++;
            ExistsReply reply = (ExistsReply) pool.ask(
                    new ExistsRequest(requestId, asked.stream().map(Keys::of).toList()));
            for (int i = 0; i < asked.size(); i++) {
                if (reply.results().get(i).status() == Status.OK) {
                    found.add(asked.get(i));
                }
            }
        }
        return found;
    }

    @Override
    public int serve(int[] prompt) {
        pool.skip(BETWEEN_PROMPTS_MS);
        List<Key> keys = Arrays.stream(prompt).mapToObj(Keys::of).toList();
        int hits = 0;
        for (int from = 0; from < keys.size() && hits == from; from += BATCH) {
            List<Key> asked = keys.subList(from, Math.min(keys.size(), from + BATCH));
            requestId++;
            ExistsReply reply = (ExistsReply) pool.ask(new ExistsRequest(requestId, asked));
            while (hits < from + asked.size()
                    && reply.results().get(hits - from).status() == Status.OK) {
                hits++;
            }
        }
        for (int from = 0; from < hits; from += BATCH) {
            requestId++;
            pool.ask(new LookupRequest(requestId, keys.subList(from, Math.min(hits, from + BATCH))));
        }
        for (int from = hits; from < keys.size(); from += BATCH) {
            List<Key> left = put(keys.subList(from, Math.min(keys.size(), from + BATCH)));
            pool.skip(TICK_MS);
            for (int attempt = 1; !left.isEmpty() && attempt < ATTEMPTS; attempt++) {
                waited += left.size();
                left = put(left);
                pool.skip(TICK_MS);
            }
        }
        return hits;
    }

    /** Puts what finds room; the others. */
    private List<Key> put(List<Key> keys) {
        List<GrantKey> lines =
                keys.stream().map(key -> new GrantKey(key, BenchNode.PAYLOAD)).toList();
        requestId++;
        GrantReply granted = (GrantReply) pool.ask(new GrantRequest(requestId, 1, 10_000, false, lines, ""));
        BenchNode node = pool.nodes.getFirst();
        List<DirectoryRecord> written = new ArrayList<>();
        List<Put> puts = new ArrayList<>();
        List<Key> refused = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            GrantLine line = granted.grants().get(i);
            if (line.status() == Status.OK) {
                written.add(node.store(line.objectId(), keys.get(i)));
                puts.add(new Put(line.objectId(), PutOutcome.WRITTEN, List.of(node.incarnation()), keys.get(i)));
            } else if (line.status() != Status.EXISTS) {
                refused.add(keys.get(i));
            }
        }
        if (!puts.isEmpty()) {
            pool.tell(node, node.changes(written));
            requestId++;
            pool.ask(new PublishRequest(requestId, puts));
        }
        return refused;
    }
}
