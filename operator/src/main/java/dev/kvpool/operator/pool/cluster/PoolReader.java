// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.master.MasterReports;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.PortClaim;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Observes a pool once, by asking the API server: for commands, which have no caches that are kept current. */
public final class PoolReader {
    private final KubernetesClient client;
    private final MasterReports masters;
    private final InstantSource clock;

    /**
     * Makes a reader.
     *
     * @param masters is asked by pod name instead of address
     */
    public PoolReader(KubernetesClient client, MasterReports masters, InstantSource clock) {
        this.client = client;
        this.masters = masters;
        this.clock = clock;
    }

    /** All that a decision about the pool is made from. Takes one request for each kind of object. */
    public PoolObservation read(KvCachePool pool) {
        return read(pool, engines(pool));
    }

    /** The same with these transfer engines, if it names them, in the place of those of their names. */
    public PoolObservation changed(KvCachePool pool, List<TransferEngine> changed) {
        Map<String, TransferEngine> engines = new LinkedHashMap<>();
        engines(pool).forEach(engine -> engines.put(engine.getMetadata().getName(), engine));
        changed.stream()
                .filter(engine -> pool.getSpec()
                        .transferEngines()
                        .contains(engine.getMetadata().getName()))
                .forEach(engine -> engines.put(engine.getMetadata().getName(), engine));
        return read(pool, List.copyOf(engines.values()));
    }

    /**
     * What shows how the pool is: its pods, who leads and what masters say. Of its objects there is the Lease alone, and there are no
     * engines, nodes and ports: no decision is made from it.
     *
     * @param pool may have no spec
     * @param lease that of the leadership
     * @param found pods with the pool's label
     */
    public PoolObservation overview(KvCachePool pool, Optional<Lease> lease, List<Pod> found) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        List<HasMetadata> children = lease.stream().map(HasMetadata.class::cast).toList();
        PoolObservation unasked = new PoolObservation(
                pool,
                List.of(),
                children,
                found.stream()
                        .filter(pod -> PoolLabels.OPERATOR.equals(
                                pod.getMetadata().getLabels().get(PoolLabels.MANAGED_BY)))
                        .map(ObservedPod::of)
                        .sorted(Comparator.comparing(ObservedPod::name))
                        .toList(),
                List.of(),
                PoolObservation.Surroundings.UNSEEN,
                PoolObservation.Masters.unasked(Leadership.among(children, pool)),
                now,
                now);
        return unasked.answered(ask(unasked));
    }

    private PoolObservation read(KvCachePool pool, List<TransferEngine> engines) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        List<HasMetadata> children = children(pool);
        List<ObservedPod> pods = ofPool(Pod.class, pool).stream()
                .map(ObservedPod::of)
                .sorted(Comparator.comparing(ObservedPod::name))
                .toList();
        PoolObservation unasked = new PoolObservation(
                pool,
                engines,
                children,
                pods,
                new PodRefusals().of(children, pods, client, now),
                new PoolObservation.Surroundings(
                        nodes(pool, children, pods), portClaims(pool), PoolObserver.podSecurity(pool, engines, client)),
                PoolObservation.Masters.unasked(Leadership.among(children, pool)),
                now,
                now);
        return unasked.answered(ask(unasked));
    }

    /** The objects that the operator made for the pool. */
    public List<HasMetadata> children(KvCachePool pool) {
        List<HasMetadata> children = new ArrayList<>();
        PoolEventSources.CHILD_KINDS.forEach(kind -> children.addAll(ofPool(kind, pool)));
        return children;
    }

    private <T extends HasMetadata> List<T> ofPool(Class<T> kind, KvCachePool pool) {
        return client
                .resources(kind)
                .inNamespace(pool.getMetadata().getNamespace())
                .withLabel(PoolLabels.MANAGED_BY, PoolLabels.OPERATOR)
                .withLabel(PoolLabels.POOL, pool.getMetadata().getName())
                .list()
                .getItems()
                .stream()
                .sorted(Comparator.comparing(object -> object.getMetadata().getName()))
                .toList();
    }

    private List<TransferEngine> engines(KvCachePool pool) {
        return pool.getSpec().transferEngines().stream()
                .map(name -> client.resources(TransferEngine.class)
                        .inNamespace(pool.getMetadata().getNamespace())
                        .withName(name)
                        .get())
                .filter(Objects::nonNull)
                .toList();
    }

    private List<ObservedNode> nodes(KvCachePool pool, List<HasMetadata> children, List<ObservedPod> pods) {
        Set<String> withPods = pods.stream().map(ObservedPod::node).collect(Collectors.toSet());
        boolean all = PoolObserver.concernsAllNodes(pool, children, pods);
        return client.nodes().list().getItems().stream()
                .filter(node -> all || withPods.contains(node.getMetadata().getName()))
                .map(ObservedNode::of)
                .sorted(Comparator.comparing(ObservedNode::name))
                .toList();
    }

    /** Of other pools only those in the namespace of this one: a user may see no others. */
    private List<PortClaim> portClaims(KvCachePool pool) {
        List<PortClaim> claims = new ArrayList<>();
        for (Class<? extends HasMetadata> kind : List.of(StatefulSet.class, DaemonSet.class)) {
            client.resources(kind)
                    .inNamespace(pool.getMetadata().getNamespace())
                    .withLabel(PoolLabels.MANAGED_BY, PoolLabels.OPERATOR)
                    .list()
                    .getItems()
                    .forEach(workload -> PortClaim.of(workload).ifPresent(claims::add));
        }
        claims.sort(PortClaim.ORDER);
        return claims;
    }

    private Map<String, MasterAnswer> ask(PoolObservation seen) {
        Map<String, MasterEndpoint> endpoints = new LinkedHashMap<>();
        seen.pods().stream()
                .filter(pod -> pod.role().equals(PoolLabels.ROLE_MASTER) && pod.started())
                .forEach(pod -> endpoints.put(pod.name(), seen.endpoint(pod, pod.name())));
        return masters.ask(endpoints);
    }
}
