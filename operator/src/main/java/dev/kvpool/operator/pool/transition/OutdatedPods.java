// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.Rounding;
import dev.kvpool.operator.pool.observation.ObservedPod;
import java.util.ArrayList;
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
        return all.stream()
                .filter(member -> !member.master() && member.started())
                .filter(member -> view.goals().wanted().contains(member.id()))
                .filter(member -> view.terms().forSettings(member) == how)
                .toList();
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

    /** Settings that are not carried out, because that would lose bytes, as sentences. */
    List<String> heldBack() {
        List<String> heldBack = new ArrayList<>();
        List<Member> waiting = storage(DataLossPolicy.WAIT);
        boolean one = waiting.size() == 1;
        if (!waiting.isEmpty()) {
            heldBack.add("%s still %s with earlier settings: replacing %s would lose %s."
                    .formatted(names(waiting), one ? "runs" : "run", one ? "it" : "them", atStake(waiting)));
        }
        lossy.ifPresent(node -> {
            List<Member> replaced = storage(DataLossPolicy.REPLACE);
            heldBack.add(
                    ("%s came back without %d of its objects, so %s %s earlier settings. Its log says why. When that is put right,"
                                    + " another leader goes on from what is there: kubectl kvpool failover. spec.onDataLoss Replace goes on"
                                    + " whatever is lost.")
                            .formatted(
                                    node.id(),
                                    node.lostAtReturn(),
                                    names(replaced),
                                    replaced.size() == 1 ? "keeps" : "keep"));
        });
        return heldBack;
    }

    /** What they hold, rounded, so that the sentence stays the same while little changes. */
    private String atStake(List<Member> members) {
        if (!view.members().led()) {
            return "what they hold, which no leader can tell now";
        }
        List<PoolReport.Node> nodes =
                members.stream().flatMap(member -> member.node().stream()).toList();
        long bytes = nodes.stream().mapToLong(PoolReport.Node::usedBytes).sum();
        long objects = nodes.stream().mapToLong(PoolReport.Node::objects).sum();
        return "about %s in %d objects".formatted(ByteAmount.coarse(bytes), Rounding.twoDigits(objects));
    }

    /** Settings that are carried out when storage nodes are empty; no sentence where there are none. */
    List<String> emptiedFirst() {
        List<Member> moved = storage(DataLossPolicy.MOVE);
        boolean one = moved.size() == 1;
        return moved.isEmpty()
                ? List.of()
                : List.of("%s still %s with earlier settings and %s replaced when empty, one storage node at a time."
                        .formatted(names(moved), one ? "runs" : "run", one ? "is" : "are"));
    }

    /** What is replaced a few at a time; no sentence when nothing is. */
    List<String> replacing(Steps steps, List<Wait> waiting) {
        List<Member> replaced = storage(DataLossPolicy.REPLACE);
        List<StepStatus> underWay = steps.all().stream()
                .filter(step -> step.because() == StepCause.SETTINGS)
                .toList();
        List<String> names = Stream.concat(
                        all.stream()
                                .filter(member -> member.master() || replaced.contains(member))
                                .map(Member::pod),
                        underWay.stream().map(StepStatus::of))
                .distinct()
                .sorted()
                .toList();
        if (names.isEmpty()) {
            return List.of();
        }
        String why = underWay.stream()
                .filter(step -> step.state() == StepState.FAILED)
                .map(StepStatus::waitsFor)
                .findFirst()
                .or(() -> waiting.stream()
                        .filter(wait -> underWay.isEmpty() && wait.because() == StepCause.SETTINGS)
                        .map(Wait::sentence)
                        .findFirst())
                .map(": "::concat)
                .orElse("");
        return List.of("%s %s replaced, as the settings have changed, a few at a time%s."
                .formatted(NameList.of(names), names.size() == 1 ? "is" : "are", why));
    }

    private static String names(List<Member> members) {
        return ObservedPod.names(members.stream().map(Member::observed).toList());
    }
}
