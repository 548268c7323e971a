// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.function.UnaryOperator;

/** A pool in a cluster, seen from outside: its custom resource, its pods, its Lease. */
public final class Pool {

    private static final String POOL_LABEL = "kvpool.dev/pool";
    static final String ROLE_LABEL = "kvpool.dev/role";
    private static final Set<String> MEMBERS = Set.of("master", "storage");
    private static final String ADMIN_PORT = "admin";
    private static final String SECURE_ADMIN_PORT = "admin-tls";
    private static final String LEADER_LABEL = "kvpool.dev/leader";

    private final Cluster cluster;
    private final String namespace;
    private final String name;
    private UnaryOperator<String> admitted = UnaryOperator.identity();

    /** Names a pool, which need not exist yet. */
    public Pool(Cluster cluster, String namespace, String name) {
        this.cluster = cluster;
        this.namespace = namespace;
        this.name = name;
    }

    /** Says which image its pods have instead of the one that the operator asks for. */
    public void admittedAs(UnaryOperator<String> images) {
        admitted = images;
    }

    /** The leading master and its epoch. */
    public record Leader(String pod, int epoch) {}

    public String name() {
        return name;
    }

    public String namespace() {
        return namespace;
    }

    public KvCachePool resource() {
        return cluster.client()
                .resources(KvCachePool.class)
                .inNamespace(namespace)
                .withName(name)
                .require();
    }

    /** Waits until the custom resource says that everything is there, for the spec as it is now. */
    public void awaitReady() {
        Wait.until("pool " + name + " is Ready", Limits.POOL_READY, () -> {
            KvCachePool resource = resource();
            KvCachePoolStatus status = resource.getStatus();
            assertThat(status).as("status").isNotNull();
            assertThat(status.observedGeneration())
                    .as("observed generation")
                    .isEqualTo(resource.getMetadata().getGeneration());
            assertThat(status.phase()).as(status.message()).isEqualTo(PoolPhase.READY);
        });
    }

    /** Until one of its conditions has this reason. */
    public void awaitReason(String reason) {
        Wait.until(
                "pool " + name + " says " + reason,
                Limits.STATUS,
                () -> assertThat(resource().getStatus().conditions())
                        .extracting(Condition::reason)
                        .contains(reason));
    }

    /** Waits until all pods run the version's image, and the operator has come to this end. */
    public void awaitVersion(String version, String reason) {
        Wait.until("the pool runs " + version + " and says " + reason, Limits.POOL_READY, () -> {
            assertThat(upgradeCondition().reason())
                    .as(upgradeCondition().message())
                    .isEqualTo(reason);
            assertThat(resource().getStatus().version().running()).isEqualTo(version);
            assertThat(members())
                    .allSatisfy(pod ->
                            assertThat(OwnContainer.of(pod).getImage()).isEqualTo(admitted.apply("kvpool:" + version)));
        });
    }

    /** Waits until an upgrade has come to its first step. */
    public void awaitUpgradeStep() {
        Wait.until(
                "the first step of the upgrade of pool " + name + " is under way",
                Limits.RESTART,
                () -> assertThat(resource().getStatus().steps()).isNotEmpty());
    }

    /** What the operator says of upgrades. */
    public Condition upgradeCondition() {
        return resource().getStatus().conditions().stream()
                .filter(condition -> condition.type().equals("UpgradeBlocked"))
                .findFirst()
                .orElseThrow();
    }

    /** All its pods, by name. */
    public List<Pod> pods() {
        return pods(POOL_LABEL, name);
    }

    /** Its masters and storage nodes, by name; Jobs come and go. */
    public List<Pod> members() {
        return pods().stream()
                .filter(pod -> MEMBERS.contains(pod.getMetadata().getLabels().get(ROLE_LABEL)))
                .toList();
    }

    public List<Pod> storagePods() {
        return pods(ROLE_LABEL, "storage");
    }

    /** Of the tokens that it takes; empty while it gives no certificates. */
    public Optional<String> audience() {
        return identity("audience");
    }

    /** Where processes show their tokens, as {@code kvpool enrol --admins} takes it; empty while it gives no certificates. */
    public Optional<String> enrolmentAddresses() {
        return identity("admins");
    }

    private Optional<String> identity(String what) {
        return Optional.ofNullable(cluster.client()
                        .configMaps()
                        .inNamespace(namespace)
                        .withName(name + "-identity")
                        .get())
                .map(map -> map.getData().get(what));
    }

    /** What the leader says of the pool, to an admin where it asks who that is. */
    public JsonNode leadersReport() {
        String leader = leaseHolder().pod();
        String path = "api/v1/pool";
        return Serialization.unmarshal(
                audience().map(audience -> askAsAdmin(leader, path, audience)).orElseGet(() -> ask(leader, path)),
                JsonNode.class);
    }

    /** The API server keeps the Authorization header for itself. */
    private String askAsAdmin(String pod, String path, String audience) {
        var client = cluster.client();
        String token = client.serviceAccounts()
                .inNamespace(namespace)
                .withName(name + "-admin")
                .tokenRequest(new TokenRequestBuilder()
                        .withNewSpec()
                        .withAudiences(audience)
                        .endSpec()
                        .build())
                .getStatus()
                .getToken();
        try {
            var answer = client.getHttpClient()
                    .sendAsync(
                            client.getHttpClient()
                                    .newHttpRequestBuilder()
                                    .uri(client.getMasterUrl().toString().replaceFirst("/$", "")
                                            + proxy("https:" + pod, port(pod, SECURE_ADMIN_PORT), path))
                                    .header("X-Kvpool-Token", token)
                                    .build(),
                            String.class)
                    .get();
            assertThat(answer.code()).as(answer.bodyString()).isEqualTo(200);
            return answer.body();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException | IOException e) {
            throw new IllegalStateException(pod + " did not answer", e);
        }
    }

    /**
     * What a master or storage node answers to a GET of its admin port.
     *
     * @param path without the slash before it, as {@code metrics}
     */
    public String ask(String pod, String path) {
        return cluster.kubectl().run("get", "--raw", proxy(pod, port(pod, ADMIN_PORT), path));
    }

    private String proxy(String pod, int port, String path) {
        return "/api/v1/namespaces/%s/pods/%s:%d/proxy/%s".formatted(namespace, pod, port, path);
    }

    /** A metric without labels of a master or storage node. */
    public double metric(String pod, String metric) {
        return ask(pod, "metrics")
                .lines()
                .filter(line -> line.startsWith(metric + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(metric.length() + 1)))
                .findFirst()
                .orElseThrow();
    }

    /** What a storage node says of itself. */
    public JsonNode nodeDocument(Pod node) {
        return Serialization.unmarshal(ask(node.getMetadata().getName(), "api/v1/node"), JsonNode.class);
    }

    /** The API server forwards to ports by number only, where a pod is named without a Service. */
    private int port(String pod, String portName) {
        return cluster.client().pods().inNamespace(namespace).withName(pod).require().getSpec().getContainers().stream()
                .flatMap(container -> container.getPorts().stream())
                .filter(port -> portName.equals(port.getName()))
                .map(ContainerPort::getContainerPort)
                .findFirst()
                .orElseThrow();
    }

    /** The master that holds the Lease, with its epoch. */
    public Leader leaseHolder() {
        Lease lease = cluster.client()
                .leases()
                .inNamespace(namespace)
                .withName(name + "-master")
                .require();
        String holder = lease.getSpec().getHolderIdentity();
        assertThat(holder).as("holder of the Lease").matches(".+_[0-9a-f]{16}");
        return new Leader(
                holder.substring(0, holder.lastIndexOf('_')), lease.getSpec().getLeaseTransitions());
    }

    /** Names of the pods that the leader Service selects. */
    public List<String> labelledLeaders() {
        return pods(LEADER_LABEL, "true").stream()
                .map(pod -> pod.getMetadata().getName())
                .toList();
    }

    /** Waits until Lease, label and status agree on a leader of a later epoch, and returns it. */
    public Leader awaitLeaderAfter(int epoch) {
        Wait.until("pool " + name + " has a leader after epoch " + epoch, Limits.TAKEOVER, () -> {
            Leader leader = leaseHolder();
            assertThat(leader.epoch()).as("epoch in the Lease").isGreaterThan(epoch);
            assertThat(labelledLeaders()).as("labelled leaders").containsExactly(leader.pod());
            var status = resource().getStatus().leader();
            assertThat(status).as("leader in the status").isNotNull();
            assertThat(status.pod()).as("leader in the status").isEqualTo(leader.pod());
            assertThat(status.epoch()).as("epoch in the status").isEqualTo(leader.epoch());
        });
        return leaseHolder();
    }

    /**
     * Takes away a child that no pod depends on and waits until the operator made it again: then it has seen the pool in
     * its present life.
     */
    public void awaitReconciledAgain() {
        var child = cluster.client().configMaps().inNamespace(namespace).withName(name + "-client");
        String before = child.require().getMetadata().getUid();
        child.delete();
        Wait.until(
                "the operator makes the client ConfigMap of pool " + name + " again",
                Limits.RESTART,
                () -> assertThat(child.require().getMetadata().getUid()).isNotEqualTo(before));
        awaitReady();
    }

    private List<Pod> pods(String label, String value) {
        return cluster
                .client()
                .pods()
                .inNamespace(namespace)
                .withLabel(POOL_LABEL, name)
                .withLabel(label, value)
                .list()
                .getItems()
                .stream()
                .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
                .toList();
    }
}
