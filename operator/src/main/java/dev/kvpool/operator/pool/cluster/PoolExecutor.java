// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.master.MasterClient;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.DeadLeader;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.plan.PlannedChildren;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.transition.Action;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/**
 * Carries out a plan. A failure with one object does not keep the others from being made; it is reported, and the next round tries
 * again.
 */
public final class PoolExecutor {
    /** The longest there is: the operator decides when it makes no progress any more. */
    private static final Duration DRAIN_TIMEOUT = Duration.ofHours(24);

    private final Context<KvCachePool> context;
    private final PoolObservation seen;
    private final MasterClient masters;
    private final List<String> changes = new ArrayList<>();
    private final List<Finding> failures = new ArrayList<>();
    private Optional<String> binding = Optional.empty();

    private PoolExecutor(PoolObservation seen, MasterClient masters, Context<KvCachePool> context) {
        this.seen = seen;
        this.masters = masters;
        this.context = context;
    }

    public static Outcome execute(
            PoolPlan plan,
            PoolObservation seen,
            MasterClient masters,
            MatchedChildren matched,
            Context<KvCachePool> context) {
        PoolExecutor executor = new PoolExecutor(seen, masters, context);
        // First: clients wait for the next leader.
        plan.leader().dead().ifPresent(executor::tellOthers);
        plan.children().ifPresent(children -> executor.apply(children, matched));
        plan.binding().ifPresent(secret -> executor.attempt(secret, () -> executor.create(secret)));
        plan.delete().forEach(child -> executor.attempt(child, () -> executor.delete(child)));
        plan.actions().forEach(executor::act);
        seen.pods(PoolLabels.ROLE_MASTER)
                .forEach(pod -> executor.label(
                        pod,
                        PoolLabels.LEADER,
                        pod.leaderLabel(),
                        plan.leader().pod().filter(pod.name()::equals).isPresent()));
        seen.pods(PoolLabels.ROLE_STORAGE)
                .forEach(pod -> executor.label(
                        pod,
                        PoolLabels.EVICTABLE,
                        pod.evictable(),
                        plan.transitions().evictable().contains(pod.name())));
        return new Outcome(executor.changes, executor.failures, executor.binding);
    }

    /** A master that cannot be told learns it from the storage nodes, or waits until the Lease runs out: no failure of ours. */
    private void tellOthers(DeadLeader dead) {
        List<MasterEndpoint> others =
                dead.others().stream().map(pod -> seen.endpoint(pod, pod.ip())).toList();
        Leadership leadership = dead.leadership();
        masters.leaderGone(
                others,
                leadership.holder(),
                leadership.epoch(),
                PoolNames.endpoint(dead.pod().ip(), PoolNames.MASTER_PORT));
    }

    private void attempt(HasMetadata child, Runnable action) {
        try {
            action.run();
        } catch (KubernetesClientException e) {
            failures.add(ApiWords.notChanged(child, e));
        }
    }

    private void apply(PlannedChildren children, MatchedChildren matched) {
        ChildApplier.Applied applied = ChildApplier.apply(children, seen, matched, context);
        applied.changed().stream().map(ObjectTitle::of).forEach(changes::add);
        failures.addAll(applied.failures());
        applied.changed().stream()
                .filter(ConfigMap.class::isInstance)
                .map(ConfigMap.class::cast)
                .filter(map -> map.getMetadata().getName().equals(seen.names().poolConfigMap()))
                .findFirst()
                .ifPresent(this::hurryFiles);
    }

    /** A hint: when it is lost the files of the masters are up to date a minute or two later. */
    private void hurryFiles(ConfigMap changed) {
        String digest = UUID.nameUUIDFromBytes(changed.getData().toString().getBytes(StandardCharsets.UTF_8))
                .toString();
        seen.pods(PoolLabels.ROLE_MASTER)
                .forEach(observed -> patch(observed, "annotations", PoolLabels.FILES, "\"" + digest + "\""));
    }

    /** One of its name has what it has, as the name follows from that. */
    private void create(Secret secret) {
        try {
            client().resource(secret).create();
            changes.add(ObjectTitle.of(secret));
        } catch (KubernetesClientException e) {
            if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
                throw e;
            }
        }
        binding = Optional.of(secret.getMetadata().getName());
    }

    private void delete(HasMetadata child) {
        if (ExactDeletion.delete(client(), child)) {
            changes.add(ObjectTitle.of(child));
        }
    }

    private void act(Action action) {
        switch (action) {
            case Action.SetImage(String name, String uid, String image) ->
                podOf(uid).ifPresent(pod -> attempt(pod, () -> setImage(pod, image)));
            case Action.DeletePod(String name, String uid) ->
                podOf(uid).ifPresent(pod -> attempt(pod, () -> delete(pod)));
            case Action.HandOver(String name) -> tellLeader(name, "hand over", masters::handOver);
            case Action.Finalise(int wire, int layout, boolean ignoreClients) ->
                tellLeader(
                        "change to wire version %d and segment layout %d".formatted(wire, layout),
                        address -> masters.finalise(address, wire, layout, ignoreClients));
            case Action.Empty(String node, boolean clear) ->
                tellLeader(
                        "empty " + node,
                        address -> clear
                                ? masters.clear(address, node, DRAIN_TIMEOUT)
                                : masters.drain(address, node, DRAIN_TIMEOUT));
            case Action.Cancel(String node) ->
                tellLeader("take " + node + " back", address -> masters.cancelDrain(address, node));
        }
    }

    private void tellLeader(String what, Function<MasterEndpoint, Optional<String>> command) {
        seen.leaderReport().ifPresent(leader -> tellLeader(leader.name(), what, command));
    }

    /** In the pod as it is: its memory, its address and its place stay. */
    private void setImage(Pod pod, String image) {
        String container = OwnContainer.name(pod.getMetadata().getLabels().getOrDefault(PoolLabels.ROLE, ""));
        String patch = """
                {"metadata": {"uid": "%s", "annotations": {"%s": "%s"}}, "spec": {"containers": [{"name": "%s", "image": "%s"}]}}
                """.formatted(pod.getMetadata().getUid(), PoolLabels.IMAGE, image, container, image);
        client().resource(pod).patch(PatchContext.of(PatchType.STRATEGIC_MERGE), patch);
        changes.add("image of " + ObjectTitle.of(pod));
    }

    private void tellLeader(String name, String what, Function<MasterEndpoint, Optional<String>> command) {
        seen.pods(PoolLabels.ROLE_MASTER).stream()
                .filter(pod -> pod.name().equals(name) && !pod.ip().isEmpty())
                .findFirst()
                .flatMap(pod -> command.apply(seen.endpoint(pod, pod.ip())))
                .ifPresent(why -> failures.add(
                        new Finding(Reason.APPLY_FAILED, "%s did not %s: %s.".formatted(name, what, why))));
    }

    private void label(ObservedPod observed, String label, boolean has, boolean wanted) {
        if (has == wanted) {
            return;
        }
        patch(observed, "labels", label, wanted ? "\"true\"" : "null");
    }

    private void patch(ObservedPod observed, String where, String name, String value) {
        // The UID makes the API server refuse the change when the pod was replaced by another of its name.
        String patch =
                "{\"metadata\":{\"uid\":\"%s\",\"%s\":{\"%s\":%s}}}".formatted(observed.uid(), where, name, value);
        pod(observed)
                .ifPresent(pod -> attempt(pod, () -> {
                    client().resource(pod).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
                    changes.add(ObjectTitle.of(pod));
                }));
    }

    private Optional<Pod> pod(ObservedPod observed) {
        return podOf(observed.uid());
    }

    private Optional<Pod> podOf(String uid) {
        return PoolEventSources.ofPool(Pod.class, seen.pool(), context).stream()
                .filter(pod -> pod.getMetadata().getUid().equals(uid))
                .findFirst();
    }

    private KubernetesClient client() {
        return context.getClient();
    }
}
