// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.operator.pool.naming.NameList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Which masters a preflight asks. One that does not run, or whose machine is dead, knows no node and no client that others could not
 * know, and would never answer.
 */
final class Asked {
    private final List<Instance> masters;
    private final List<Instance> asked;

    Asked(RollView view) {
        this.masters = view.masters();
        List<Instance> there = masters.stream()
                .filter(master -> master.alive() && !master.isGone())
                .toList();
        this.asked = there.isEmpty() ? masters : there;
    }

    List<String> pods() {
        return asked.stream().map(Instance::pod).toList();
    }

    /** Who is left out, as the end of a sentence. */
    String without() {
        return without(master -> !isLost(master), "which does not run")
                + without(Asked::isLost, "whose node of the cluster is not ready");
    }

    private String without(Predicate<Instance> which, String why) {
        List<String> out = masters.stream()
                .filter(master -> !asked.contains(master))
                .filter(which)
                .map(Instance::pod)
                .toList();
        return out.isEmpty() ? "" : ", without asking %s, %s".formatted(NameList.of(out), why);
    }

    private static boolean isLost(Instance master) {
        return master.where() == Instance.Where.ON_LOST_NODE;
    }
}
