// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.preflight;

import dev.kvpool.dataplane.preflight.Running.Kind;
import dev.kvpool.dataplane.preflight.Running.Member;
import dev.kvpool.dataplane.preflight.Verdict.Way;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.nativelib.VersionRange;
import java.util.List;

/**
 * Decides whether a pool can go over to this build. Pure.
 *
 * <p>While a pool goes over, processes of both builds talk to each other, so every pair must have a wire version in common.
 * Segments written by a running node must be readable by this build, or the node must be emptied before. Which layout a
 * node writes it does not say: it may be any that its build knows, so this build must know all of them. The C ABI is no
 * matter of two builds: the library and what calls it come in one image.
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
        List<Member> unread = pool.members().stream()
                .filter(member -> member.kind() == Kind.NODE)
                .filter(member -> !contains(ours.layout(), member.versions().layout()))
                .toList();
        if (!unread.isEmpty()) {
            return new Verdict(
                    Way.ROLLING_DRAINED,
                    "kvpool %s reads segment layout %s, and %s: each storage node is emptied before it is replaced"
                            .formatted(ours.product(), ours.layout(), says(unread, "may have written layout", false)));
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
        String wayOut = clientsOnly
                ? "upgrade these clients first, or allow the roll to leave them behind"
                : "go by way of a version that speaks both, or keep the version that runs";
        return "kvpool %s speaks wire version %s, but %s; %s"
                .formatted(ours.product(), ours.wire(), says(apart, "speaks", true), wayOut);
    }

    private static String says(List<Member> members, String verb, boolean wire) {
        StringBuilder text = new StringBuilder();
        for (Member member : members.subList(0, Math.min(NAMED_MAX, members.size()))) {
            VersionRange range =
                    wire ? member.versions().wire() : member.versions().layout();
            text.append(text.isEmpty() ? "" : ", ")
                    .append("%s (kvpool %s) %s %s"
                            .formatted(member.name(), member.versions().product(), verb, range));
        }
        int more = members.size() - NAMED_MAX;
        return more > 0 ? text + " and " + more + " more likewise" : text.toString();
    }

    private static boolean contains(VersionRange outer, VersionRange inner) {
        return outer.min() <= inner.min() && inner.max() <= outer.max();
    }
}
