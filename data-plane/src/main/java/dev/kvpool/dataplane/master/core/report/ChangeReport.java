// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.report;

import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * For those who follow what readers would be told: changes, as actions of the core while it tells them, and all there is, in parts that are
 * right when they are taken. A subscriber that takes each part at its place among the changes has, after the last one, exactly what is here.
 */
public final class ChangeReport {
    private final Leadership leadership;
    private final Index index;
    private final Membership membership;

    public ChangeReport(Leadership leadership, View view) {
        this.leadership = leadership;
        this.index = view.index();
        this.membership = view.membership();
    }

    /** From now on changes are told, until this leadership, which is answered, ends; {@link Authority#NONE} when this master does not serve. */
    public Authority open() {
        if (leadership.phase() != Leadership.Phase.SERVING) {
            return Authority.NONE;
        }
        index.changes().open();
        return leadership.authority();
    }

    public void close() {
        index.changes().close();
    }

    /** The nodes that readers are sent to, by their ids. */
    public List<Change.Node> usableNodes() {
        List<Change.Node> nodes = new ArrayList<>();
        for (NodeView node : membership.usable()) {
            nodes.add(new Change.Node(node.id, true, node.holdsOnlyOf()));
        }
        nodes.sort(Comparator.comparing(Change.Node::id));
        return nodes;
    }

    /**
     * What there is, in parts; good until the core has told that the leadership ended.
     *
     * @param tenant whose objects alone; empty: all
     */
    public Index.Parts parts(Optional<Tenant> tenant) {
        return index.publishedParts(tenant);
    }
}
