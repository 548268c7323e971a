// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.command.Commands;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeCommand.KeepTombstones;
import dev.kvpool.dataplane.wire.message.NodeCommand.Tombstone;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Tombstones on their way to nodes, in messages of many. A node takes all tombstones of a message or none, so those of a
 * message that found no room are tried again one by one.
 */
final class TombstoneQueues {
    private record Item(Tombstone tombstone, boolean alone, Consumer<Status> whenAnswered) {}

    private static final class Queue {
        final Deque<Item> waiting = new ArrayDeque<>();
        int underWay;
    }

    private final Commands commands;
    private final Map<String, Queue> queues = new HashMap<>();

    /** Nodes with something waiting; no others are looked at, since that is done after every message. */
    private final Set<NodeView> waiting = new LinkedHashSet<>();

    TombstoneQueues(Commands commands) {
        this.commands = commands;
    }

    /** @param whenAnswered told once what the node said, or UNAVAILABLE */
    void add(NodeView node, ObjectId upTo, Key key, Consumer<Status> whenAnswered) {
        queue(node).waiting.add(new Item(new Tombstone(upTo, key), false, whenAnswered));
        waiting.add(node);
    }

    void send(Authority authority, long nowMs) {
        waiting.removeIf(node -> {
            Queue queue = queue(node);
            while (!queue.waiting.isEmpty() && queue.underWay < Bounds.TOMBSTONE_REQUESTS_PER_NODE_MAX) {
                send(node, queue, nextBatch(queue.waiting), authority, nowMs);
            }
            return queue.waiting.isEmpty();
        });
    }

    private static List<Item> nextBatch(Deque<Item> waiting) {
        List<Item> batch = new ArrayList<>();
        int keyBytes = 0;
        do {
            Item item = waiting.remove();
            batch.add(item);
            keyBytes += item.tombstone.key().length();
            if (item.alone) {
                return batch;
            }
        } while (!waiting.isEmpty()
                && !waiting.peek().alone
                && batch.size() < KeepTombstones.TOMBSTONES_MAX
                && keyBytes + waiting.peek().tombstone.key().length() <= Bounds.TOMBSTONE_KEY_BYTES_MAX);
        return batch;
    }

    private void send(NodeView node, Queue queue, List<Item> batch, Authority authority, long nowMs) {
        List<Tombstone> tombstones = batch.stream().map(Item::tombstone).toList();
        queue.underWay++;
        commands.send(
                node,
                requestId -> new KeepTombstones(requestId, authority, tombstones),
                nowMs + Bounds.COMMAND_WAIT_MS,
                status -> answered(node, queue, batch, status));
    }

    private void answered(NodeView node, Queue queue, List<Item> batch, Status status) {
        queue.underWay--;
        if (status == Status.NO_SPACE) {
            // The eviction makes room, so that trying again is worth it.
            batch.forEach(
                    item -> node.room.want(ExtentSize.of(item.tombstone.key().length(), 0)));
        }
        if (status == Status.NO_SPACE && batch.size() > 1) {
            batch.forEach(item -> queue.waiting.add(new Item(item.tombstone, true, item.whenAnswered)));
            waiting.add(node);
            return;
        }
        batch.forEach(item -> item.whenAnswered.accept(status));
    }

    /** The node cannot be told any more. What is under way is answered by {@link Commands}. */
    void abandon(NodeView node) {
        Queue queue = queue(node);
        List<Item> untold = new ArrayList<>(queue.waiting);
        queue.waiting.clear();
        untold.forEach(item -> item.whenAnswered.accept(Status.UNAVAILABLE));
    }

    private Queue queue(NodeView node) {
        return queues.computeIfAbsent(node.id, id -> new Queue());
    }
}
