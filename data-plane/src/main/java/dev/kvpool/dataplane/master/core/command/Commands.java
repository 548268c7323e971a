// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.command;

import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.wire.message.NodeCommand;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

/**
 * Commands on their way to nodes, and who waits for the answers. Each one is answered exactly once, also when its node does
 * not: by UNAVAILABLE when the connection or our term ended, by TIMEOUT when it took too long. What happened on the node is
 * in its stream; the answer only says that everything about it has arrived.
 */
public final class Commands {
    private record Sent(Consumer<Status> whenAnswered, long untilMs) {}

    private final Outbox outbox;
    private final LongSupplier requestIds;

    /** By node id and request id, oldest first. */
    private final Map<String, Map<Long, Sent>> sent = new TreeMap<>();

    Commands(Outbox outbox, LongSupplier requestIds) {
        this.outbox = outbox;
        this.requestIds = requestIds;
    }

    /**
     * Sends a command to a node.
     *
     * @param whenAnswered told what the node said, STALE_EPOCH when it obeys another leader
     */
    public void send(NodeView node, LongFunction<NodeCommand> command, long untilMs, Consumer<Status> whenAnswered) {
        long requestId = requestIds.getAsLong();
        sent.computeIfAbsent(node.id, id -> new LinkedHashMap<>()).put(requestId, new Sent(whenAnswered, untilMs));
        outbox.send(node.session(), command.apply(requestId));
    }

    /** An answer nobody waits for is late, belongs to a term that has ended, or is for {@link Frees}. */
    public void answered(NodeView node, CommandAck ack) {
        Map<Long, Sent> ofNode = sent.get(node.id);
        Sent command = ofNode == null ? null : ofNode.remove(ack.requestId());
        if (command != null) {
            command.whenAnswered.accept(ack.accepted() ? ack.status() : Status.STALE_EPOCH);
        }
    }

    /** The node cannot answer any more: its connection or our leadership ended. */
    public void abandon(NodeView node) {
        Map<Long, Sent> ofNode = sent.remove(node.id);
        if (ofNode != null) {
            ofNode.values().forEach(command -> command.whenAnswered.accept(Status.UNAVAILABLE));
        }
    }

    public void tick(long nowMs) {
        List<Sent> overdue = new ArrayList<>();
        for (Map<Long, Sent> ofNode : sent.values()) {
            ofNode.values().removeIf(command -> {
                boolean late = nowMs >= command.untilMs;
                if (late) {
                    overdue.add(command);
                }
                return late;
            });
        }
        overdue.forEach(command -> command.whenAnswered.accept(Status.TIMEOUT));
    }
}
