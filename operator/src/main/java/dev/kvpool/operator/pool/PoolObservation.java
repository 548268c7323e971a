// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Everything a decision about a pool is made from, seen at one time.
 *
 * @param pool the custom resource
 * @param engine the transfer engine it names; empty when it names none or there is none of that name
 * @param children its objects, as far as the operator makes them
 * @param pods its pods
 * @param leadership who holds the Lease
 * @param answers what each master that has an address said, by pod name
 */
public record PoolObservation(
        KvCachePool pool,
        Optional<TransferEngine> engine,
        List<HasMetadata> children,
        List<ObservedPod> pods,
        Optional<Leadership> leadership,
        Map<String, MasterAnswer> answers) {

    public PoolObservation {
        children = List.copyOf(children);
        pods = List.copyOf(pods);
        answers = Map.copyOf(answers);
    }

    public KvCachePoolSpec spec() {
        return pool.getSpec();
    }

    public KvCachePoolStatus status() {
        return Objects.requireNonNullElse(pool.getStatus(), KvCachePoolStatus.EMPTY);
    }

    public PoolNames names() {
        return new PoolNames(pool.getMetadata().getName(), pool.getMetadata().getNamespace());
    }

    public List<ObservedPod> pods(String role) {
        return pods.stream().filter(pod -> pod.role().equals(role)).toList();
    }

    public List<ObservedPod> podsOfSet(String set) {
        return pods.stream().filter(pod -> pod.set().equals(set)).toList();
    }

    /** The StatefulSets of storage sets, also of sets that are no longer in the spec. */
    public List<StatefulSet> storageSets() {
        return children.stream()
                .filter(StatefulSet.class::isInstance)
                .map(StatefulSet.class::cast)
                .filter(set -> set.getMetadata().getLabels().containsKey(PoolLabels.SET))
                .toList();
    }

    /** What the leader says, when it leads, serves and answers. */
    public Optional<PoolReport> leaderReport() {
        return leadership
                .map(Leadership::pod)
                .map(answers::get)
                .filter(MasterAnswer.Report.class::isInstance)
                .map(answer -> ((MasterAnswer.Report) answer).report())
                .filter(PoolReport::leads);
    }

    /** All reports, by any master. */
    public List<PoolReport> reports() {
        return answers.values().stream()
                .filter(MasterAnswer.Report.class::isInstance)
                .map(answer -> ((MasterAnswer.Report) answer).report())
                .toList();
    }
}
