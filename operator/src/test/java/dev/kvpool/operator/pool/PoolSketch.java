// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.status.VersionStatus;
import dev.kvpool.api.v1alpha1.storage.DeletionPolicy;
import dev.kvpool.operator.Altered;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.ascend.DevicePorts;
import dev.kvpool.operator.pool.child.AgentDaemonSet;
import dev.kvpool.operator.pool.naming.DirectoryList;
import dev.kvpool.operator.pool.naming.NodePorts;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.Workloads;
import dev.kvpool.operator.pool.observation.DeviceCheck;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.OperatorSettings.RolloutTerms;
import dev.kvpool.operator.pool.observation.PodContainer;
import dev.kvpool.operator.pool.observation.PodHealth;
import dev.kvpool.operator.pool.observation.PodIdentity;
import dev.kvpool.operator.pool.observation.PodOrigin;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.PortClaim;
import dev.kvpool.operator.pool.observation.Refusal;
import dev.kvpool.operator.pool.observation.SickNpus;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.plan.PoolPlanner;
import dev.kvpool.operator.pool.transition.Action;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Draws an observation of pool "demo" in a few words, for tables. */
public final class PoolSketch {
    public static final OperatorSettings SETTINGS =
            new OperatorSettings("registry.example/kvpool:0.1.0", "0.1.0", "kvpool-system");

    /** As on OpenShift. */
    public static final OperatorSettings PLATFORM_USER = new OperatorSettings(
            SETTINGS.image(),
            SETTINGS.version(),
            SETTINGS.namespace(),
            SETTINGS.serviceAccount(),
            List.of(),
            true,
            false,
            SETTINGS.rotation(),
            RolloutTerms.DEFAULT);

    public static final String IMAGE = SETTINGS.image();
    public static final String UID = "11111111-2222-3333-4444-555555555555";
    public static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private OperatorSettings settings = SETTINGS;
    private static final Instant WATCHED_SINCE = NOON.minusSeconds(86_400);
    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    private final KvCachePool pool;
    private final List<HasMetadata> children = new ArrayList<>();
    private final List<ObservedPod> pods = new ArrayList<>();
    private final List<ObservedNode> nodes = new ArrayList<>();
    private final List<PortClaim> portClaims = new ArrayList<>();
    private final Map<String, MasterAnswer> answers = new HashMap<>();
    private final List<Refusal> refusals = new ArrayList<>();
    private final List<TransferEngine> engines = new ArrayList<>();
    private Optional<Leadership> leadership = Optional.empty();
    private Optional<String> podSecurity = Optional.empty();
    private Instant now = NOON;

    public PoolSketch(String spec) {
        pool = resource("KvCachePool", PlainSpec.of(spec), KvCachePool.class);
        pool.getMetadata().setUid(UID);
        pool.getMetadata().setGeneration(1L);
    }

    public PoolSketch status(KvCachePoolStatus status) {
        pool.setStatus(status);
        return this;
    }

    public PoolSketch annotation(String name, String text) {
        Map<String, String> annotations = new TreeMap<>();
        Optional.ofNullable(pool.getMetadata().getAnnotations()).ifPresent(annotations::putAll);
        annotations.put(name, text);
        pool.getMetadata().setAnnotations(annotations);
        return this;
    }

    // Statuses that say nothing but how far an upgrade is, versions, or which storage nodes are to go.
    public static KvCachePoolStatus statusWith(RollStatus roll) {
        return statusWith(null, roll, null);
    }

    public static KvCachePoolStatus statusWith(VersionStatus version) {
        return statusWith(version, null, null);
    }

    public static KvCachePoolStatus statusWith(List<StepStatus> steps) {
        return statusWith(null, null, steps);
    }

    public static KvCachePoolStatus statusWith(RollStatus roll, List<StepStatus> steps) {
        return statusWith(null, roll, steps);
    }

    private static KvCachePoolStatus statusWith(VersionStatus version, RollStatus roll, List<StepStatus> steps) {
        return new KvCachePoolStatus(
                null, null, null, null, null, null, null, null, null, null, null, null, null, null, version, roll,
                steps, null, null, null, null, null, null);
    }

    /** A status that says nothing but that an upgrade is being checked. */
    public static KvCachePoolStatus asking(String image, String from) {
        return statusWith(new RollStatus(image, from, RollPhase.PREFLIGHT, null, NOON.toString(), null, null));
    }

    public PoolSketch engine(String spec) {
        return engine("demo", spec);
    }

    /** One that a storage set names, or the pool. */
    public PoolSketch engine(String name, String spec) {
        TransferEngine engine = resource("TransferEngine", spec, TransferEngine.class);
        engine.getMetadata().setName(name);
        engines.removeIf(other -> other.getMetadata().getName().equals(name));
        engines.add(engine);
        return this;
    }

    /** Masters with ready pods, led by the first one, which serves. */
    public PoolSketch masters(int count, long epoch, PoolReport report) {
        for (int i = 0; i < count; i++) {
            pods.add(pod("demo-master-" + i, PoolLabels.ROLE_MASTER, "", true, "a"));
        }
        return lease("demo-master-0", epoch).says("demo-master-0", report);
    }

    public PoolSketch lease(String pod, long epoch) {
        return lease(pod, epoch, NOON.minusSeconds(30));
    }

    /** Its leader has led for as long as the operator has watched. */
    public PoolSketch ledAllAlong() {
        return lease("demo-master-0", 1, WATCHED_SINCE);
    }

    /** Seen at this time instead of at noon. */
    public PoolSketch at(Instant time) {
        now = time;
        return this;
    }

    private PoolSketch lease(String pod, long epoch, Instant since) {
        leadership = Optional.of(new Leadership(pod, epoch, pod + "_0123456789abcdef", Optional.of(since)));
        return this;
    }

    public PoolSketch says(String pod, PoolReport report) {
        answers.put(pod, new MasterAnswer.Report(report));
        return this;
    }

    public PoolSketch silent(String pod) {
        answers.put(pod, new MasterAnswer.Silent("the connection failed"));
        return this;
    }

    /** A StatefulSet of storage nodes with running pods, all with the current settings. */
    public PoolSketch set(String name, int replicas) {
        for (int i = 0; i < replicas; i++) {
            pods.add(pod("demo-" + name + "-" + i, PoolLabels.ROLE_STORAGE, name, true, "new"));
        }
        return emptySet(name, replicas);
    }

    /** A StatefulSet without pods. */
    public PoolSketch emptySet(String name, int replicas) {
        children.add(statefulSet(name, replicas));
        return this;
    }

    /** What a pool of this name has written down about directories of nodes. */
    public static ConfigMap directories(String poolId, String uid, DeletionPolicy policy, Map<String, String> paths) {
        DirectoryList list = new DirectoryList("demo", poolId, uid, policy, List.of(), new TreeMap<>(paths));
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName("demo-directories-" + poolId.substring(0, 8))
                .withNamespace("ns")
                .withUid("uid-of-list")
                .withLabels(PoolLabels.ofRole("demo", PoolLabels.ROLE_DIRECTORIES))
                .withAnnotations(list.notes())
                .endMetadata()
                .withData(list.paths())
                .build();
    }

    public PoolSketch pod(ObservedPod pod) {
        pods.removeIf(known -> known.name().equals(pod.name()));
        pods.add(pod);
        return this;
    }

    /** A Kubernetes node with NPUs that are not well. */
    public PoolSketch node(String name, SickNpus npus) {
        nodes.add(new ObservedNode(name, Map.of(), List.of(), false, true, 0).with(npus));
        return this;
    }

    /** A Kubernetes node. */
    public PoolSketch node(String name, Map<String, String> labels, Taint... taints) {
        nodes.add(new ObservedNode(name, labels, List.of(taints), false, true, 0));
        return this;
    }

    public PoolSketch node(ObservedNode node) {
        nodes.add(node);
        return this;
    }

    /** A Kubernetes node that is cordoned. */
    public PoolSketch cordoned(String name, Taint... taints) {
        nodes.add(new ObservedNode(name, Map.of(), List.of(taints), true, true, 0));
        return this;
    }

    /** A storage set, of this pool or another one, that has two ports of its nodes. */
    public PoolSketch ports(String owner, String workload, int first) {
        portClaims.add(new PortClaim(owner, workload, NodePorts.from(first), Optional.empty()));
        return this;
    }

    /** The same, with NPUs whose ports begin there. */
    public PoolSketch ports(String owner, String workload, int first, int firstOfDevices) {
        portClaims.add(
                new PortClaim(owner, workload, NodePorts.from(first), Optional.of(DevicePorts.from(firstOfDevices))));
        return this;
    }

    /** A DaemonSet of a perNode set, with a running pod on each of the named nodes, all with its settings. */
    public PoolSketch daemonSet(String set, String... onNodes) {
        children.add(new DaemonSetBuilder()
                .withNewMetadata()
                .withName("demo-" + set)
                .withNamespace("ns")
                .withLabels(PoolLabels.ofSet("demo", set))
                .endMetadata()
                .withNewSpec()
                .withNewTemplate()
                .withNewMetadata()
                .addToAnnotations(PoolLabels.SETTINGS, "new")
                .endMetadata()
                .endTemplate()
                .endSpec()
                .build());
        for (String node : onNodes) {
            pods.add(perNodePod(set, node, true, "new"));
        }
        return this;
    }

    public static ObservedPod perNodePod(String set, String node, boolean started, String settings) {
        return pod("demo-" + set + "-" + node, PoolLabels.ROLE_STORAGE, set, started, node, true, settings);
    }

    /** What the pool's namespace enforces. */
    PoolSketch podSecurity(String level) {
        podSecurity = Optional.of(level);
        return this;
    }

    public PoolSketch child(HasMetadata child) {
        children.add(child);
        return this;
    }

    /** Kubernetes cannot create pods of a workload. */
    public PoolSketch refused(String workload, String why) {
        refusals.add(new Refusal(workload, "", why));
        return this;
    }

    public PoolObservation observation() {
        if (children.stream().noneMatch(child -> child.getMetadata().getName().equals("demo-trust"))) {
            children.addAll(ActiveTrust.of(pool));
        }
        return new PoolObservation(
                pool,
                engines,
                children,
                pods,
                refusals,
                new PoolObservation.Surroundings(nodes, portClaims, podSecurity),
                new PoolObservation.Masters(leadership, answers),
                WATCHED_SINCE,
                now);
    }

    public PoolPlan plan() {
        PoolObservation seen = observation();
        List<Finding> problems = PoolValidator.validate(seen, settings);
        return new PoolPlanner(settings).plan(seen, problems);
    }

    /** What the operator was installed with. */
    PoolSketch settings(OperatorSettings installed) {
        settings = installed;
        return this;
    }

    /**
     * Its StatefulSets and its agents as another operator made them, with running pods.
     *
     * @param neverRan names of those whose containers have not begun to run
     */
    PoolSketch madeBy(OperatorSettings earlier, String... neverRan) {
        workloads(new PoolPlanner(earlier).plan(observation(), List.of())).forEach(workload -> {
            children.add(workload);
            PodTemplateSpec template = Workloads.template(workload).orElseThrow();
            if (AgentDaemonSet.is(workload)) {
                // No setting of operators concerns them: as one of another build would make them.
                template.getMetadata().getAnnotations().put(PoolLabels.SETTINGS, "earlier");
            }
            int pods = workload instanceof StatefulSet set ? set.getSpec().getReplicas() : 1;
            IntStream.range(0, pods)
                    .mapToObj(ordinal -> running(workload, template, ordinal))
                    .map(pod -> List.of(neverRan).contains(pod.getMetadata().getName()) ? neverRun(pod) : pod)
                    .map(ObservedPod::of)
                    .forEach(this.pods::add);
        });
        return this;
    }

    /** With these workloads as a plan makes them. */
    PoolSketch after(PoolPlan plan) {
        children.removeIf(child -> Workloads.template(child).isPresent());
        workloads(plan).forEach(children::add);
        return this;
    }

    /** The objects and pods of another sketch, with another spec. */
    PoolSketch of(PoolSketch other) {
        children.addAll(other.children);
        pods.addAll(other.pods);
        return this;
    }

    private static Stream<HasMetadata> workloads(PoolPlan plan) {
        return plan.apply().stream().filter(child -> Workloads.template(child).isPresent());
    }

    private static Pod neverRun(Pod pod) {
        return pod.toBuilder().withNewStatus().endStatus().build();
    }

    private static Pod running(HasMetadata workload, PodTemplateSpec template, int ordinal) {
        String name = workload.getMetadata().getName() + "-" + ordinal;
        String container = OwnContainer.name(template.getMetadata().getLabels().get(PoolLabels.ROLE));
        return new PodBuilder()
                .withMetadata(template.getMetadata())
                .editMetadata()
                .withName(name)
                .withUid("uid-" + name)
                .addNewOwnerReference()
                .withKind(workload.getKind())
                .withName(workload.getMetadata().getName())
                .endOwnerReference()
                .endMetadata()
                .withSpec(template.getSpec())
                .editSpec()
                .withNodeName("worker")
                .endSpec()
                .withNewStatus()
                .addNewCondition()
                .withType("Ready")
                .withStatus("True")
                .endCondition()
                .addNewContainerStatus()
                .withName(container)
                .withNewState()
                .withNewRunning()
                .withStartedAt(NOON.minusSeconds(60).toString())
                .endRunning()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
    }

    public static ObservedPod pod(String name, String role, String set, boolean started, String settings) {
        return pod(name, role, set, started, "worker", false, settings);
    }

    /** A running storage pod of a set with replicas, on a Kubernetes node. */
    public static ObservedPod podOn(String node, String name, String set) {
        return pod(name, PoolLabels.ROLE_STORAGE, set, true, node, false, "new");
    }

    private static ObservedPod pod(
            String name, String role, String set, boolean started, String node, boolean perNode, String settings) {
        return seen(name, "uid-" + name, role, set)
                .with("ip", "10.0.0.1")
                .with("started", started)
                .with("ready", started)
                .with("node", node)
                .with("perNode", perNode)
                .with("settings", settings)
                .with("image", IMAGE)
                .with("specImage", IMAGE)
                .with("runningSince", Optional.of(NOON.minusSeconds(60)).filter(any -> started))
                .with("running", started ? IMAGE : "")
                .build();
    }

    /** A running pod of which a test says what is otherwise. */
    public static Altered<ObservedPod> seen(String name, String uid, String role, String set) {
        return Altered.of(new ObservedPod(
                new PodIdentity(name, uid, role, set, false),
                "",
                "",
                new PodHealth(true, "", false, Optional.empty()),
                false,
                false,
                Optional.empty(),
                new PodContainer(true, "", "", 0, Optional.empty(), Optional.empty(), "", List.of(), Set.of()),
                new PodOrigin("", "", "", List.of(), SecurityMode.OFF, "", false, "")));
    }

    /** A running storage pod that found this of its NPUs. */
    public static ObservedPod checked(String name, String set, DeviceCheck found) {
        return Altered.of(pod(name, PoolLabels.ROLE_STORAGE, set, true, "new"))
                .with("devices", Optional.of(found))
                .build();
    }

    /** The same pod, on its way up or broken. */
    public static ObservedPod notReady(ObservedPod pod) {
        return Altered.of(pod)
                .with("ready", false)
                .with("runningSince", Optional.empty())
                .build();
    }

    /** The same pod with this image, after its container has ended. */
    public static ObservedPod ended(ObservedPod pod, String image, PodContainer.Ended how) {
        return Altered.of(withImage(image, notReady(pod)))
                .with("restarts", 0)
                .with("ended", Optional.of(how))
                .build();
    }

    /** The same pod, whose container runs since then. */
    public static ObservedPod running(ObservedPod pod, Optional<Instant> since) {
        return Altered.of(pod).with("runningSince", since).build();
    }

    /** The same pod with another image, running. */
    public static ObservedPod withImage(String image, ObservedPod pod) {
        return Altered.of(pod).with("image", image).with("specImage", image).build();
    }

    /** Another pod in the place of that one. */
    public static ObservedPod again(ObservedPod pod) {
        return Altered.of(pod).with("uid", "uid-of-next").build();
    }

    public static PoolReport leader(List<PoolReport.Node> nodes) {
        long used = nodes.stream().mapToLong(PoolReport.Node::usedBytes).sum();
        long objects = nodes.stream().mapToLong(PoolReport.Node::objects).sum();
        return Reports.leader("demo-master-0", 1, nodes)
                .with("poolId", UID)
                .with("capacityBytes", nodes.size() * (1L << 30))
                .with("sharedCapacityBytes", nodes.size() * (1L << 30))
                .with("usedBytes", used)
                .with("objects", objects)
                .build();
    }

    public static PoolReport.Node node(String id, String state, String reason, long usedBytes, long objects) {
        return Reports.node(id, state)
                .with("reason", reason)
                .with("usedBytes", usedBytes)
                .with("objects", objects)
                .with("protocols", List.of("tcp", "shm"))
                .build();
    }

    /** What a master says that does not lead. */
    public static PoolReport standby(String name, List<PoolReport.Node> nodes) {
        return Reports.standby(name, 1, nodes).with("poolId", UID).build();
    }

    /** A storage node of which nothing is left that others have not. */
    public static PoolReport.Node drained(String id) {
        return Reports.drained(id, 0);
    }

    /** One whose pods should have the settings "new". */
    public static StatefulSet statefulSet(String set, int replicas) {
        return new StatefulSetBuilder()
                .withNewMetadata()
                .withName("demo-" + set)
                .withNamespace("ns")
                .withLabels(PoolLabels.ofSet("demo", set))
                .endMetadata()
                .withNewSpec()
                .withReplicas(replicas)
                .withNewTemplate()
                .withNewMetadata()
                .addToAnnotations(PoolLabels.SETTINGS, "new")
                .endMetadata()
                .endTemplate()
                .endSpec()
                .build();
    }

    /** A step that empties a storage node, for the cordon of a Kubernetes node or, without one, because the spec does not want it. */
    public static StepStatus emptying(String node, StepState state, String since, String host) {
        StepCause because = host == null ? StepCause.SCALE_DOWN : StepCause.CORDON;
        return new StepStatus(node, StepKind.EMPTY, because, state, since).on(host);
    }

    /** Steps that empty storage nodes and have begun, or wait on a cordoned Kubernetes node. */
    public static List<StepStatus> emptied(PoolPlan plan) {
        return plan.transitions().steps().stream()
                .filter(step -> step.kind() == StepKind.EMPTY)
                .filter(step -> step.state() != StepState.WAITING || step.machine() != null)
                .toList();
    }

    /** Pods that are deleted now, and those of which a step begins for their settings. */
    public static List<String> replaced(PoolPlan plan) {
        Stream<String> begun = plan.transitions().steps().stream()
                .filter(step -> step.because() == StepCause.SETTINGS && step.state() != StepState.WAITING)
                .filter(step -> step.kind() != StepKind.EMPTY)
                .map(StepStatus::of);
        Stream<String> deleted = plan.actions().stream()
                .filter(Action.DeletePod.class::isInstance)
                .map(action -> ((Action.DeletePod) action).pod());
        return Stream.concat(deleted, begun).distinct().toList();
    }

    private static <T> T resource(String kind, String spec, Class<T> type) {
        return YAML.unmarshal("""
                apiVersion: kvpool.dev/v1alpha1
                kind: %s
                metadata: {name: demo, namespace: ns}
                spec: %s
                """.formatted(kind, spec), type);
    }
}
