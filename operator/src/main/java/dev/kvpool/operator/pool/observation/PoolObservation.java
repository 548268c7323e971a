// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.blueprint.PoolIdentity;
import dev.kvpool.operator.pool.child.AgentDaemonSet;
import dev.kvpool.operator.pool.naming.DirectoryList;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.naming.Workloads;
import dev.kvpool.operator.pool.security.NamesOfOthers;
import dev.kvpool.operator.pool.security.PoolTrust;
import dev.kvpool.operator.pool.security.StorageAccount;
import dev.kvpool.operator.pool.sizing.PoolEngines;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Everything a decision about a pool is made from, seen at one time.
 *
 * @param pool the custom resource
 * @param engines the transfer engines it and its sets name, as far as they are there
 * @param children its objects, as far as the operator makes them
 * @param pods its pods
 * @param refusals why Kubernetes cannot create pods of it
 * @param surroundings what is around it in the cluster
 * @param masters who leads, and what masters say
 * @param watchedSince since when this operator sees what happens, without a break; before, maybe no operator did
 * @param now when it was seen
 */
public record PoolObservation(
        KvCachePool pool,
        List<TransferEngine> engines,
        List<HasMetadata> children,
        List<ObservedPod> pods,
        List<Refusal> refusals,
        Surroundings surroundings,
        Masters masters,
        Instant watchedSince,
        Instant now) {

    /**
     * What is around a pool in its cluster.
     *
     * @param nodes Kubernetes nodes that concern it: all of them when a set has perNode or a pod finds no memory, else those
     *     with its pods
     * @param portClaims ports that storage sets of all pools use on the network of nodes
     * @param podSecurity which pod security level its namespace enforces; empty when none is said, and when nothing of the pool
     *     depends on it
     */
    public record Surroundings(List<ObservedNode> nodes, List<PortClaim> portClaims, Optional<String> podSecurity) {
        public static final Surroundings UNSEEN = new Surroundings(List.of(), List.of(), Optional.empty());

        public Surroundings {
            nodes = List.copyOf(nodes);
            portClaims = List.copyOf(portClaims);
        }
    }

    /**
     * What is known of who leads.
     *
     * @param leadership who holds the Lease
     * @param answers what each master that has an address said, by pod name
     */
    public record Masters(Optional<Leadership> leadership, Map<String, MasterAnswer> answers) {
        public Masters {
            answers = Map.copyOf(answers);
        }

        public static Masters unasked(Optional<Leadership> leadership) {
            return new Masters(leadership, Map.of());
        }
    }

    public PoolObservation {
        engines = List.copyOf(engines);
        children = List.copyOf(children);
        pods = List.copyOf(pods);
        refusals = List.copyOf(refusals);
    }

    /** The same with other objects. */
    public PoolObservation with(List<HasMetadata> others) {
        return new PoolObservation(pool, engines, others, pods, refusals, surroundings, masters, watchedSince, now);
    }

    /** The same with answers of masters. */
    public PoolObservation answered(Map<String, MasterAnswer> said) {
        return new PoolObservation(
                pool,
                engines,
                children,
                pods,
                refusals,
                surroundings,
                new Masters(masters.leadership(), said),
                watchedSince,
                now);
    }

    public List<ObservedNode> nodes() {
        return surroundings.nodes();
    }

    public Optional<Leadership> leadership() {
        return masters.leadership();
    }

    public Map<String, MasterAnswer> answers() {
        return masters.answers();
    }

    /**
     * How a master is asked.
     *
     * @param host how its pod is reached
     */
    public MasterEndpoint endpoint(ObservedPod master, String host) {
        return new MasterEndpoint(
                host,
                master.security().isOn()
                        ? Optional.of(new MasterEndpoint.Identity(
                                names().pool(),
                                poolId(),
                                master.name(),
                                // An excerpt for `kubectl kvpool status` has no spec; the API server asks for it,
                                // without roots.
                                Optional.ofNullable(spec())
                                        .flatMap(spec -> spec.security().directory())
                                        .map(CertificatesSpec::ca)
                                        .or(() -> PoolTrust.among(children, names())
                                                .flatMap(trust -> trust.rootOfMaster(master.authority())))
                                        .orElse(""),
                                Optional.ofNullable(spec())
                                        .flatMap(spec -> NamesOfOthers.ofMasters(names(), spec, poolId()))))
                        : Optional.empty());
    }

    /** The same by the name of its pod, which the API server passes requests on to; a master of that name need not be there. */
    public MasterEndpoint endpoint(String pod) {
        return pods(PoolLabels.ROLE_MASTER).stream()
                .filter(master -> master.name().equals(pod))
                .findFirst()
                .map(master -> endpoint(master, pod))
                .orElseGet(() -> MasterEndpoint.plain(pod));
    }

    /**
     * Its identity. A pool that takes over retained objects, which have no owner, keeps theirs; storage nodes refuse another one. What another owns
     * says nothing, such as the objects of a deleted pool of the same name.
     */
    public String poolId() {
        String uid = pool.getMetadata().getUid();
        return poolIdSaid(owners -> owners.contains(uid))
                .or(() -> poolIdSaid(List::isEmpty))
                .orElse(uid);
    }

    /** What its objects say of it. */
    public PoolIdentity identity() {
        return new PoolIdentity(names(), pool.getMetadata().getUid(), poolId(), spec().deletionPolicy());
    }

    /** By the first of its objects that says one. */
    private Optional<String> poolIdSaid(Predicate<List<String>> owners) {
        String uid = pool.getMetadata().getUid();
        return children.stream()
                .filter(child -> owners.test(child.getMetadata().getOwnerReferences().stream()
                        .map(OwnerReference::getUid)
                        .toList()))
                .filter(child -> DirectoryList.of(child)
                        .filter(list -> list.goesWithAnother(uid))
                        .isEmpty())
                .map(child -> child.getMetadata().getAnnotations())
                .filter(Objects::nonNull)
                .map(annotations -> annotations.get(PoolLabels.POOL_ID))
                .filter(Objects::nonNull)
                .findFirst();
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

    /**
     * The pods of a storage set.
     *
     * @param perNode which of the two forms a set can have; both can exist while it changes from one to the other
     */
    public List<ObservedPod> podsOfSet(String set, boolean perNode) {
        return pods.stream()
                .filter(pod -> pod.set().equals(set) && pod.perNode() == perNode)
                .toList();
    }

    /** The workload of the masters; empty while there is none. */
    public Optional<StatefulSet> mastersSet() {
        return children.stream()
                .filter(child -> child instanceof StatefulSet
                        && child.getMetadata().getName().equals(names().masters()))
                .map(StatefulSet.class::cast)
                .findFirst();
    }

    /** Whether a pod is one of those that a workload makes. */
    public boolean makes(HasMetadata workload, ObservedPod pod) {
        return Workloads.template(workload).isPresent()
                && switch (pod.role()) {
                    case PoolLabels.ROLE_MASTER ->
                        workload.getMetadata().getName().equals(names().masters());
                    case PoolLabels.ROLE_STORAGE ->
                        pod.perNode() == workload instanceof DaemonSet
                                && pod.set().equals(setName(workload));
                    case PoolLabels.ROLE_AGENT -> AgentDaemonSet.is(workload);
                    default -> false;
                };
    }

    /** What the template says that a pod is made from now. */
    public Optional<TemplateNotes> template(ObservedPod pod) {
        return children.stream()
                .filter(child -> makes(child, pod))
                .flatMap(child -> TemplateNotes.of(child).stream())
                .findFirst();
    }

    /** Masters and storage nodes that are not being deleted and have other settings than the template of their set. */
    public List<ObservedPod> outdated() {
        return pods.stream()
                .filter(pod -> !pod.leaving() && !pod.role().equals(PoolLabels.ROLE_AGENT))
                .filter(pod ->
                        template(pod).filter(notes -> notes.differsFrom(pod)).isPresent())
                .toList();
    }

    /**
     * NPUs of a pod that are not well, as "NPU 3, which is unhealthy"; empty where all are, or nothing is known of them. Of what the device
     * plugin writes down and what it tells the kubelet the first says more.
     */
    public Optional<String> sickNpus(ObservedPod pod) {
        return pod.devices()
                .flatMap(devices -> nodes().stream()
                        .filter(node -> node.name().equals(pod.node()))
                        .findFirst()
                        .flatMap(node -> node.npus().among(devices.npus()))
                        .or(() -> sickDevices(pod)));
    }

    private static Optional<String> sickDevices(ObservedPod pod) {
        return pod.sickDevices().isEmpty()
                ? Optional.empty()
                : Optional.of(NameList.of(pod.sickDevices().stream()
                        .map(device -> device + ", which the kubelet says is unhealthy")
                        .toList()));
    }

    /** The StatefulSets or DaemonSets of storage sets, also of sets that are no longer in the spec. */
    public <W extends HasMetadata> List<W> storageWorkloads(Class<W> kind) {
        return children.stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .filter(set -> set.getMetadata().getLabels().containsKey(PoolLabels.SET))
                .toList();
    }

    /**
     * ServiceAccounts of the storage pods with certificates that are there, and of those that workloads still make as before. Sets that the spec has
     * no more are drained for hours, and pods are made again one by one.
     */
    public List<StorageAccount> storageAccounts() {
        Stream<StorageAccount> ofPods = pods(PoolLabels.ROLE_STORAGE).stream()
                .filter(pod -> pod.security().isOn())
                .map(pod -> new StorageAccount(
                        pod.made().serviceAccount(), Optional.of(pod.set()).filter(set -> pod.perNode())));
        Stream<StorageAccount> ofWorkloads = Stream.concat(
                        storageWorkloads(StatefulSet.class).stream(), storageWorkloads(DaemonSet.class).stream())
                .flatMap(workload -> Workloads.template(workload)
                        .filter(template ->
                                template.getMetadata().getAnnotations().containsKey(PoolLabels.TLS))
                        .map(template -> template.getSpec().getServiceAccountName())
                        .map(account -> new StorageAccount(
                                account, Optional.of(setName(workload)).filter(set -> workload instanceof DaemonSet)))
                        .stream());
        return Stream.concat(ofPods, ofWorkloads)
                .filter(account -> !account.name().isEmpty())
                .distinct()
                .sorted(Comparator.comparing(StorageAccount::name)
                        .thenComparing(account -> account.perNodeSet().orElse("")))
                .toList();
    }

    /** Names of Kubernetes nodes that are not ready. */
    public Set<String> lostNodes() {
        return nodes().stream()
                .filter(node -> !node.ready())
                .map(ObservedNode::name)
                .collect(Collectors.toSet());
    }

    /**
     * Whether nothing is changed, as the spec cannot be carried out or a user has paused the pool.
     *
     * @param problems why the spec cannot be carried out; empty when it can
     */
    public boolean rests(List<Finding> problems) {
        return !problems.isEmpty() || spec().paused();
    }

    /** Name of the storage set that a workload is of. */
    public static String setName(HasMetadata workload) {
        return workload.getMetadata().getLabels().get(PoolLabels.SET);
    }

    /** The pool's own transfer engine; empty when it names none or there is none of that name. */
    public Optional<TransferEngine> engine() {
        return engine(spec().transferEngine());
    }

    /** That of a storage set, which is the pool's when the set names none. */
    public Optional<TransferEngine> engine(StorageSetSpec set) {
        return engine(spec().transferEngine(set));
    }

    private Optional<TransferEngine> engine(String name) {
        return engines.stream()
                .filter(engine -> engine.getMetadata().getName().equals(name))
                .findFirst();
    }

    /** What they say, or the defaults where there is none. */
    public PoolEngines engineSpecs() {
        Map<String, TransferEngineSpec> ofSets = new HashMap<>();
        spec().storage().stream()
                .filter(set -> set.transferEngine() != null)
                .forEach(set -> ofSets.put(set.name(), engineSpec(engine(set))));
        return new PoolEngines(engineSpec(engine()), ofSets);
    }

    private static TransferEngineSpec engineSpec(Optional<TransferEngine> engine) {
        return engine.map(TransferEngine::getSpec).orElse(TransferEngineSpec.DEFAULTS);
    }

    /** What the leader says, when it leads, serves and answers. */
    public Optional<PoolReport> leaderReport() {
        return leadership()
                .map(Leadership::pod)
                .map(answers()::get)
                .filter(MasterAnswer.Report.class::isInstance)
                .map(answer -> ((MasterAnswer.Report) answer).report())
                .filter(PoolReport::leads);
    }

    /** All reports, by any master. */
    public List<PoolReport> reports() {
        return answers().values().stream()
                .filter(MasterAnswer.Report.class::isInstance)
                .map(answer -> ((MasterAnswer.Report) answer).report())
                .toList();
    }
}
