// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.status;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.FailoverStatus;
import dev.kvpool.api.v1alpha1.status.LeaderStatus;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.plugin.output.Words;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A pool in detail: what its status says, and what masters and pods say right now. Pure.
 *
 * @param phase empty when no operator has looked at it yet
 * @param masters one for each master's pod
 * @param nodes storage nodes as the leader sees them; pods alone while no leader can be asked
 * @param notes sentences about storage nodes that only the leader or they could tell
 */
public record StatusView(
        String pool,
        String namespace,
        String phase,
        String message,
        LeaderStatus leader,
        FailoverStatus lastFailover,
        String version,
        String storage,
        String used,
        String capacity,
        Long objects,
        Long unavailableObjects,
        Long underReplicatedObjects,
        List<Master> masters,
        List<Node> nodes,
        List<String> notes,
        RollStatus roll,
        List<StepStatus> steps,
        List<Condition> conditions) {

    /**
     * A master.
     *
     * @param says its state, or why it could not be asked
     */
    record Master(String pod, String says, long epoch, String product, String node, int restarts) {}

    /** A storage node; a pod of which no leader knows has the state {@code unknown}. */
    record Node(
            String id, String state, String reason, long objects, long usedBytes, String product, boolean inClient) {}

    public static StatusView of(PoolObservation seen, List<String> notes) {
        KvCachePoolStatus status = seen.status();
        return new StatusView(
                seen.names().pool(),
                seen.names().namespace(),
                status.phase() == null ? "" : Words.of(status.phase()),
                status.message() == null ? "No operator has looked at it yet." : status.message(),
                seen.leadership()
                        .map(leader -> new LeaderStatus(leader.pod(), leader.epoch()))
                        .orElse(null),
                status.lastFailover(),
                status.version() == null ? null : status.version().running(),
                status.storage() == null ? null : status.storage().summary(),
                status.used() == null ? null : status.used().toString(),
                status.capacity() == null ? null : status.capacity().toString(),
                status.objects(),
                seen.leaderReport().map(PoolReport::unavailableObjects).orElse(null),
                seen.leaderReport().map(PoolReport::underReplicatedObjects).orElse(null),
                seen.pods(PoolLabels.ROLE_MASTER).stream()
                        .map(pod -> master(pod, seen))
                        .toList(),
                nodes(seen),
                Stream.concat(behind(seen), notes.stream()).toList(),
                status.roll(),
                status.steps(),
                status.conditions());
    }

    private static Stream<String> behind(PoolObservation seen) {
        return seen
                .leaderReport()
                .map(report -> report.register().sentence().strip())
                .filter(sentence -> !sentence.isEmpty())
                .stream();
    }

    private static Master master(ObservedPod pod, PoolObservation seen) {
        return switch (seen.answers().get(pod.name())) {
            case MasterAnswer.Report(PoolReport report) ->
                new Master(pod.name(), report.state(), report.epoch(), product(report), pod.node(), pod.restarts());
            case MasterAnswer.Silent(String reason) -> unasked(pod, reason);
            case null -> unasked(pod, pod.trouble().isEmpty() ? "it does not run" : pod.trouble());
        };
    }

    private static Master unasked(ObservedPod pod, String why) {
        return new Master(pod.name(), why, 0, "", pod.node(), pod.restarts());
    }

    private static String product(PoolReport report) {
        return Optional.ofNullable(report.version())
                .map(PoolReport.Version::product)
                .orElse("");
    }

    private static List<Node> nodes(PoolObservation seen) {
        Optional<PoolReport> leader = seen.leaderReport();
        if (leader.isEmpty()) {
            return seen.pods(PoolLabels.ROLE_STORAGE).stream()
                    .map(pod -> new Node(pod.nodeId(), "unknown", pod.trouble(), 0, 0, "", false))
                    .toList();
        }
        return leader.get().nodes().stream()
                .map(node -> new Node(
                        node.id(),
                        node.state(),
                        node.reason(),
                        node.objects(),
                        node.usedBytes(),
                        node.product() == null ? "" : node.product(),
                        node.isTransient()))
                .toList();
    }
}
