// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.membership.Membership;

/** Whether a master has just started and no storage node has found it yet. */
public final class FirstNode {
    private final Leadership leadership;
    private final Membership membership;
    private boolean isNew;

    public FirstNode(Leadership leadership, Membership membership) {
        this.leadership = leadership;
        this.membership = membership;
    }

    /**
     * Time goes on.
     *
     * @param listensForMs how long nodes could have dialled this master
     */
    public void tick(long listensForMs) {
        isNew = listensForMs < Bounds.FIRST_NODE_WAIT_MS;
    }

    /**
     * A standby to which no expected node has connected since it started. Nodes ask for a master that is new to them every half
     * minute; after that, there may be none that lives.
     */
    public boolean isAwaited() {
        return isNew
                && leadership.phase() == Leadership.Phase.STANDBY
                && !membership.expected().isEmpty()
                && !membership.isAnyExpectedSeen();
    }
}
