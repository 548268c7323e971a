// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Asks masters, and has a leader do what upgrades and drains need. The only way the operator talks to the data plane. */
public interface MasterClient extends MasterReports {
    /**
     * Has the leader give its leadership to another master.
     *
     * @param leader where it is
     * @return why it did not, as the end of a sentence; empty when it did
     */
    Optional<String> handOver(MasterEndpoint leader);

    /**
     * Tells standbys that the process of the leader has ended, so that they look for themselves now. Those that do not answer in
     * time are left alone.
     *
     * @param standbys where they are
     * @param holder identity of the leader in the Lease
     * @param epoch the leadership's number
     * @param leader where it listened for nodes and clients, HOST:PORT
     */
    void leaderGone(List<MasterEndpoint> standbys, String holder, long epoch, String leader);

    /**
     * Has the leader bring its pool to these versions, for good.
     *
     * @param leader where it is
     * @param wire version of the wire protocol
     * @param layout layout of segments
     * @param ignoreClients whether clients may be left behind
     * @return why it did not begin, as the end of a sentence; empty when it did
     */
    Optional<String> finalise(MasterEndpoint leader, int wire, int layout, boolean ignoreClients);

    /**
     * Has the leader begin to empty a storage node.
     *
     * @param leader where it is
     * @param node id of the storage node
     * @param timeout when emptying it shall end, whatever is left
     * @return why it did not begin, as the end of a sentence; empty when it did
     */
    Optional<String> drain(MasterEndpoint leader, String node, Duration timeout);

    /**
     * Has the leader begin to empty a storage node so that nothing at all is left on it, not even what others have too: then
     * the node says in its segment that a build which cannot read it may have its place.
     *
     * @param leader where it is
     * @param node id of the storage node
     * @param timeout when emptying it shall end, whatever is left
     * @return why it did not begin, as the end of a sentence; empty when it did
     */
    Optional<String> clear(MasterEndpoint leader, String node, Duration timeout);

    /**
     * Has the leader let a storage node take part again that was being emptied. One that is not is no failure.
     *
     * @param leader where it is
     * @param node id of the storage node
     * @return why it did not, as the end of a sentence; empty when it did
     */
    Optional<String> cancelDrain(MasterEndpoint leader, String node);
}
