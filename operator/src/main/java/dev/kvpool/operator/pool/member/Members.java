// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.member;

import dev.kvpool.operator.master.MasterAnswer;
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
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The masters and storage nodes of a pool that have pods.
 *
 * @param masters masters, by name
 * @param storage storage nodes, by id
 * @param missing names of masters that have no pod and shall have one
 * @param refused why masters and storage nodes have no pod, by name or id, as far as Kubernetes says
 * @param answering pods of masters that answered
 * @param reports what each master that answered says
 * @param leader what the leader says, when it leads, serves and answers
 */
public record Members(
        List<Member> masters,
        List<Member> storage,
        Set<String> missing,
        Map<String, String> refused,
        Set<String> answering,
        List<PoolReport> reports,
        Optional<PoolReport> leader) {

    public Members {
        masters = List.copyOf(masters);
        storage = List.copyOf(storage);
        missing = Set.copyOf(missing);
        refused = Map.copyOf(refused);
        answering = Set.copyOf(answering);
        reports = List.copyOf(reports);
    }

    public static Members of(PoolObservation seen) {
        Set<String> lost = seen.lostNodes();
        List<Member> masters = members(seen, PoolLabels.ROLE_MASTER, lost);
        return new Members(
                masters,
                members(seen, PoolLabels.ROLE_STORAGE, lost),
                missing(seen, masters),
                refused(seen),
                seen.answers().entrySet().stream()
                        .filter(answer -> answer.getValue() instanceof MasterAnswer.Report)
                        .map(Map.Entry::getKey)
                        .collect(Collectors.toSet()),
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
                        seen.leaderReport().flatMap(report -> node(report, pod.nodeId()))))
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
        Class<? extends HasMetadata> kind = pod.perNode() ? DaemonSet.class : StatefulSet.class;
        return pod.role().equals(PoolLabels.ROLE_STORAGE)
                && seen.storageWorkloads(kind).stream()
                        .filter(workload -> PoolObservation.setName(workload).equals(pod.set()))
                        .anyMatch(StoragePlan::outlivesPods);
    }

    private static Set<String> missing(PoolObservation seen, List<Member> masters) {
        int wanted = seen.children().stream()
                .filter(child -> child instanceof StatefulSet
                        && child.getMetadata().getName().equals(seen.names().masters()))
                .map(child -> ((StatefulSet) child).getSpec().getReplicas())
                .mapToInt(replicas -> replicas == null ? 0 : replicas)
                .map(replicas -> Math.min(replicas, seen.spec().masters().replicas()))
                .findFirst()
                .orElse(0);
        Set<String> missing = IntStream.range(0, wanted)
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

    /** A storage node as the leader sees it, also one without a pod. */
    public Optional<PoolReport.Node> node(String id) {
        return leader.flatMap(report -> node(report, id));
    }

    private static Optional<PoolReport.Node> node(PoolReport report, String id) {
        return report.nodes().stream().filter(node -> node.id().equals(id)).findFirst();
    }
}
