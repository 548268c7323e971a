// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.Set;

/** Hears what masters decide, at the moment they do. */
interface MasterWatch {
    /**
     * A client gets an answer.
     *
     * @param atOnce it was given before the master did anything else
     */
    void replied(SimMaster master, ClientRequest request, ClientReply reply, boolean atOnce);

    /** A node that still lives has said that everything below this id is gone from it. */
    void purged(SimNode node, ObjectId below);

    /** A leader begins to empty a node, and runs what this returns when it says so. */
    Runnable drainBegins(SimMaster master, String node);

    /** Somebody has a node take part again. */
    void drainIsCancelled(String node);

    /** A node is to copy this object from another. */
    void copies(ObjectId id);

    /**
     * The master takes the Lease of a leader that most nodes do not hear, if that was not renewed.
     *
     * @param atMs when they did not, as it believes
     * @param found what its last dial of a leader found; null when it dialled none
     */
    void followsSilent(SimMaster master, Authority leader, long atMs, SimMaster.Found found);

    /** A leader gives its Lease away because too little of the pool reaches it. */
    void handsOverBlind();

    /** A master wrote itself into the Lease. */
    void taken(Term term);

    /** What a leader asked for is in the Lease. */
    void stored(Register register);

    /** The election made this master the leader, or raised its epoch. */
    void leads(SimMaster master, Authority authority);

    /**
     * Keys that went out of sight while the master evicted.
     *
     * @param marked the master saw to it that nothing older of these keys comes back
     */
    void evicted(SimMaster master, Set<String> keys, boolean marked);

    /** Keys that went out of sight while the leader forgot a transient node that was away. */
    void forgotten(Set<String> keys);
}
