// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.naming.NameList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Which masters a preflight asks. One that does not run, or whose machine is dead, knows no node and no client that others could not
 * know, and would never answer.
 */
final class Asked {
    private final List<Member> masters;
    private final List<Member> asked;

    Asked(RollView view) {
        this.masters = view.masters();
        List<Member> there = masters.stream()
                .filter(master -> master.alive() && !master.isGone())
                .toList();
        this.asked = there.isEmpty() ? masters : there;
    }

    List<String> pods() {
        return asked.stream().map(Member::pod).toList();
    }

    /** Who is left out, as the end of a sentence. */
    String without() {
        return without(master -> !isLost(master), "which does not run")
                + without(Asked::isLost, "whose Kubernetes node is not ready");
    }

    private String without(Predicate<Member> which, String why) {
        List<String> out = masters.stream()
                .filter(master -> !asked.contains(master))
                .filter(which)
                .map(Member::pod)
                .toList();
        return out.isEmpty() ? "" : ", without asking %s, %s".formatted(NameList.of(out), why);
    }

    private static boolean isLost(Member master) {
        return master.where() == Member.Where.ON_LOST_NODE;
    }
}
