// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedJob;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.Refusal;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Why Kubernetes cannot create pods of a pool. Its controllers say so in events of the workload and nowhere else, so these are asked for while a
 * workload lacks pods: for an API server that is to read all events of a namespace, so that it is asked once in a while for all pools there.
 */
final class PodRefusals {
    private static final Duration FRESH = Duration.ofSeconds(10);

    /** Of namespaces whose pools lack nothing, nothing is kept. */
    private static final Duration KEPT = Duration.ofMinutes(10);

    /** Pods of a workload that was made a moment ago are on their way: nothing is asked while many pools are made. */
    private static final Duration FIRST_PODS = Duration.ofSeconds(10);

    private static final String FAILED = "FailedCreate";
    private static final String CREATED = "SuccessfulCreate";

    private final Map<String, Read> read = new ConcurrentHashMap<>();

    private record Read(List<Refusal.Told> told, Instant at) {
        boolean isYoungerThan(Duration age, Instant now) {
            return Duration.between(at, now).compareTo(age) < 0;
        }
    }

    List<Refusal> of(List<HasMetadata> children, List<ObservedPod> pods, KubernetesClient client, Instant now) {
        Set<String> there = pods.stream().map(ObservedPod::name).collect(Collectors.toSet());
        return children.stream()
                .filter(child -> lacksPods(child, there) && isOlderThan(FIRST_PODS, child, now))
                .flatMap(
                        child -> Refusal.of(child, told(child.getMetadata().getNamespace(), client, now), now).stream())
                .filter(refusal -> !there.contains(refusal.pod()))
                .toList();
    }

    private static boolean lacksPods(HasMetadata child, Set<String> there) {
        String name = child.getMetadata().getName();
        return switch (child) {
            case StatefulSet set ->
                IntStream.range(0, Objects.requireNonNullElse(set.getSpec().getReplicas(), 1))
                        .anyMatch(ordinal -> !there.contains(name + "-" + ordinal));
            case DaemonSet set ->
                set.getStatus() != null
                        && count(set.getStatus().getCurrentNumberScheduled())
                                < count(set.getStatus().getDesiredNumberScheduled());
            case Job job
            when ObservedJob.hasRole(job, PoolLabels.ROLE_PREFLIGHT) ->
                there.stream().noneMatch(pod -> pod.startsWith(name + "-"))
                        && (job.getStatus() == null
                                || job.getStatus().getConditions().isEmpty());
            default -> false;
        };
    }

    private static boolean isOlderThan(Duration age, HasMetadata child, Instant now) {
        Instant created = Instant.parse(child.getMetadata().getCreationTimestamp());
        return Duration.between(created, now).compareTo(age) >= 0;
    }

    private static int count(Integer number) {
        return Objects.requireNonNullElse(number, 0);
    }

    private List<Refusal.Told> told(String namespace, KubernetesClient client, Instant now) {
        Read before = read.get(namespace);
        if (before != null && before.isYoungerThan(FRESH, now)) {
            return before.told();
        }
        read.values().removeIf(old -> !old.isYoungerThan(KEPT, now));
        // Others take what was said before while this one asks, and so does this one where it gets no answer.
        List<Refusal.Told> known = before == null ? List.of() : before.told();
        read.put(namespace, new Read(known, now));
        List<Refusal.Told> told = ask(namespace, client).orElse(known);
        read.put(namespace, new Read(told, now));
        return told;
    }

    /** What was created concerns none where nothing was refused. Empty: there was no answer, as for a user who may see no events. */
    private static Optional<List<Refusal.Told>> ask(String namespace, KubernetesClient client) {
        try {
            List<Refusal.Told> refused = ask(namespace, FAILED, client);
            return Optional.of(
                    refused.isEmpty()
                            ? refused
                            : Stream.concat(refused.stream(), ask(namespace, CREATED, client).stream())
                                    .toList());
        } catch (KubernetesClientException e) {
            return Optional.empty();
        }
    }

    private static List<Refusal.Told> ask(String namespace, String reason, KubernetesClient client) {
        return client.v1().events().inNamespace(namespace).withField("reason", reason).list().getItems().stream()
                .filter(event -> event.getMessage() != null)
                .map(event -> new Refusal.Told(
                        event.getInvolvedObject().getUid(),
                        reason.equals(CREATED),
                        event.getMessage(),
                        lastSeen(event)))
                .filter(told -> told.of() != null)
                .toList();
    }

    private static Instant lastSeen(Event event) {
        return Stream.of(
                        Optional.ofNullable(event.getSeries())
                                .map(series -> series.getLastObservedTime())
                                .map(time -> time.getTime()),
                        Optional.ofNullable(event.getLastTimestamp()),
                        Optional.ofNullable(event.getEventTime()).map(time -> time.getTime()),
                        Optional.ofNullable(event.getMetadata().getCreationTimestamp()))
                .flatMap(Optional::stream)
                .map(Instant::parse)
                .max(Comparator.naturalOrder())
                .orElse(Instant.EPOCH);
    }
}
