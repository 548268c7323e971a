// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.member;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.Refusal;
import dev.kvpool.operator.pool.storage.StoragePlan;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The masters and storage nodes of a pool that have pods.
 *
 * @param masters masters, by name
 * @param storage storage nodes, by id
 * @param mastersWanted how many masters the spec wants
 * @param missing names of masters that have no pod and shall have one
 * @param refused why masters and storage nodes have no pod, by name or id, as far as Kubernetes says
 * @param reports what each master that answered says
 * @param leader what the leader says, when it leads, serves and answers
 */
public record Members(
        List<Member> masters,
        List<Member> storage,
        int mastersWanted,
        Set<String> missing,
        Map<String, String> refused,
        List<PoolReport> reports,
        Optional<PoolReport> leader) {

    public Members {
        masters = List.copyOf(masters);
        storage = List.copyOf(storage);
        missing = Set.copyOf(missing);
        refused = Map.copyOf(refused);
        reports = List.copyOf(reports);
    }

    public static Members of(PoolObservation seen) {
        Set<String> lost = seen.lostNodes();
        List<Member> masters = members(seen, PoolLabels.ROLE_MASTER, lost);
        int wanted = seen.spec().masters().replicas();
        return new Members(
                masters,
                members(seen, PoolLabels.ROLE_STORAGE, lost),
                wanted,
                missing(seen, masters, wanted),
                refused(seen),
                seen.reports(),
                seen.leaderReport());
    }

    private static List<Member> members(PoolObservation seen, String role, Set<String> lost) {
        return seen.pods(role).stream()
                .map(pod -> new Member(
                        pod,
                        role.equals(PoolLabels.ROLE_MASTER),
                        where(pod, lost),
                        outlives(pod, seen),
                        seen.leaderReport().stream()
                                .flatMap(report -> report.nodes().stream())
                                .filter(node -> node.id().equals(pod.nodeId()))
                                .findFirst()))
                .sorted(Comparator.comparing(Member::id))
                .toList();
    }

    private static Member.Where where(ObservedPod pod, Set<String> lost) {
        if (lost.contains(pod.node())) {
            return Member.Where.ON_LOST_NODE;
        }
        return pod.isWithoutNode() ? Member.Where.WITHOUT_NODE : Member.Where.PLACED;
    }

    public static boolean outlives(ObservedPod pod, PoolObservation seen) {
        return pod.role().equals(PoolLabels.ROLE_STORAGE)
                && seen.children().stream()
                        .filter(child -> seen.makes(child, pod))
                        .anyMatch(StoragePlan::outlivesPods);
    }

    private static Set<String> missing(PoolObservation seen, List<Member> masters, int wanted) {
        int made = seen.mastersSet()
                .map(set -> set.getSpec().getReplicas())
                .map(replicas -> Math.min(replicas, wanted))
                .orElse(0);
        Set<String> missing = IntStream.range(0, made)
                .mapToObj(ordinal -> seen.names().masters() + "-" + ordinal)
                .collect(Collectors.toCollection(TreeSet::new));
        masters.forEach(master -> missing.remove(master.pod()));
        return missing;
    }

    private static Map<String, String> refused(PoolObservation seen) {
        Set<String> there = seen.pods().stream()
                .flatMap(pod -> Stream.of(pod.name(), pod.nodeId()))
                .collect(Collectors.toSet());
        Map<String, String> refused = new HashMap<>();
        seen.children().forEach(child -> {
            Map<String, String> why = seen.refusals().stream()
                    .filter(refusal -> refusal.workload().equals(ObjectTitle.of(child)))
                    .collect(Collectors.toMap(Refusal::pod, Refusal::why));
            if (!why.isEmpty()) {
                shallBe(child, seen)
                        .filter(id -> !there.contains(id) && (why.containsKey(id) || why.containsKey("")))
                        .forEach(id -> refused.put(id, why.getOrDefault(id, why.get(""))));
            }
        });
        return refused;
    }

    /** Names of masters, or ids of storage nodes, of a workload; of a perNode set all that there may be. */
    private static Stream<String> shallBe(HasMetadata workload, PoolObservation seen) {
        return switch (workload) {
            case StatefulSet set ->
                IntStream.range(0, Objects.requireNonNullElse(set.getSpec().getReplicas(), 0))
                        .mapToObj(ordinal -> set.getMetadata().getName() + "-" + ordinal);
            case DaemonSet set ->
                seen.nodes().stream().map(node -> PoolNames.perNodeId(PoolObservation.setName(set), node.name()));
            default -> Stream.empty();
        };
    }

    public Stream<Member> all() {
        return Stream.concat(masters.stream(), storage.stream());
    }

    /** A pod that was replaced may be there beside the one that leaves. */
    public Optional<Member> get(String id) {
        return all().filter(member -> member.id().equals(id)).min(Comparator.comparing(Member::leaving));
    }

    /** It has a pod, and is so. */
    public boolean is(String id, Predicate<Member> so) {
        return get(id).filter(so).isPresent();
    }

    /** One for each id. */
    public Stream<Member> current() {
        return all().filter(member -> is(member.id(), member::equals));
    }

    public boolean isMaster(String id) {
        return missing.contains(id)
                || masters.stream().anyMatch(master -> master.pod().equals(id));
    }

    /** Why a master or storage node has no pod, as far as Kubernetes says. */
    public Optional<String> whyMissing(String id) {
        return Optional.ofNullable(refused.get(id));
    }

    public boolean leads(String pod) {
        return leader.filter(report -> report.name().equals(pod)).isPresent();
    }

    /** It leads, and another master could. */
    public boolean handsOver(Member master) {
        return leads(master.pod()) && masters.size() > 1;
    }

    /** A master leads, serves and answers. */
    public boolean led() {
        return leader.isPresent();
    }

    /** A storage node gives what it holds, as far as is known without a leader. */
    public boolean serves(Member node) {
        return led() ? node.serves() : node.ready();
    }

    /** All that the leader sees; none where there is no leader. */
    public Stream<PoolReport.Node> nodes() {
        return leader.stream().flatMap(report -> report.nodes().stream());
    }

    /** A storage node as the leader sees it, also one without a pod. */
    public Optional<PoolReport.Node> node(String id) {
        return nodes().filter(node -> node.id().equals(id)).findFirst();
    }

    /** The leader sees it, also without a pod, and it is so. */
    public boolean isSeen(String id, Predicate<PoolReport.Node> so) {
        return node(id).filter(so).isPresent();
    }

    /** A storage node that takes what others hold. */
    public Stream<PoolReport.Node> takers(String but) {
        return nodes().filter(node ->
                node.ready() && !node.isTransient() && !node.id().equals(but));
    }

    /** Its process says how it is. */
    public boolean answers(String master) {
        return reports.stream().anyMatch(report -> report.name().equals(master));
    }

    /**
     * What a master lacks of what the leader knows, as the end of a sentence; empty when it lacks nothing, and when none leads. A master is
     * ready also while a storage node has not come to it, for the pool must not wait for a node that is gone; but leadership is not handed
     * to one that would have to wait for what the leader has in view.
     */
    public Optional<String> lack(String master) {
        Set<String> known = reports.stream()
                .filter(report -> report.name().equals(master))
                .flatMap(report -> report.nodes().stream())
                .filter(PoolReport.Node::serves)
                .map(PoolReport.Node::id)
                .collect(Collectors.toSet());
        return nodes().filter(node -> !leads(master) && node.serves())
                .filter(node -> !node.isTransient() && !known.contains(node.id()))
                .map(node ->
                        "has not read the directory of storage node %s, which the leader knows".formatted(node.id()))
                .findFirst();
    }

    /** The first master that lacks something, and what, as a part of a sentence. One whose Kubernetes node is lost takes no leadership. */
    public Optional<String> lack() {
        return masters.stream()
                .filter(master -> !master.isGone())
                .map(Member::pod)
                .flatMap(pod -> lack(pod).map(what -> "master " + pod + " " + what).stream())
                .findFirst();
    }
}
