// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.child.PoolConfigMap;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.security.PoolTrust;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.autoscaling.v1.Scale;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * A pool on the test API server: what its user does with it, what the operator says of it and made of it, and the cluster below it. Its
 * pods run after {@link #run}; later {@link #look} does what controllers, kubelets and masters would have done since: it makes and
 * removes pods, restarts containers whose image was changed, runs the preflight, moves objects off storage nodes that are drained, and
 * lets the masters report all of that.
 */
public final class PoolUnderTest {
    private static final Duration LOOK = Duration.ofMillis(100);
    private static final long OBJECTS = 100;
    private static final Container SIDECAR =
            new ContainerBuilder().withName("sidecar").withImage("mesh:1").build();
    private static final List<Class<? extends HasMetadata>> KINDS = List.of(
            ServiceAccount.class,
            Role.class,
            RoleBinding.class,
            Lease.class,
            ConfigMap.class,
            Service.class,
            PodDisruptionBudget.class,
            NetworkPolicy.class,
            StatefulSet.class,
            DaemonSet.class);

    private final OperatorUnderTest operator;
    private final KubernetesClient client;
    private final ClusterActor cluster;
    private final String namespace;
    private final String name;

    /** What runs in a pod of a name; each pod after another and each start of its container is another incarnation. */
    private final Map<String, Running> running = new LinkedHashMap<>();

    /** Storage nodes that the leader was told to empty, with the objects that are left. */
    private final Map<String, Long> left = new ConcurrentHashMap<>();

    private final List<String> told = new ArrayList<>();
    private final List<String> restarted = new ArrayList<>();
    private UnaryOperator<String> admission = UnaryOperator.identity();
    private String verdict = "rolling-warm";
    private String neverReady = "";
    private boolean stuck;
    private int leader;
    private int epoch = 1;

    private record Running(String uid, String image, int restarts, int incarnation) {}

    PoolUnderTest(OperatorUnderTest operator, String namespace, String name) {
        this.operator = operator;
        this.client = operator.client();
        this.cluster = new ClusterActor(client, namespace);
        this.namespace = namespace;
        this.name = name;
    }

    /** Creates it or changes its spec. */
    public PoolUnderTest apply(String spec) {
        operator.apply(namespace, name, spec, KvCachePool.class);
        return this;
    }

    /** Null when it is not there. */
    KvCachePool get() {
        return client.resources(KvCachePool.class)
                .inNamespace(namespace)
                .withName(name)
                .get();
    }

    String uid() {
        return get().getMetadata().getUid();
    }

    void delete() {
        client.resource(get()).delete();
    }

    /** What {@code kubectl annotate} does; null removes the annotation. */
    PoolUnderTest annotate(String annotation, String text) {
        client.resource(get()).edit(pool -> {
            if (text == null) {
                pool.getMetadata().getAnnotations().remove(annotation);
            } else {
                pool.getMetadata().getAnnotations().put(annotation, text);
            }
            return pool;
        });
        return this;
    }

    /** What {@code kubectl scale} does. */
    void scale(int replicas) {
        client.resources(KvCachePool.class)
                .inNamespace(namespace)
                .withName(name)
                .scale(replicas);
    }

    Scale scale() {
        return client.resources(KvCachePool.class)
                .inNamespace(namespace)
                .withName(name)
                .scale();
    }

    // What the operator says of it.

    /** Null before the operator has looked at it. */
    KvCachePoolStatus status() {
        return get().getStatus();
    }

    /** Null before the operator has looked at it. */
    PoolPhase phase() {
        KvCachePoolStatus status = status();
        return status == null ? null : status.phase();
    }

    /** The condition of this type about the newest spec. */
    Optional<Condition> condition(ConditionType type) {
        KvCachePool pool = get();
        return Stream.ofNullable(pool.getStatus())
                .flatMap(status -> status.conditions().stream())
                .filter(condition -> condition.type().equals(type.text()))
                .filter(condition -> condition.observedGeneration()
                        == (long) pool.getMetadata().getGeneration())
                .findFirst();
    }

    /** Whether that of its conditions has this reason. */
    boolean has(Reason reason) {
        return condition(reason.type())
                .filter(condition -> condition.reason().equals(reason.text()))
                .isPresent();
    }

    /** What that condition says. */
    String message(ConditionType type) {
        return condition(type).orElseThrow().message();
    }

    /** Waits until its condition has this reason; gives what it says. */
    String awaitReason(Reason reason) {
        await().untilAsserted(() ->
                assertThat(condition(reason.type())).map(Condition::reason).contains(reason.text()));
        return message(reason.type());
    }

    PoolUnderTest awaitPhase(PoolPhase phase) {
        await().untilAsserted(() -> assertThat(phase()).isEqualTo(phase));
        return this;
    }

    /** Reasons of the events about it. */
    List<String> events() {
        return allEvents().stream().map(Event::getReason).toList();
    }

    /** What the events about it with this reason say. */
    List<String> notes(EventReason reason) {
        return allEvents().stream()
                .filter(event -> event.getReason().equals(reason.text()))
                .map(Event::getNote)
                .toList();
    }

    List<Event> allEvents() {
        return client.resources(Event.class).inNamespace(namespace).list().getItems().stream()
                .filter(event -> event.getRegarding().getName().equals(name))
                .toList();
    }

    // What the operator made for it.

    /** All objects but pods and Jobs. */
    List<HasMetadata> children() {
        List<HasMetadata> children = new ArrayList<>();
        for (Class<? extends HasMetadata> kind : KINDS) {
            children.addAll(client.resources(kind)
                    .inNamespace(namespace)
                    .withLabel(PoolLabels.POOL, name)
                    .list()
                    .getItems());
        }
        return children;
    }

    /** Waits until there are so many of them. */
    PoolUnderTest awaitChildren(int count) {
        await().untilAsserted(() -> assertThat(children()).hasSize(count));
        return this;
    }

    /** The workload of its masters; null when it is not there. */
    StatefulSet masters() {
        return set("master");
    }

    /** That of a numbered set; null when it is not there. */
    StatefulSet set(String set) {
        return child(StatefulSet.class, set);
    }

    /** That of a set with a storage node on each Kubernetes node; null when it is not there. */
    DaemonSet perNode(String set) {
        return child(DaemonSet.class, set);
    }

    /** Makes the template of its agents what no setting of an operator changes: as one of another build makes them. */
    void ageAgents() {
        client.resource(perNode("agent")).edit(agents -> {
            agents.getSpec().getTemplate().getMetadata().getAnnotations().put(PoolLabels.SETTINGS, "earlier");
            return agents;
        });
    }

    /** Whether no operator has changed that since. */
    boolean hasAgedAgents() {
        return "earlier"
                .equals(perNode("agent")
                        .getSpec()
                        .getTemplate()
                        .getMetadata()
                        .getAnnotations()
                        .get(PoolLabels.SETTINGS));
    }

    /** An object by the end of its name. */
    <T extends HasMetadata> T child(Class<T> kind, String end) {
        return client.resources(kind)
                .inNamespace(namespace)
                .withName(name + "-" + end)
                .get();
    }

    /** The first container of a workload's pods. */
    static Container container(StatefulSet set) {
        return set.getSpec().getTemplate().getSpec().getContainers().getFirst();
    }

    /** What is written down of its directories; that of an earlier pool of its name may be there too. */
    List<ConfigMap> directories() {
        return labelled(ConfigMap.class, PoolLabels.ROLE_DIRECTORIES);
    }

    /** Jobs that remove them. */
    List<Job> cleaning() {
        return labelled(Job.class, PoolLabels.ROLE_CLEANING);
    }

    /** What such a Job is told. */
    static List<String> arguments(Job job) {
        return job.getSpec().getTemplate().getSpec().getContainers().getFirst().getArgs();
    }

    /** Objects of one kind that were made for it in this role. */
    <T extends HasMetadata> List<T> labelled(Class<T> kind, String role) {
        return client.resources(kind)
                .inNamespace(namespace)
                .withLabel(PoolLabels.POOL, name)
                .withLabel(PoolLabels.ROLE, role)
                .list()
                .getItems();
    }

    /** Text of the list of storage nodes that its masters read; empty when it is not there. */
    String expectedNodes() {
        return masterFile(PoolConfigMap.EXPECTED_NODES);
    }

    void awaitExpectedNodes(String list) {
        await().untilAsserted(() -> assertThat(expectedNodes()).isEqualTo(list));
    }

    /** Text of the rules of the cache that they read; empty when it is not there. */
    String cacheRules() {
        return masterFile(PoolConfigMap.CACHE_RULES);
    }

    private String masterFile(String key) {
        ConfigMap files = child(ConfigMap.class, "pool");
        return files == null ? "" : files.getData().get(key);
    }

    /** Resource versions of the pool, of all that was made for it, of its pods and of the events about it, but not of its Lease. */
    Map<String, String> versions() {
        List<HasMetadata> objects = children();
        objects.removeIf(Lease.class::isInstance);
        objects.add(get());
        objects.addAll(pods());
        objects.addAll(allEvents());
        Map<String, String> versions = new TreeMap<>();
        objects.forEach(object -> versions.put(
                object.getKind() + "/" + object.getMetadata().getName(),
                object.getMetadata().getResourceVersion()));
        return versions;
    }

    // What runs of it.

    /** Admission makes this of each image, and puts a sidecar first. */
    PoolUnderTest admitted(UnaryOperator<String> images) {
        admission = images;
        cluster.admit(this::admitted);
        return this;
    }

    PoolUnderTest preflightAnswers(String answer) {
        verdict = answer;
        return this;
    }

    /** Containers with this image never get ready. */
    PoolUnderTest neverReady(String image) {
        neverReady = image;
        return this;
    }

    /** No object can be moved to another storage node. */
    PoolUnderTest stuck() {
        stuck = true;
        return this;
    }

    /** Runs its masters, of which the first leads, and its numbered sets. */
    public PoolUnderTest run() {
        cluster.runPodsOf(name + "-master");
        get().getSpec().storage().stream()
                .filter(set -> set.perNode() == null)
                .forEach(set -> cluster.runPodsOf(name + "-" + set.name()));
        operator.masters().onHandOver(address -> handOver());
        operator.masters().onDrain(this::drain, this::cancel);
        startContainers();
        say();
        cluster.takeLease(name + "-master", master(leader), epoch);
        return this;
    }

    /** The same with a storage node of a set on each of these Kubernetes nodes. */
    PoolUnderTest runOn(String set, String... nodes) {
        await().untilAsserted(() -> assertThat(perNode(set)).isNotNull());
        for (String node : nodes) {
            cluster.runPodOn(name + "-" + set, node);
        }
        return run();
    }

    /** Runs it and waits until it is ready. */
    public PoolUnderTest ready() {
        run();
        play(() -> phase() == PoolPhase.READY);
        return this;
    }

    /** Looks again and again. */
    void play(BooleanSupplier until) {
        await().pollInterval(LOOK).until(() -> {
            look();
            return until.getAsBoolean();
        });
    }

    void look() {
        answerPreflight();
        labelled(StatefulSet.class, PoolLabels.ROLE_MASTER).forEach(cluster::runPodsOf);
        labelled(StatefulSet.class, PoolLabels.ROLE_STORAGE).forEach(cluster::runPodsOf);
        pods().stream()
                .filter(pod -> pod.isMarkedForDeletion() || !hasAPlace(pod))
                .forEach(pod -> cluster.removePod(pod.getMetadata().getName()));
        startContainers();
        if (!stuck) {
            left.replaceAll((node, objects) -> objects / 10);
        }
        say();
    }

    /** The leadership is given to the next master, or taken by it. */
    synchronized void handOver() {
        leader = 1 - leader;
        epoch++;
        say();
        cluster.takeLease(name + "-master", master(leader), epoch);
    }

    String leader() {
        return master(leader);
    }

    /** What the leader was told of storage nodes, in words. */
    synchronized List<String> told() {
        return List.copyOf(told);
    }

    /** Objects that only this storage node holds, as the leader counts them. */
    long onlyOn(String node) {
        return left.getOrDefault(node, OBJECTS);
    }

    /** Pods whose container was restarted with another image, in order, each with the image. */
    List<String> restarted() {
        return List.copyOf(restarted);
    }

    /** Images that run. */
    List<String> images() {
        return running.values().stream().map(Running::image).distinct().sorted().toList();
    }

    /** UIDs of the storage pods, by name. */
    Map<String, String> storagePods() {
        Map<String, String> pods = new TreeMap<>();
        labelled(Pod.class, PoolLabels.ROLE_STORAGE)
                .forEach(pod ->
                        pods.put(pod.getMetadata().getName(), pod.getMetadata().getUid()));
        return pods;
    }

    /** Its masters' pods and storage pods. */
    List<Pod> pods() {
        List<Pod> pods = new ArrayList<>(labelled(Pod.class, PoolLabels.ROLE_MASTER));
        pods.addAll(labelled(Pod.class, PoolLabels.ROLE_STORAGE));
        return pods;
    }

    private synchronized void startContainers() {
        for (Pod pod : pods()) {
            String podName = pod.getMetadata().getName();
            String uid = pod.getMetadata().getUid();
            String image = readmitted(pod);
            Running before = running.get(podName);
            if (before == null || !before.uid().equals(uid)) {
                running.put(podName, new Running(uid, image, 0, before == null ? 1 : before.incarnation() + 1));
            } else if (!before.image().equals(image)) {
                running.put(podName, new Running(uid, image, before.restarts() + 1, before.incarnation() + 1));
                restarted.add(podName + " " + image);
                status(podName, own(pod).getName(), running.get(podName));
                if (podName.equals(master(leader)) && !image.equals(neverReady)) {
                    handOver();
                }
            }
        }
    }

    private boolean hasAPlace(Pod pod) {
        String podName = pod.getMetadata().getName();
        int dash = podName.lastIndexOf('-');
        boolean onNode = pod.getMetadata().getOwnerReferences().stream()
                .anyMatch(owner -> owner.getKind().equals("DaemonSet"));
        StatefulSet set = onNode
                ? null
                : client.apps()
                        .statefulSets()
                        .inNamespace(namespace)
                        .withName(podName.substring(0, dash))
                        .get();
        return onNode
                || (set != null
                        && Integer.parseInt(podName.substring(dash + 1))
                                < set.getSpec().getReplicas());
    }

    private PodSpec admitted(PodSpec pod) {
        pod.getContainers().forEach(container -> container.setImage(admission.apply(container.getImage())));
        pod.getContainers().addFirst(SIDECAR);
        return pod;
    }

    /** What the image of a pod is once admission has seen its last change too. */
    private String readmitted(Pod pod) {
        assertThat(pod.getSpec().getContainers().stream()
                        .filter(container -> container.getName().equals(SIDECAR.getName())))
                .allMatch(container -> container.getImage().equals(SIDECAR.getImage()));
        String wished = own(pod).getImage();
        String image = admission.apply(wished);
        if (!image.equals(wished)) {
            client.resource(pod)
                    .patch(
                            PatchContext.of(PatchType.STRATEGIC_MERGE),
                            "{\"spec\":{\"containers\":[{\"name\":\"%s\",\"image\":\"%s\"}]}}"
                                    .formatted(own(pod).getName(), image));
        }
        return image;
    }

    private static Container own(Pod pod) {
        String own = OwnContainer.name(pod.getMetadata().getLabels().get(PoolLabels.ROLE));
        return pod.getSpec().getContainers().stream()
                .filter(container -> container.getName().equals(own))
                .findFirst()
                .orElseThrow();
    }

    private void answerPreflight() {
        Job job = child(Job.class, "preflight");
        if (job == null) {
            return;
        }
        String podName = name + "-preflight-" + job.getMetadata().getUid().substring(0, 8);
        if (client.pods().inNamespace(namespace).withName(podName).get() != null) {
            return;
        }
        cluster.create(
                new PodBuilder()
                        .withNewMetadata()
                        .withName(podName)
                        .withNamespace(namespace)
                        .withLabels(job.getSpec().getTemplate().getMetadata().getLabels())
                        .withAnnotations(
                                job.getSpec().getTemplate().getMetadata().getAnnotations())
                        .endMetadata()
                        .withSpec(job.getSpec().getTemplate().getSpec())
                        .build(),
                """
                {"status": {"phase": "Succeeded", "containerStatuses": [{"name": "preflight", "ready": false,
                  "restartCount": 0, "image": "i", "imageID": "i", "state": {"terminated": {"exitCode": 0,
                  "message": "{\\"verdict\\":\\"%s\\",\\"reason\\":\\"both sides, and how to fix it\\"}"}}}]}}
                """.formatted(verdict));
    }

    private void status(String pod, String container, Running now) {
        boolean ready = !now.image().equals(neverReady);
        cluster.status(pod, """
                {"status": {"conditions": [{"type": "Ready", "status": "%s"}],
                  "containerStatuses": [{"name": "%s", "ready": %s, "restartCount": %d, "image": "i", "imageID": "%s",
                    "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}}
                """.formatted(ready ? "True" : "False", container, ready, now.restarts(), now.image()));
    }

    private synchronized void drain(String node) {
        told.add("empty " + node);
        left.putIfAbsent(node, OBJECTS);
    }

    private synchronized void cancel(String node) {
        told.add("cancel " + node);
        left.remove(node);
    }

    private synchronized void say() {
        PoolReport.Trust trust = trust();
        List<PoolReport.Node> nodes = labelled(Pod.class, PoolLabels.ROLE_STORAGE).stream()
                .map(ObservedPod::of)
                .filter(pod -> running.containsKey(pod.name()))
                .map(this::node)
                .toList();
        for (Pod pod : labelled(Pod.class, PoolLabels.ROLE_MASTER)) {
            String podName = pod.getMetadata().getName();
            operator.masters()
                    .say(
                            podName,
                            Reports.trusting(
                                    trust,
                                    podName.equals(master(leader))
                                            ? ScriptedMasters.leading(podName, epoch, nodes)
                                            : ScriptedMasters.standby(podName, epoch, nodes)));
        }
    }

    /** All processes have what ConfigMap POOL-trust has now, and storage nodes certificates by the first CA in it. */
    private PoolReport.Trust trust() {
        ConfigMap map = client.configMaps()
                .inNamespace(namespace)
                .withName(name + "-trust")
                .get();
        if (map == null) {
            return null;
        }
        PoolTrust trust = PoolTrust.of(map);
        String digest = trust.bundle().digest();
        return new PoolReport.Trust(
                digest,
                null,
                labelled(Pod.class, PoolLabels.ROLE_STORAGE).stream()
                        .map(pod -> new PoolReport.TrustOfMember(
                                "node/" + ObservedPod.of(pod).nodeId(), digest, trust.fingerprint(), null, 0))
                        .toList());
    }

    private PoolReport.Node node(ObservedPod pod) {
        Running life = running.get(pod.name());
        Long objects = left.get(pod.nodeId());
        String state = life.image().equals(neverReady)
                ? "away"
                : objects == null ? "ready" : objects == 0 ? "drained" : "draining";
        return Reports.node(pod.nodeId(), state)
                .with("objects", OBJECTS)
                .with("protocols", List.of("shm", "tcp"))
                .with("incarnation", "%016x".formatted(life.incarnation()))
                .with("committed", new PoolReport.Objects(OBJECTS, "00000000000000aa"))
                .with("restored", new PoolReport.Restored(OBJECTS, "00000000000000aa", 0))
                .with("lostAtReturn", life.incarnation() == 1 ? null : 0L)
                .with("objectsLeft", objects)
                .with("leftovers", Reports.leftovers(objects))
                .build();
    }

    String master(int ordinal) {
        return name + "-master-" + ordinal;
    }
}
