// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.TaskState;
import java.util.List;

/** Answers to {@link ClientRequest}; lists of results are in the order of the request's keys. */
public sealed interface ClientReply extends Message {
    long requestId();

    Status status();

    /**
     * A node that the rest of the reply names by its index.
     *
     * @param isTransient its certificate is that of an engine or agent, and not the storage node's of that id
     */
    record NodeRef(long incarnation, String nodeId, boolean isTransient, String tcp, String shm) {}

    /**
     * A node to write to.
     *
     * @param node its index in the reply's table
     * @param mac to be shown to it
     */
    record GrantTarget(int node, GrantMac mac) {}

    /**
     * Leave to write one object to the nodes {@code targets}.
     *
     * @param roomMs of NO_SPACE: in so many milliseconds, at the earliest, something gives way; 0 when nothing is known to
     * @param retention to be written with the object. Its group is as asked for, and does not travel
     */
    record GrantLine(Status status, ObjectId objectId, List<GrantTarget> targets, long roomMs, Retention retention) {
        /** Of a put that may not be. */
        public GrantLine(Status status, long roomMs) {
            this(status, ObjectId.NONE, List.of(), roomMs, Retention.NONE);
        }
    }

    /**
     * Leave to write, or why not, for each key.
     *
     * @param unknownNodes names among the preferred ones of the request that no node has, with commas between them
     */
    record GrantReply(
            long requestId,
            Status status,
            Authority authority,
            long deadlineMs,
            List<NodeRef> nodes,
            List<GrantLine> grants,
            String unknownNodes)
            implements ClientReply {
        /** To a request that preferred no node, or nodes that there are. */
        public GrantReply(
                long requestId,
                Status status,
                Authority authority,
                long deadlineMs,
                List<NodeRef> nodes,
                List<GrantLine> grants) {
            this(requestId, status, authority, deadlineMs, nodes, grants, "");
        }
    }

    record PublishReply(long requestId, Status status, List<Status> results) implements ClientReply {}

    /** Where a replica is; {@code node} is an index into the reply's table. */
    record ReplicaRef(int node, ExtentRef extent, long offset) {}

    record Found(Status status, ObjectId objectId, long payloadLength, int payloadCrc, List<ReplicaRef> replicas) {}

    record LookupReply(
            long requestId, Status status, Authority authority, long leaseMs, List<NodeRef> nodes, List<Found> objects)
            implements ClientReply {}

    record Existence(Status status, long payloadLength) {}

    record ExistsReply(long requestId, Status status, List<Existence> results) implements ClientReply {}

    record RemoveReply(long requestId, Status status, List<Status> results) implements ClientReply {}

    record RemoveAllReply(long requestId, Status status, long removed) implements ClientReply {}

    /**
     * What became of a hint about one key or group.
     *
     * @param objects that a hint to retain or release was followed for, or that are on their way after one to prefetch
     */
    record Hinted(Status status, long objects) {}

    record HintReply(long requestId, Status status, List<Hinted> results) implements ClientReply {}

    /**
     * How far a copy is that a client asked for.
     *
     * @param moves one node gives its copy up for it
     * @param why FAILED: the reason; before its end what it waits for, or OK
     * @param ageMs since it was asked for
     * @param restMs since its state changed
     */
    record TaskReport(long task, boolean moves, TaskState state, Status why, long ageMs, long restMs) {
        public static final TaskReport NONE = new TaskReport(0, false, TaskState.PENDING, Status.OK, 0, 0);
    }

    record TaskReply(long requestId, Status status, TaskReport report) implements ClientReply {}
}
