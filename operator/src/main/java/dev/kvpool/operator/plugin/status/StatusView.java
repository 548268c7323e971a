// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.status;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
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
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A pool in detail: what its status says, and what masters and pods say right now. Pure.
 *
 * @param summary which pool it is, and how it is in a sentence
 * @param contents what it holds
 * @param masters one for each master's pod
 * @param nodes storage nodes as the leader sees them; pods alone while no leader can be asked
 * @param notes sentences about storage nodes that only the leader or they could tell
 * @param changes what is under way
 */
public record StatusView(
        @JsonUnwrapped Summary summary,
        LeaderStatus leader,
        FailoverStatus lastFailover,
        @JsonUnwrapped Contents contents,
        List<Master> masters,
        List<Node> nodes,
        List<String> notes,
        @JsonUnwrapped Changes changes,
        List<Condition> conditions) {

    /**
     * A pool in a sentence.
     *
     * @param phase empty when no operator has looked at it yet
     */
    record Summary(String pool, String namespace, String phase, String message) {
        private static Summary of(PoolObservation seen) {
            KvCachePoolStatus status = seen.status();
            return new Summary(
                    seen.names().pool(),
                    seen.names().namespace(),
                    status.phase() == null ? "" : Words.of(status.phase()),
                    status.message() == null ? "No operator has looked at it yet." : status.message());
        }
    }

    /** What runs and what it holds; null where it is not known. */
    record Contents(
            String version,
            String storage,
            String used,
            String capacity,
            Long objects,
            Long unavailableObjects,
            Long underReplicatedObjects) {

        private static Contents of(PoolObservation seen) {
            KvCachePoolStatus status = seen.status();
            Optional<PoolReport.Totals> totals = seen.leaderReport().map(PoolReport::totals);
            return new Contents(
                    status.version() == null ? null : status.version().running(),
                    status.storage() == null ? null : status.storage().summary(),
                    status.used() == null ? null : status.used().toString(),
                    status.capacity() == null ? null : status.capacity().toString(),
                    status.objects(),
                    totals.map(PoolReport.Totals::unavailableObjects).orElse(null),
                    totals.map(PoolReport.Totals::underReplicatedObjects).orElse(null));
        }
    }

    /** What is under way. */
    record Changes(RollStatus roll, List<StepStatus> steps) {}

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
                Summary.of(seen),
                seen.leadership()
                        .map(leader -> new LeaderStatus(leader.pod(), leader.epoch()))
                        .orElse(null),
                status.lastFailover(),
                Contents.of(seen),
                seen.pods(PoolLabels.ROLE_MASTER).stream()
                        .map(pod -> master(pod, seen))
                        .toList(),
                nodes(seen),
                Stream.concat(behind(seen), notes.stream()).toList(),
                new Changes(status.roll(), status.steps()),
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
                        Objects.requireNonNullElse(node.build().product(), ""),
                        node.isTransient()))
                .toList();
    }
}
