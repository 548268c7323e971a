// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.register.Register;

/** Every wait and every store of the core is bounded by one of these. Times in milliseconds. */
public final class Bounds {
    /** How long a warm takeover waits for a silent node's answer to the fence. */
    public static final long FENCE_WAIT_WARM_MS = 200;

    /** How long a cold start waits for the expected nodes. */
    public static final long COLD_WAIT_MS = 10_000;

    /**
     * How long a standby that no expected node has ever connected to is not ready: twice what nodes take at most to ask again for a
     * master that is new to them. For ever would keep a pool whose nodes are all broken from being put right.
     */
    public static final long FIRST_NODE_WAIT_MS = 60_000;

    /** The longest time a client gets to write and publish. */
    public static final long GRANT_MS_MAX = 30_000;

    /** How long after its deadline a grant is kept, so that a slow writer's extent is known as a left-over. */
    public static final long GRANT_GRACE_MS = 5_000;

    /** How long after its deadline a granted write may still be committed and shown: a transfer and a silence are shorter. */
    public static final long LATE_WRITE_MS = 60_000;

    /** How long a publish waits for the node's record to arrive in the node's stream. */
    public static final long PUBLISH_WAIT_MS = 2_000;

    public static final long REMOVE_WAIT_MS = 30_000;
    public static final long HEARTBEAT_MS = 500;
    public static final long NODE_SILENCE_MS = 3_000;

    /** Between two heartbeats to a node, and while nodes say that they hear nothing of the leader. */
    public static final long NODE_BEAT_MS = 250;

    public static final long SUSPICIOUS_BEAT_MS = 100;

    /**
     * A leader is sure that no other has followed it for so long after it began to renew its Lease, and after it sent what enough nodes
     * have answered. A standby that follows a silent one has waited for longer, by {@link #SILENCE_MARGIN_MS}.
     */
    public static final long SURE_MS = 1_200;

    public static final long SILENCE_MARGIN_MS = 50;

    /** How old the oldest of the nodes' answers may be, by which a leader is found to be silent. */
    public static final long ANSWER_AGE_MS = 150;

    /** A leader that most nodes do not hear for so long is looked after. */
    public static final long SUSPECT_MS = 500;

    /** Clients ask when they need something, so a quiet one is left alone for longer than a node. */
    public static final long CLIENT_SILENCE_MS = 30_000;

    /** How long a node's word that a leader has crashed counts. By then the Lease decides anyway. */
    public static final long WITNESS_MS = 5_000;

    /** A second process with a node's id takes over when the first was silent for this long. */
    public static final long NODE_REPLACE_SILENCE_MS = 1_000;

    /**
     * A transient node that lost its connection, not its memory, is back within this time: what it holds is dropped afterwards. It takes a
     * machine without a processor to spare several tries, each of which may take three seconds.
     */
    public static final long TRANSIENT_AWAY_MS = 10_000;

    /** After a plan that could not free enough, because everything is leased, eviction rests for this long. */
    public static final long EVICTION_PAUSE_MS = 50;

    /** The time in which writers are taken to ask at once for what they ask for: some turns of the eviction and of a node that frees. */
    public static final long DEMAND_MS = 50;

    /** After this time half as much room is kept ahead of writers as they asked for: the first writes after a rest find room as well. */
    public static final long DEMAND_HALVES_MS = 60_000;

    /** After this time half as much is taken to be of no use because it lies in pieces. */
    public static final long FRAGMENTS_HALVE_MS = 600_000;

    /** The largest part of a node that is kept free for both. */
    public static final double AHEAD_MAX = 0.10;

    /** Objects the eviction looks at in one turn, and as how many of them one counts that it evicts: about a millisecond. */
    public static final int EVICTION_VISITS = 8192;

    public static final int EVICTED_IS_VISITS = 16;

    /** How long the search for what a tenant may lose keeps its place while the tenant asks for nothing: a put's usual deadline. */
    public static final long QUOTA_SEARCH_IDLE_MS = 10_000;

    /** Who was told to ask again has done so by then: so long it is known that a search has found nothing. */
    public static final long QUOTA_ANSWER_MS = 500;

    /** The longest rest between two searches that find nothing. */
    public static final long QUOTA_REST_MS_MAX = 2_000;

    /** The same between two for a tenant that is above a ceiling and asks for nothing: what is pinned may stay for ever. */
    public static final long QUOTA_UNASKED_REST_MS_MAX = 60_000;

    /** When a writer asks again whose tenant has something to evict that was not found, or not written down, yet: after the next tick. */
    public static final long QUOTA_PAUSE_MS = 10;

    /** Objects that a takeover decides about in one turn, while nothing is served: some ten milliseconds. */
    public static final int SETTLED_PER_TURN = 16_384;

    /** The same for a leader that serves, and for a standby, of which nobody waits for anything. */
    public static final int SETTLED_PER_TICK = 2048;

    public static final int CLAIMED_PER_TICK = 256;

    /** Replicas that are forgotten in one turn of a node that is gone for good. */
    public static final int FORGOTTEN_PER_TICK = 4096;

    /**
     * Replicas looked at in one turn, and as how many of them one counts that is forgotten, when a node that came back has shown
     * what it still has: some milliseconds.
     */
    public static final int COMPARED_PER_TICK = 1 << 16;

    public static final int FORGOTTEN_IS_VISITS = 16;

    /** Tombstones of a node that are forgotten, or held against what is published, in one turn. */
    public static final int TOMBSTONES_OF_NODE_PER_TICK = 4096;

    /** Frees that were not sent, or not answered, and are taken back in one turn. */
    public static final int FREES_TAKEN_BACK_PER_TICK = 16_384;

    /** Replicas that are counted anew in one turn after their node came or went. */
    public static final int RECOUNTED_PER_TICK = 4096;

    /** How long writers who find no room look past a node of which nothing more could be evicted. */
    public static final long BARREN_MS = 1_000;

    /** How long a node that had no place for an object is not asked for one of that size: two of its statistics. */
    public static final long NO_PLACE_MS = 1_000;

    /** How long a master that does not serve lets a client wait that asks for the leader. Clients give up later than this. */
    public static final long LEADER_QUESTION_MS = 100;

    /** The longest time that a writer is told to wait for room. It asks again sooner. */
    public static final long ROOM_MS_MAX = 86_400_000;

    /** What a node remembers as the largest object lease is believed up to a day. */
    public static final long OBJECT_LEASE_MS_MAX = Register.OBJECT_LEASE_MS_MAX;

    /** A client that asks for an object again after this time uses it again, however long the leases are. */
    public static final long USE_MS_MAX = 10_000;

    /** A node that is no longer expected and away for this long is forgotten. */
    public static final long UNEXPECTED_AWAY_MS = 60_000;

    public static final int GRANTS_MAX = 1 << 18;
    public static final int REPLIES_PENDING_MAX = 1 << 14;
    public static final int NODES_MAX = 4096;
    public static final int CLIENTS_MAX = 16_384;
    public static final int FREE_EXTENTS_MAX = 1024;
    public static final int FREE_REQUESTS_PER_NODE_MAX = 8;

    /** How long an engine may leave unanswered what it is to free, and how much all engines together may be behind with. */
    public static final long FREE_WAIT_MS = 60_000;

    public static final int LENT_FREES_MAX = 1 << 20;
    public static final int REPLICAS_MAX = 16;
    public static final int ENDPOINT_CHARS_MAX = 512;

    /** Nodes that a put may prefer, and characters of their names, with commas between them. */
    public static final int PREFERRED_NODES_MAX = 16;

    public static final int PREFERRED_CHARS_MAX = 4096;

    /** How long after a lost register a leader takes every node for a member that comes. */
    public static final long REGISTER_OPEN_MS = 60_000;

    /** How many leaders may follow each other between two looks of a standby at the Lease. */
    public static final long UNSEEN_LEADERS_MAX = 8;

    /**
     * How far above the Lease's epoch one that nodes know of may be. So many leaders do not follow each other unseen, and the epoch is a number that
     * ends: at {@link #EPOCH_MAX}, which no word of a node may bring near.
     */
    public static final long EPOCH_STEP_MAX = 1 << 16;

    /** By how much, and how often, one node alone may make a leader raise its epoch. */
    public static final long LONE_RAISE_MAX = 8;

    public static final long LONE_RAISE_REST_MS = 60_000;

    /**
     * After a raise by more than that it is not raised so far again for the first time, which doubles up to the second: in a pool of one storage node
     * each process with its name is the majority, and a Lease counts to 2^31.
     */
    public static final long FAR_RAISE_REST_MS_MIN = 60_000;

    public static final long FAR_RAISE_REST_MS_MAX = 3_600_000;

    /** A leader that sees too little of its pool, which hands over, rests for so long before it does again: at first, and at most. */
    public static final long BLIND_REST_MS_MIN = 30_000;

    public static final long BLIND_REST_MS_MAX = 3_600_000;

    /** How long it waits when no other master looks for it: nodes that are down mostly are there again by then. */
    public static final long BLIND_ALONE_MS = 30_000;

    /** How long before it sees too little another master may have looked for it: nodes give up a silent connection later than they tell of it. */
    public static final long BLIND_LOOKED_FOR_MS = 2 * NODE_SILENCE_MS;

    /** In a pool of engines alone it does so long before the register has them no more, and what they hold with them. */
    public static final long BLIND_OF_ENGINES_MS = 4_000;

    /** How often a master looks how much of the pool it sees. */
    public static final long REACH_LOOK_MS = 100;

    /** How long the words of nodes that a leader has left bring no further look at the Lease. */
    public static final long LOOK_REST_MS = 250;

    /** The part of what the index may hold at which objects are evicted to make room for records, and at which that ends. */
    public static final double INDEX_EVICT_ABOVE = 0.93;

    public static final double INDEX_EVICT_TO = 0.90;

    /** The part from which nothing is put or copied any more, and the one from which a node that joins finds no room. */
    public static final double INDEX_PUTS = 0.95;

    public static final double INDEX_SNAPSHOTS = 0.98;

    /** The part that records of engines may take where there are storage nodes, whose records must find room. */
    public static final double INDEX_LENT = 0.5;

    /** The part of that which one tenant's engines leave to those of others. */
    public static final double INDEX_LENT_LEFT = 0.25;

    /** How often each engine is told what the others leave to it; what it takes itself counts at once. */
    public static final long INDEX_SHARED_MS = 100;

    /** What a tombstone of an engine counts for there. */
    public static final int TOMBSTONE_RECORD_BYTES = 1024;

    /** Slots that a segment may have however small it is; of a larger one each is for at least so many bytes. */
    public static final long SEGMENT_SLOTS_MIN = 1024;

    public static final long BYTES_PER_SLOT_MIN = 2048;

    /** The part of all replicas that is evicted in a tick so that blocks of one size give pages to those of another. */
    public static final double INDEX_EVICTED_FOR_PAGES = 0.01;

    /** A Lease holds the epoch as a 32-bit number. */
    public static final long EPOCH_MAX = Integer.MAX_VALUE - 1L;

    /** How often an object is looked at that is freed after an older one of its key. */
    public static final long OLDER_FIRST_MS = 50;

    /** How long a node has for a command that is not a transfer. */
    public static final long COMMAND_WAIT_MS = 20_000;

    /** Removals that wait for tombstones to be written. */
    public static final int TOMBSTONE_WRITES_MAX = 1 << 16;

    public static final int TOMBSTONE_REQUESTS_PER_NODE_MAX = 8;

    /** A message must fit into a frame of 1 MiB. */
    public static final int TOMBSTONE_KEY_BYTES_MAX = 1 << 19;

    /** Tombstones the leader looks after in one tick, and after which time again when a node had no room for one. */
    public static final int TOMBSTONES_PER_TICK = 256;

    /** Tombstones that come from evictions may take this part of a node: one of so many bytes, and of so many slots. */
    public static final int TOMBSTONES_OF_EVICTIONS = 16;

    public static final long TOMBSTONE_PAUSE_MS = 1_000;

    /** Objects that removals of everything come to in one tick, all of them together, and how many there may be. */
    public static final int SWEPT_PER_TICK = 1024;

    /**
     * How many empty places of the table of keys count as one object that is come to. Were they as dear, a sweep that is repeated after it
     * took too long would get no further than the places which the one before has emptied.
     */
    public static final int EMPTY_IS_SWEPT = 64;

    public static final int SWEEPS_MAX = 16;

    /** Objects of a purge that are forgotten in one tick. */
    public static final int PURGED_PER_TICK = 8192;

    /** Copies that a node takes part in at once, and their bytes. One object may be larger. */
    public static final int COPIES_PER_NODE_MAX = 8;

    public static final long COPY_BYTES_PER_NODE_MAX = 64L << 20;

    /** A leader that finds a node drained under another one has this long to see that it still is: longer than leases. */
    public static final long DRAINED_CHECK_MS = 60_000;

    /** After that others are told that a copy has failed; its node may go on for {@link #copyMs}. */
    public static final long COPY_WAIT_MS = 60_000;

    /** For how long a node tries to connect, to have an answer and to make a copy of so many bytes, and its record may be on the way. */
    public static long copyMs(long payloadLength) {
        return COPY_WAIT_MS + 20_000 + payloadLength / 1024;
    }

    /** Objects that wait for room among the copies under way. */
    public static final int COPIES_WAITING_MAX = 64;

    /** Objects remembered as unreadable at a node. */
    public static final int UNREADABLE_MAX = 10_000;

    /** For how long an object is not copied from where it could not be read. */
    public static final long UNREADABLE_MS = 60_000;

    /** Objects looked at for missing copies in one tick, and the time between two passes over all of them. */
    public static final int REPAIR_VISITS_PER_TICK = 4096;

    public static final long REPAIR_REST_MS_MIN = 1_000;
    public static final long REPAIR_REST_MS_MAX = 30_000;

    /** How long a node is not chosen after a failed transfer: at first, and at most. */
    public static final long DISTRUST_MS_MIN = 1_000;

    public static final long DISTRUST_MS_MAX = 30_000;

    /** A node less than this part as full as the others, when these are at least so full, is filled slowly at first. */
    public static final double RAMP_FRACTION = 0.5;

    public static final double RAMP_FILL_MIN = 0.05;
    public static final double RAMP_START = 0.1;
    public static final long RAMP_MS = 60_000;

    /** Objects that are on their way from the memory of a node to its SSD, and their bytes. One object may be larger. */
    public static final int DEMOTIONS_PER_NODE_MAX = 64;

    public static final long DEMOTED_BYTES_PER_NODE_MAX = 64L << 20;

    /** Objects of other tenants that a list of keys passes over. */
    public static final int KEYS_PASSED_OVER_MAX = 1_000_000;

    /** The longest qualified key that an SSD keeps. */
    public static final int SSD_KEY_BYTES_MAX = 424;

    /** The largest value that an SSD keeps: nodes read one whole into memory beside the segment. */
    public static final long SSD_VALUE_BYTES_MAX = 128L << 20;

    /** How full an SSD may be, and how full it is when enough was evicted from it. */
    public static final double SSD_HIGH = 0.95;

    public static final double SSD_LOW = 0.90;

    /** How long an SSD that had no room is not asked, and the rest after a walk in vain. */
    public static final long SSD_PAUSE_MS = 1_000;

    /** An object is brought back to memory when it was looked up so often on the SSD within this time. */
    public static final int PROMOTION_HITS = 2;

    public static final long PROMOTION_WINDOW_MS = 60_000;

    /** Objects whose lookups are counted, and objects that wait to be brought back. */
    public static final int PROMOTION_COUNTED_MAX = 1 << 16;

    public static final int PROMOTIONS_WAITING_MAX = 1024;

    /** How long a client may have an object retained, until it asks again. */
    public static final long RETAIN_MS_MAX = 3_600_000;

    /** The part of what is guaranteed to no tenant that tenants without a guarantee may pin hard. */
    public static final double PINNED_PART_MAX = 0.5;

    /** The part of the pool's memory that may be retained, so that there is always something else to evict. */
    public static final double RETAINED_PART_MAX = 0.5;

    public static final int RETAINED_OBJECTS_MAX = 1 << 17;

    /** Retained objects of which one turn looks whether they still are. */
    public static final int RETAINED_SEEN_PER_TICK = 1024;

    /** Retained objects are evicted when nothing else gives way within this time: sooner than puts fail. */
    public static final long RETAINED_GIVES_WAY_MS = 10_000;

    /** Objects of a group that one request may name together. */
    public static final int GROUP_OBJECTS_MAX = 16_384;

    /** Copies that clients asked for: so many that have not ended, and so many that have. */
    public static final int TASKS_MAX = 10_000;

    /** How many of them are looked at in one tick. */
    public static final int TASKS_PER_TICK = 256;

    /** How long one may take, and how often it may fail on the way. */
    public static final long TASK_MS_MAX = 300_000;

    public static final int TASK_FAILURES_MAX = 10;

    private Bounds() {}
}
