// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.preflight;

import dev.kvpool.dataplane.preflight.Running.Kind;
import dev.kvpool.dataplane.preflight.Running.Member;
import dev.kvpool.dataplane.preflight.Verdict.Way;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.nativelib.VersionRange;
import java.util.List;
import java.util.function.Function;

/**
 * Decides whether a pool can go over to this build. Pure.
 *
 * <p>While a pool goes over, processes of both builds talk to each other, so every pair must have a wire version in common,
 * and all of them speak the pool's active one, which only the end of an upgrade raises. So does the layout of the segments: the
 * one a running node writes must be readable by this build, or the node must be emptied before; a node that does not tell may
 * write any that its build knows. The C ABI is no matter of two builds: the library and what calls it come in one image.
 */
public final class Preflight {
    private static final int NAMED_MAX = 3;

    private Preflight() {}

    /**
     * Judges.
     *
     * @param ours this build
     * @param ignoreClients whether clients may be left behind
     */
    public static Verdict judge(Versions ours, Running pool, boolean ignoreClients) {
        List<Member> apart = pool.members().stream()
                .filter(member -> !ignoreClients || member.kind() != Kind.CLIENT)
                .filter(member ->
                        Versions.common(ours.wire(), member.versions().wire()).isEmpty())
                .toList();
        if (!apart.isEmpty()) {
            return new Verdict(Way.REFUSED, refusal(ours, apart));
        }
        int spoken = pool.active().wire();
        if (spoken != 0 && !ours.wire().contains(spoken)) {
            return new Verdict(Way.REFUSED, unspoken(ours, spoken));
        }
        List<Member> unread = pool.members().stream()
                .filter(member -> member.kind() == Kind.NODE)
                .filter(member -> !reads(ours.layout(), member))
                .toList();
        if (!unread.isEmpty()) {
            return new Verdict(
                    Way.ROLLING_DRAINED,
                    "kvpool %s reads segment layout %s, and %s: each storage node is emptied before it is replaced"
                            .formatted(ours.product(), ours.layout(), writes(unread)));
        }
        return new Verdict(
                Way.ROLLING_WARM,
                "kvpool %s (wire %s, segment layout %s) understands all %d members of the pool"
                        .formatted(
                                ours.product(),
                                ours.wire(),
                                ours.layout(),
                                pool.members().size()));
    }

    private static String refusal(Versions ours, List<Member> apart) {
        boolean clientsOnly = apart.stream().allMatch(member -> member.kind() == Kind.CLIENT);
        String remedy = clientsOnly
                ? "upgrade these clients first, or allow the roll to leave them behind"
                : "go by way of a version that speaks both, or keep the version that runs";
        return "kvpool %s speaks wire version %s, but %s; %s"
                .formatted(ours.product(), ours.wire(), says(apart), remedy);
    }

    /** Everybody could talk to this build, but not in what the pool speaks: some of them would be left behind by it. */
    private static String unspoken(Versions ours, int spoken) {
        String both = "kvpool %s speaks wire version %s, but the pool speaks %d"
                .formatted(ours.product(), ours.wire(), spoken);
        return ours.wire().max() < spoken
                ? both + ", which it went over to when its last upgrade was finished: keep a version that speaks it, or"
                        + " begin with an empty pool"
                : both + " until an upgrade to a version that speaks both is finished: go by way of such a version";
    }

    private static String writes(List<Member> members) {
        return listed(
                members,
                member -> member.active().layout() == 0
                        ? "may have written layout " + member.versions().layout()
                        : "writes layout " + member.active().layout());
    }

    private static String says(List<Member> members) {
        return listed(members, member -> "speaks " + member.versions().wire());
    }

    private static String listed(List<Member> members, Function<Member, String> what) {
        StringBuilder text = new StringBuilder();
        for (Member member : members.subList(0, Math.min(NAMED_MAX, members.size()))) {
            text.append(text.isEmpty() ? "" : ", ")
                    .append("%s (kvpool %s) %s"
                            .formatted(member.name(), member.versions().product(), what.apply(member)));
        }
        int more = members.size() - NAMED_MAX;
        return more > 0 ? text + " and " + more + " more likewise" : text.toString();
    }

    private static boolean reads(VersionRange ours, Member node) {
        VersionRange may = node.versions().layout();
        int written = node.active().layout();
        return written == 0 ? ours.contains(may.min()) && ours.contains(may.max()) : ours.contains(written);
    }
}
