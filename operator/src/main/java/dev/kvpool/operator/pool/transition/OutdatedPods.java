// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.Rounding;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Pods that were made with other settings than the spec has now: how they come to these, and how far that is, in words. */
final class OutdatedPods {
    private final TransitionView view;
    private final List<Member> all;
    private final Optional<PoolReport.Node> lossy;

    OutdatedPods(TransitionView view) {
        this.view = view;
        this.all = view.members()
                .all()
                .filter(member -> view.goals().outdated().contains(member.id()) && !member.leaving())
                .toList();
        this.lossy = lossy(storage(DataLossPolicy.REPLACE));
    }

    /** Those that never ran hold nothing: they come back with the settings there are now at once. */
    List<Action> recreatedAtOnce() {
        return all.stream()
                .filter(member -> !member.started())
                .map(Action::deletePod)
                .toList();
    }

    /** Storage nodes that come to other settings in this way. */
    private List<Member> storage(DataLossPolicy how) {
        return all.stream().filter(member -> comes(member, how)).toList();
    }

    private boolean comes(Member member, DataLossPolicy how) {
        return !member.master()
                && member.started()
                && view.goals().wanted().contains(member.id())
                && view.terms().forSettings(member) == how;
    }

    /**
     * One that is back with less than it had, of the same sets as those that are replaced with what they hold. The leader says so until the
     * node's next start, whatever that was started for: a loss in a set that is left alone says nothing about the settings of others.
     */
    Optional<PoolReport.Node> lossy() {
        return lossy;
    }

    private Optional<PoolReport.Node> lossy(List<Member> replaced) {
        Set<String> ids = replaced.stream().map(Member::id).collect(Collectors.toSet());
        return view.members().storage().stream()
                .filter(node -> !view.terms().mayLoseBytes())
                .filter(node -> !ids.contains(node.id()))
                .filter(node -> replaced.stream().anyMatch(it -> isOfSameSet(it, node)))
                .flatMap(node -> node.node().stream())
                .filter(node -> node.lostAtReturn() != null && node.lostAtReturn() > 0)
                .findFirst();
    }

    private static boolean isOfSameSet(Member one, Member other) {
        return one.observed().set().equals(other.observed().set())
                && one.observed().perNode() == other.observed().perNode();
    }

    /** Settings that are not carried out, because that would lose bytes, as sentences; empty where there are none. */
    String heldBack() {
        List<Member> waiting = storage(DataLossPolicy.WAIT);
        String held = waiting.isEmpty()
                ? ""
                : "%s with earlier settings: replacing %s would lose %s."
                        .formatted(
                                NameList.with(names(waiting), "still runs", "still run"),
                                waiting.size() == 1 ? "it" : "them",
                                atStake(waiting));
        String kept = lossy.map(node ->
                        ("%s came back without %d of its objects, so %s earlier settings. Its log says why. When that is put right,"
                                        + " another leader goes on from what is there: kubectl kvpool failover. spec.onDataLoss Replace goes on"
                                        + " whatever is lost.")
                                .formatted(
                                        node.id(),
                                        node.lostAtReturn(),
                                        NameList.with(names(storage(DataLossPolicy.REPLACE)), "keeps", "keep")))
                .orElse("");
        return (held + " " + kept).strip();
    }

    /** What they hold, rounded, so that the sentence stays the same while little changes. */
    private String atStake(List<Member> members) {
        if (!view.members().led()) {
            return "what is there, which no leader can tell now";
        }
        List<PoolReport.Node> nodes =
                members.stream().flatMap(member -> member.node().stream()).toList();
        if (nodes.stream().allMatch(node -> node.incarnation().isEmpty())) {
            return "what is there, which no leader has seen";
        }
        long bytes = nodes.stream().mapToLong(PoolReport.Node::usedBytes).sum();
        long objects = nodes.stream().mapToLong(PoolReport.Node::objects).sum();
        return "about %s in %d objects".formatted(ByteAmount.coarse(bytes), Rounding.twoDigits(objects));
    }

    /** Settings that are carried out when storage nodes are empty, as a sentence; empty where there are none. */
    String emptiedFirst() {
        List<String> moved = names(storage(DataLossPolicy.MOVE));
        return moved.isEmpty()
                ? ""
                : "%s with earlier settings and %s replaced when empty, one storage node at a time."
                        .formatted(NameList.with(moved, "still runs", "still run"), moved.size() == 1 ? "is" : "are");
    }

    /** Pods that are replaced a few at a time. */
    Stream<String> replaced() {
        return all.stream()
                .filter(member -> member.master() || comes(member, DataLossPolicy.REPLACE))
                .map(Member::pod);
    }

    private static List<String> names(List<Member> members) {
        return members.stream().map(Member::pod).sorted().toList();
    }
}
