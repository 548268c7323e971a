// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.register;

import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.index.NodeView;
import java.util.Set;
import java.util.TreeSet;

/**
 * SSDs on which nothing can be cleared any more. A node that keeps its memory knows by that that it must not believe such a one later,
 * and formats it; for the time when the memory is lost too, the register has its number. Before it has, nothing is acknowledged that
 * such an SSD may belie.
 */
public final class FailedSsds {
    private final RegisterKeeper register;
    private final Leadership leadership;

    /** Nodes of which the register may not say yet that their SSD failed. */
    private final Set<String> unsure = new TreeSet<>();

    public FailedSsds(RegisterKeeper register, Leadership leadership) {
        this.register = register;
        this.leadership = leadership;
    }

    void endTerm() {
        unsure.clear();
    }

    /** A node has told how its SSD is, or a term begins. */
    public void note(NodeView node) {
        long number = node.ssd.number();
        if (leadership.leads() && node.ssd.hasFailed() && register.wanted().failedSsd(node.id) != number) {
            register.change(it -> it.ssdFailed(node.id, number));
            unsure.add(node.id);
        }
    }

    /** Runs what says that something is gone when the register has all that failed; at once where none has just failed. */
    public void whenNoted(Runnable task) {
        if (unsure.isEmpty()) {
            task.run();
            return;
        }
        register.whenWantedIsSure(() -> {
            unsure.removeIf(id ->
                    register.isSure(it -> it.failedSsd(id) == register.wanted().failedSsd(id)));
            task.run();
        });
    }

    /** Whether a node shows what lies on an SSD that had failed: all of it is to be dropped. */
    boolean isBack(NodeView node) {
        long number = node.ssd.number(); // 0 is none, as it is of nodes whose SSDs never failed
        return number != 0 && node.ssd.works() && register.isPossible(it -> it.failedSsd(node.id) == number);
    }

    /** Nothing is left there. */
    void emptied(NodeView node) {
        register.change(it -> it.ssdEmptied(node.id));
    }
}
