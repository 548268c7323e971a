// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.identity.text.Quoted;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedJob;
import dev.kvpool.operator.pool.observation.ObservedPod;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.events.v1.Event;
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
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Why Kubernetes cannot create pods of a pool, such as a quota, an admission webhook or a claim. Its controllers say so in events of the workload
 * and nowhere else, so these are asked for while a workload lacks pods.
 */
final class PodRefusals {
    /** Controllers try again after 16 minutes at the latest. */
    private static final Duration FRESH = Duration.ofMinutes(20);

    /** Pods of a workload that was made a moment ago are on their way: nothing is asked while many pools are made. */
    private static final Duration FIRST_PODS = Duration.ofSeconds(10);

    private static final Pattern PREFIX = Pattern.compile("^(?:create .{1,600}? failed error|Error creating): ");

    private PodRefusals() {}

    /** What was said last, by title of the workload. */
    static Map<String, String> of(
            List<HasMetadata> children, List<ObservedPod> pods, KubernetesClient client, Instant now) {
        Map<String, String> refusals = new TreeMap<>();
        children.stream()
                .filter(child -> lacksPods(child, pods) && isOlderThan(FIRST_PODS, child, now))
                .forEach(child ->
                        ofWorkload(child, client, now).ifPresent(why -> refusals.put(ObjectTitle.of(child), why)));
        return refusals;
    }

    private static boolean lacksPods(HasMetadata child, List<ObservedPod> pods) {
        Set<String> there = pods.stream().map(ObservedPod::name).collect(Collectors.toSet());
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

    private static Optional<String> ofWorkload(HasMetadata child, KubernetesClient client, Instant now) {
        try {
            List<Event> events = client.events()
                    .v1()
                    .events()
                    .inNamespace(child.getMetadata().getNamespace())
                    .withField("regarding.uid", child.getMetadata().getUid())
                    .list()
                    .getItems();
            // What kept one away keeps others away no more once one has been created.
            Instant created = events.stream()
                    .filter(event -> "SuccessfulCreate".equals(event.getReason()))
                    .map(PodRefusals::lastSeen)
                    .max(Comparator.naturalOrder())
                    .orElse(Instant.EPOCH);
            return events.stream()
                    .filter(event -> "FailedCreate".equals(event.getReason()) && event.getNote() != null)
                    .filter(event -> lastSeen(event).isAfter(created))
                    .filter(event -> Duration.between(lastSeen(event), now).compareTo(FRESH) < 0)
                    .max(Comparator.comparing(PodRefusals::lastSeen))
                    .map(event -> Quoted.cut(
                            PREFIX.matcher(event.getNote()).replaceFirst("").strip()));
        } catch (KubernetesClientException e) {
            // A cause that cannot be had, as for a user who may see no events, keeps nothing from being decided.
            return Optional.empty();
        }
    }

    private static Instant lastSeen(Event event) {
        return Stream.of(
                        Optional.ofNullable(event.getSeries())
                                .map(series -> series.getLastObservedTime())
                                .map(time -> time.getTime()),
                        Optional.ofNullable(event.getDeprecatedLastTimestamp()),
                        Optional.ofNullable(event.getEventTime()).map(time -> time.getTime()),
                        Optional.ofNullable(event.getMetadata().getCreationTimestamp()))
                .flatMap(Optional::stream)
                .map(Instant::parse)
                .max(Comparator.naturalOrder())
                .orElse(Instant.EPOCH);
    }
}
