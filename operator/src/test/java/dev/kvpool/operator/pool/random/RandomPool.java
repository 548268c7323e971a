// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.random;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.api.v1alpha1.storage.LeftoverPolicy;
import dev.kvpool.operator.pool.PlainSpec;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedJob;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.ObservedPull;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PodContainer;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.PreflightAnswer;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.plan.PlannedChildren;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.plan.PoolPlanner;
import dev.kvpool.operator.pool.random.RandomCluster.End;
import dev.kvpool.operator.pool.random.RandomCluster.Pod;
import dev.kvpool.operator.pool.report.PoolStatus;
import dev.kvpool.operator.pool.transition.Action;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A pool as its user, the API server and the operator have it: the spec, the objects that were made, and one look after another that
 * begins with nothing but these and the status.
 */
final class RandomPool {
    static final Duration DRAIN_TIMEOUT = Duration.ofMinutes(10);
    static final Duration NODE_TIMEOUT = Duration.ofMinutes(30);
    static final String FIRST_IMAGE = "kvpool:1";

    private static final String NAME = "demo";
    private static final OperatorSettings SETTINGS = new OperatorSettings(FIRST_IMAGE, "1", "kvpool-system");
    private static final Outcome DONE = new Outcome(List.of(), List.of());
    private static final KubernetesSerialization YAML = new KubernetesSerialization();
    private static final TransferEngine ENGINE = resource(
            "TransferEngine",
            "{protocols: [shm, tcp], socketDirectory: /run/kvpool, agents: {}}",
            TransferEngine.class);

    final RandomData data;
    final RandomCluster cluster;
    final Rules rules;

    // The spec.
    int masters;
    final Map<String, Integer> replicas = new TreeMap<>();
    final Map<String, Integer> capacity = new TreeMap<>();
    boolean perNode;

    /** Sets, or the role of masters, whose settings keep pods from getting ready. */
    final Set<String> broken = new TreeSet<>();

    String image = FIRST_IMAGE;
    DataLossPolicy onDataLoss;
    LeftoverPolicy onLeftovers;
    int maxUnavailable;
    boolean paused;
    boolean upgradePaused;
    final Map<String, String> annotations = new TreeMap<>();

    /** What a preflight Job answers. */
    String verdict = "rolling-warm";

    private final Map<String, HasMetadata> children = new TreeMap<>();
    private Optional<PlannedChildren> planned = Optional.empty();
    private KvCachePoolStatus status;
    private KvCachePoolStatus before;
    private Instant now = Instant.parse("2026-01-01T12:00:00Z");
    private Instant operatorSince = now;
    private long generation;
    private boolean takesWrites = true;
    private String appliedSpec = "";
    private KvCachePoolSpec spec;

    RandomPool(Random random, int hosts) {
        this.data = new RandomData(random);
        this.rules = new Rules(this);
        this.cluster = new RandomCluster(hosts, random, data, rules);
        data.of(cluster);
    }

    Instant now() {
        return now;
    }

    /** That of the present leadership. */
    long epoch() {
        return data.leadership().map(Leadership::epoch).orElse(0L);
    }

    KvCachePoolStatus status() {
        return status;
    }

    /** A look of the operator, and a little time. */
    void round() {
        look(status, true);
        tick();
    }

    /** The operator dies after it acted, before it wrote the status; another one comes. */
    void roundCutShort() {
        look(status, false);
        tick();
        operatorSince = now;
        status = status == null ? null : YAML.clone(status);
    }

    /** The operator decides from the status before the stored one: what it writes is refused. */
    void roundWithStaleStatus() {
        look(before, false);
        tick();
    }

    /** The API server takes no writes of the operator, and what leaders are told arrives all the same. */
    void roundInOutage() {
        takesWrites = false;
        look(status, false);
        takesWrites = true;
        tick();
    }

    void later(Duration time) {
        now = now.plus(time);
    }

    private void tick() {
        now = now.plusSeconds(5);
        cluster.tick(children.values(), now);
        data.tick(now);
        rules.tick();
    }

    private void look(KvCachePoolStatus from, boolean written) {
        KvCachePool pool = pool();
        pool.setStatus(from);
        PoolObservation seen = new PoolObservation(
                pool,
                List.of(ENGINE),
                List.copyOf(children.values()),
                pods(),
                cluster.refusals(children.values()),
                new PoolObservation.Surroundings(cluster.nodes(), List.of(), Optional.empty()),
                new PoolObservation.Masters(data.leadership(), data.answers()),
                operatorSince,
                now);
        List<Finding> problems = PoolValidator.validate(seen, SETTINGS);
        PoolPlan plan = new PoolPlanner(SETTINGS).plan(seen, problems);
        rules.look(seen.status(), plan.transitions().steps());
        execute(plan);
        if (written) {
            before = status;
            status = new PoolStatus(SETTINGS).next(seen, problems, plan, DONE);
        }
    }

    /** Names of the masters and ids of the storage nodes that the spec wants. */
    Set<String> wanted() {
        Set<String> wanted = new TreeSet<>();
        for (int i = 0; i < masters; i++) {
            wanted.add(NAME + "-master-" + i);
        }
        replicas.forEach((set, count) -> {
            for (int i = 0; i < count; i++) {
                wanted.add("%s-%s-%d".formatted(NAME, set, i));
            }
        });
        if (perNode) {
            cluster.hosts.keySet().forEach(host -> wanted.add(PoolNames.perNodeId("p", host)));
        }
        return wanted;
    }

    private void execute(PoolPlan plan) {
        if (!takesWrites) {
            plan.actions().stream()
                    .filter(action -> !(action instanceof Action.SetImage || action instanceof Action.DeletePod))
                    .forEach(this::act);
            return;
        }
        plan.children().filter(next -> !planned.equals(Optional.of(next))).ifPresent(next -> {
            planned = Optional.of(next);
            next.make().forEach(child -> {
                if (child instanceof Job) {
                    child.getMetadata().setCreationTimestamp(now.toString());
                }
                children.put(key(child), child);
            });
        });
        plan.delete().forEach(child -> children.remove(key(child)));
        rules.released(plan.transitions().released());
        plan.actions().forEach(this::act);
        plan.children().ifPresent(any -> data.expect(plan.expectedNodes()));
        for (Pod pod : cluster.pods()) {
            boolean evictable = plan.transitions().evictable().contains(pod.name);
            if (evictable && !pod.evictable) {
                rules.evictable(pod);
            }
            pod.evictable = evictable;
        }
    }

    private void act(Action action) {
        switch (action) {
            case Action.SetImage(String name, String uid, String other) ->
                cluster.of(uid).ifPresent(pod -> {
                    rules.setImage(pod, other);
                    pod.wished = other;
                });
            case Action.DeletePod(String name, String uid) ->
                cluster.of(uid).ifPresent(pod -> cluster.delete(pod, End.DELETED));
            case Action.HandOver(String name) -> {
                rules.handOver(name);
                data.handOver(name, now);
            }
            case Action.Empty(String node, boolean clear) -> {
                rules.empty(node);
                data.empty(node, clear);
            }
            case Action.Cancel(String node) -> data.cancel(node);
            case Action.Finalise finalise -> throw new Rules.Broken("nothing is to be raised: " + finalise);
        }
    }

    private List<ObservedPod> pods() {
        List<ObservedPod> pods = new ArrayList<>();
        cluster.pods().forEach(pod -> pods.add(cluster.observed(pod, now)));
        List<HasMetadata> all = List.copyOf(children.values());
        ObservedJob.withRole(all, PoolLabels.ROLE_PREFLIGHT)
                .forEach(job -> pods.add(ended(
                        job,
                        PoolLabels.ROLE_PREFLIGHT,
                        "",
                        "{\"verdict\": \"%s\", \"reason\": \"so it is\"}".formatted(verdict))));
        ObservedJob.withRole(all, PoolLabels.ROLE_PULL)
                .forEach(job -> pods.add(ended(job, PoolLabels.ROLE_PULL, ObservedPull.node(job), "")));
        return pods;
    }

    private ObservedPod ended(Job job, String role, String node, String message) {
        String of = PreflightAnswer.image(job);
        String name = job.getMetadata().getName();
        return PoolSketch.seen(name + "-x", "uid of " + name, role, "")
                .with("ready", false)
                .with("node", node)
                .with("image", of)
                .with("specImage", of)
                .with("ended", Optional.of(new PodContainer.Ended(0, message)))
                .with("running", of)
                .build();
    }

    /** Something is left on a storage node that goes, and condition Draining says so. */
    boolean hasLeftovers(String id) {
        return status.steps().stream()
                .anyMatch(step -> step.of().equals(id)
                        && step.because() == StepCause.SCALE_DOWN
                        && step.state() == StepState.LEFTOVERS);
    }

    /** Whether everything is as the spec says, and nothing goes on. */
    boolean isAsWanted() {
        return unlike().isEmpty();
    }

    /** What is not as the spec says, in words. */
    List<String> unlike() {
        List<String> unlike = new ArrayList<>();
        if (status == null || status.roll() != null || !status.steps().isEmpty()) {
            unlike.add(status == null ? "no status" : "roll " + status.roll() + ", steps " + status.steps());
        }
        int count = 0;
        for (HasMetadata child : children.values()) {
            String settings = settings(child);
            int want = child instanceof StatefulSet set ? set.getSpec().getReplicas() : 0;
            count += want;
            for (Pod pod : cluster.pods()) {
                boolean itsOwn = pod.name.startsWith(child.getMetadata().getName() + "-");
                if (itsOwn && !settings.isEmpty() && !pod.settings.equals(settings)) {
                    unlike.add(pod.name + " has other settings");
                }
            }
        }
        for (Pod pod : cluster.pods()) {
            count -= pod.perNode ? 0 : 1;
            if (!pod.ready || !pod.wished.equals(image) || !pod.running.equals(image)) {
                unlike.add(pod.name + " is not ready with the image, on " + pod.host + " with " + pod.running);
            }
        }
        int wanted = masters + replicas.values().stream().mapToInt(it -> it).sum();
        long there = cluster.pods().stream().filter(pod -> !pod.perNode).count();
        if (count != 0 || there != wanted) {
            unlike.add("%d pods of %d".formatted(there, wanted));
        }
        if (data.empties()) {
            unlike.add("something is being emptied");
        }
        return unlike;
    }

    private static String settings(HasMetadata child) {
        return switch (child) {
            case StatefulSet set ->
                set.getSpec().getTemplate().getMetadata().getAnnotations().get(PoolLabels.SETTINGS);
            case DaemonSet set ->
                set.getSpec().getTemplate().getMetadata().getAnnotations().getOrDefault(PoolLabels.SETTINGS, "");
            default -> "";
        };
    }

    private static String key(HasMetadata child) {
        return child.getKind() + "/" + child.getMetadata().getName();
    }

    private KvCachePool pool() {
        String text = spec();
        if (!text.equals(appliedSpec)) {
            appliedSpec = text;
            generation++;
            spec = resource("KvCachePool", text, KvCachePool.class).getSpec();
        }
        KvCachePool pool = new KvCachePool();
        pool.getMetadata().setName(NAME);
        pool.getMetadata().setNamespace("ns");
        pool.getMetadata().setUid("11111111-2222-3333-4444-555555555555");
        pool.getMetadata().setGeneration(generation);
        pool.getMetadata().setAnnotations(new TreeMap<>(annotations));
        pool.setSpec(spec);
        return pool;
    }

    private String spec() {
        String sets = replicas.keySet().stream()
                .map(set -> "{name: %s, capacity: %dGi, replicas: %d%s%s}"
                        .formatted(
                                set,
                                capacity.getOrDefault(set, 1),
                                replicas.get(set),
                                template(set),
                                set.equals("v") ? ", volume: {type: persistentVolumeClaim}" : ""))
                .collect(Collectors.joining(", "));
        String each =
                "{name: p, capacity: %dGi, perNode: {}%s}".formatted(capacity.getOrDefault("p", 1), template("p"));
        return ("{transferEngine: demo, image: '%s', paused: %s, onDataLoss: %s, masters: {replicas: %d%s}, upgrade: {maxUnavailable: %d,"
                        + " stepTimeout: 5m, paused: %s}, drain: {timeout: 10m, nodeTimeout: 30m, onLeftovers: %s}, storage: [%s%s%s]}")
                .formatted(
                        image,
                        paused,
                        YAML.convertValue(onDataLoss, String.class),
                        masters,
                        template(PoolLabels.ROLE_MASTER),
                        maxUnavailable,
                        upgradePaused,
                        YAML.convertValue(onLeftovers, String.class),
                        sets,
                        perNode && !sets.isEmpty() ? ", " : "",
                        perNode ? each : "");
    }

    private String template(String of) {
        return broken.contains(of)
                ? ", podTemplate: {env: [{name: %s, value: 'yes'}]}".formatted(RandomCluster.BROKEN)
                : "";
    }

    private static <T> T resource(String kind, String text, Class<T> type) {
        return YAML.unmarshal("""
                apiVersion: kvpool.dev/v1alpha1
                kind: %s
                metadata: {name: demo, namespace: ns, uid: 99999999-2222-3333-4444-555555555555, generation: 1}
                spec: %s
                """.formatted(kind, kind.equals("KvCachePool") ? PlainSpec.of(text) : text), type);
    }
}
