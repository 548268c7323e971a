// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

/** Every wait and every store of the core is bounded by one of these. Times in milliseconds. */
final class Bounds {
    /** How long a warm takeover waits for a silent node's answer to the fence. */
    static final long FENCE_WAIT_WARM_MS = 200;

    /** How long a cold start waits for the expected nodes. */
    static final long COLD_WAIT_MS = 10_000;

    /** The longest time a client gets to write and publish. */
    static final long GRANT_MS_MAX = 30_000;

    /** How long after its deadline a grant is kept, so that a slow writer's extent is known as a left-over. */
    static final long GRANT_GRACE_MS = 5_000;

    /** How long a publish waits for the node's record to arrive in the node's stream. */
    static final long PUBLISH_WAIT_MS = 2_000;

    static final long REMOVE_WAIT_MS = 30_000;
    static final long HEARTBEAT_MS = 500;
    static final long NODE_SILENCE_MS = 3_000;

    /** Clients ask when they need something, so a quiet one is left alone for longer than a node. */
    static final long CLIENT_SILENCE_MS = 30_000;

    /** A second process with a node's id takes over when the first was silent for this long. */
    static final long NODE_REPLACE_SILENCE_MS = 1_000;

    /** A transient node that lost its connection, not its memory, is back within this time. */
    static final long TRANSIENT_AWAY_MS = 5_000;

    /** After a plan that could not free enough, because everything is leased, eviction rests for this long. */
    static final long EVICTION_PAUSE_MS = 50;

    /** What a node remembers as the largest object lease is believed up to a day. */
    static final long OBJECT_LEASE_MS_MAX = 86_400_000;

    /** A node that is no longer expected and away for this long is forgotten. */
    static final long UNEXPECTED_AWAY_MS = 60_000;

    static final int GRANTS_MAX = 1 << 18;
    static final int REPLIES_PENDING_MAX = 1 << 14;
    static final int NODES_MAX = 4096;
    static final int CLIENTS_MAX = 16_384;
    static final int FREE_EXTENTS_MAX = 1024;
    static final int FREE_REQUESTS_PER_NODE_MAX = 8;
    static final int REPLICAS_MAX = 16;
    static final int ENDPOINT_CHARS_MAX = 512;

    /** A Lease holds the epoch as a 32-bit number. */
    static final long EPOCH_MAX = Integer.MAX_VALUE - 1L;

    private Bounds() {}
}
