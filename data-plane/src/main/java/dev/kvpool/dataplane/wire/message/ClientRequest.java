// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

import dev.kvpool.wire.Hint;
import dev.kvpool.wire.PutOutcome;
import java.util.List;

/** What a client asks of the leader. At most {@value #KEYS_MAX} keys each. */
public sealed interface ClientRequest extends Message {
    int KEYS_MAX = 1024;

    long requestId();

    /**
     * A key to put.
     *
     * @param retention what the put will say of it to its nodes
     * @param keepsSoftPin whether it takes over the soft pin of an object that it replaces, where it asks for none itself
     */
    record GrantKey(Key key, long payloadLength, Retention retention, boolean keepsSoftPin) {
        public GrantKey(Key key, long payloadLength) {
            this(key, payloadLength, Retention.NONE, false);
        }
    }

    /**
     * Asks to put.
     *
     * @param replicas 0 = the pool's default
     * @param deadlineMs time the client has left for the put
     * @param replace an existing object gives way to this one when it is published
     * @param preferredNodes names of nodes, with commas between them, tried first and in this order; empty = none
     */
    record GrantRequest(
            long requestId, int replicas, long deadlineMs, boolean replace, List<GrantKey> keys, String preferredNodes)
            implements ClientRequest {}

    /** What became of a granted put; {@code incarnations} are those of the nodes that committed it. */
    record Put(ObjectId objectId, PutOutcome outcome, List<Long> incarnations, Key key) {}

    record PublishRequest(long requestId, List<Put> puts) implements ClientRequest {}

    record LookupRequest(long requestId, List<Key> keys) implements ClientRequest {}

    record ExistsRequest(long requestId, List<Key> keys) implements ClientRequest {}

    /**
     * Removes objects; with {@code force} also leased ones.
     *
     * @param ofGroup the only key is the name of a group, and each of its objects is meant
     * @param node name of the node whose copy in memory alone goes, and the object when it has no other; empty: every copy
     */
    record RemoveRequest(long requestId, boolean force, boolean ofGroup, List<Key> keys, String node)
            implements ClientRequest {
        public RemoveRequest(long requestId, boolean force, boolean ofGroup, List<Key> keys) {
            this(requestId, force, ofGroup, keys, "");
        }

        public RemoveRequest(long requestId, boolean force, List<Key> keys) {
            this(requestId, force, false, keys);
        }
    }

    /**
     * Removes what is not leased, with {@code force} also what is.
     *
     * @param pattern of keys in which this regular expression matches; empty: of all keys
     */
    record RemoveAllRequest(long requestId, boolean force, String pattern) implements ClientRequest {}

    /**
     * Says what will become of objects.
     *
     * @param forMs of RETAIN: how long, from now on
     * @param ofGroup the only key is the name of a group, and each of its objects is meant
     */
    record HintRequest(long requestId, Hint hint, long forMs, boolean ofGroup, List<Key> keys)
            implements ClientRequest {}

    /**
     * Asks to copy an object to the memory of other nodes, which goes on after the answer.
     *
     * @param source the node that gives its own copy up for it; empty: none
     * @param targets ids of nodes
     */
    record CopyRequest(long requestId, Key key, String source, List<String> targets) implements ClientRequest {}

    /** Asks how far that is. */
    record TaskQuery(long requestId, long task) implements ClientRequest {}
}
