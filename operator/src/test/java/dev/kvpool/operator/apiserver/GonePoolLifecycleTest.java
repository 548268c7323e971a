// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.pool.naming.DirectoryList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Directories of nodes go with their pool, also when it is deleted while no operator runs, on a real API server; the test plays garbage
 * collection and the controller of Jobs.
 */
class GonePoolLifecycleTest {
    private static final String NAMESPACE = "gone-pools";
    private static final String NODE = "gone-pools-1";
    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** Id of pools of which nothing is left but their lists. */
    private static final String GONE = "22222222-2222-3333-4444-555555555555";

    private static final String SPEC = """
            {deletionPolicy: %s, storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {gone-pools: "yes"}},
              volume: {type: hostPath, path: /dev/shm/kvpool}}]}""";

    private static OperatorUnderTest operator;
    private static KubernetesClient client;
    private static ClusterActor cluster;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE);
        client = operator.client();
        cluster = new ClusterActor(client, NAMESPACE);
        cluster.addNode(NODE, Map.of("gone-pools", "yes"));
    }

    @AfterAll
    static void stop() {
        client.nodes().withName(NODE).delete();
        operator.close();
    }

    @Test
    void aPoolThatIsDeletedWhileNoOperatorRunsIsCleanedUpByTheNext() {
        String uid = running("down", "Delete");
        ConfigMap before = list("down").orElseThrow();
        assertThat(before.getMetadata().getOwnerReferences()).isEmpty();

        operator.stop();
        delete("down");
        collect("down", uid);
        operator.restart();

        // Its pod is still there.
        operator.applyPool("other", SPEC.formatted("Delete"));
        await().atMost(LIMIT).until(() -> list("other").isPresent());
        assertThat(jobs("down")).isEmpty();

        cluster.removePod("down-a-" + NODE);
        await().atMost(LIMIT).until(() -> jobs("down").size() == 1);
        Job job = jobs("down").getFirst();
        assertThat(job.getSpec().getTemplate().getSpec().getNodeName()).isEqualTo(NODE);
        assertThat(job.getSpec()
                        .getTemplate()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getArgs())
                .contains("/directories/" + uid + ".a");

        complete(job);
        await().atMost(LIMIT).untilAsserted(() -> {
            ConfigMap after = byName(before);
            assertThat(DirectoryList.of(after)).isEmpty();
            assertThat(after.getMetadata().getOwnerReferences())
                    .singleElement()
                    .extracting(OwnerReference::getUid)
                    .isEqualTo(uid);
        });
    }

    @Test
    void aSuccessorOfTheSameNameHasDirectoriesOfItsOwnAndThoseOfTheFirstGo() {
        String first = running("again", "Delete");
        delete("again");
        cluster.removePod("again-a-" + NODE);

        String second = operator.applyPool("again", SPEC.formatted("Delete"))
                .getMetadata()
                .getUid();

        await().atMost(LIMIT).untilAsserted(() -> {
            collect("again", first);
            assertThat(jobs("again"))
                    .singleElement()
                    .satisfies(job -> assertThat(job.getSpec()
                                    .getTemplate()
                                    .getSpec()
                                    .getContainers()
                                    .getFirst()
                                    .getArgs())
                            .contains("/directories/" + first + ".a"));
            assertThat(lists("again"))
                    .extracting(list -> DirectoryList.of(list).orElseThrow().poolId())
                    .contains(second);
        });
        complete(jobs("again").getFirst());
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(lists("again"))
                        .extracting(list -> DirectoryList.of(list).orElseThrow().poolId())
                        .containsExactly(second));
    }

    @Test
    void eachDirectoryOfAStorageNodeLeavesTheListWhenItIsGone() {
        String segment = "/dev/shm/kvpool/%s.a".formatted(GONE);
        String ssd = "/mnt/nvme0/%s.a.ssd".formatted(GONE);
        leaveList("deep", segment + "," + ssd);
        ConfigMap before = list("deep").orElseThrow();
        await().atMost(LIMIT).until(() -> jobs("deep").size() == 2);

        complete(removing(".ssd"));
        await().atMost(LIMIT).until(() -> byName(before).getData(), data -> data.equals(Map.of("a." + NODE, segment)));

        complete(removing(".a"));
        await().atMost(LIMIT).until(() -> DirectoryList.of(byName(before)).isEmpty());
    }

    @Test
    void aRetainedPoolKeepsItsDirectories() {
        running("kept", "Retain");
        operator.stop();
        delete("kept");
        // Even with nothing that uses it.
        cluster.removePod("kept-a-" + NODE);
        client.apps().daemonSets().inNamespace(NAMESPACE).withName("kept-a").delete();
        leaveList("dropped", "/dev/shm/kvpool/%s.a".formatted(GONE));
        operator.restart();

        await().atMost(LIMIT).until(() -> jobs("dropped").size() == 1);
        assertThat(jobs("kept")).isEmpty();
        assertThat(list("kept")).isPresent();
    }

    /** A list as a pool leaves it that was deleted long ago. */
    private static void leaveList(String gone, String paths) {
        client.resource("""
                apiVersion: v1
                kind: ConfigMap
                metadata:
                  name: %s-directories-22222222
                  namespace: %s
                  labels: {app.kubernetes.io/managed-by: kvpool-operator, kvpool.dev/pool: %s, kvpool.dev/role: directories}
                  annotations: {kvpool.dev/pool-id: %s, kvpool.dev/pool-uid: %s, kvpool.dev/deletion-policy: Delete}
                data: {a.%s: "%s"}
                """.formatted(gone, NAMESPACE, gone, GONE, GONE, NODE, paths))
                .create();
    }

    /** The Job of pool deep for the directory with that end of its name. */
    private static Job removing(String end) {
        return jobs("deep").stream()
                .filter(job -> job.getSpec()
                        .getTemplate()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getArgs()
                        .getLast()
                        .endsWith(end))
                .findFirst()
                .orElseThrow();
    }

    /** A pool with a storage node; its UID. */
    private static String running(String pool, String policy) {
        String uid =
                operator.applyPool(pool, SPEC.formatted(policy)).getMetadata().getUid();
        await().atMost(LIMIT)
                .until(() -> list(pool).isPresent()
                        && client.apps()
                                        .daemonSets()
                                        .inNamespace(NAMESPACE)
                                        .withName(pool + "-a")
                                        .get()
                                != null);
        cluster.runPodOn(pool + "-a", NODE);
        return uid;
    }

    private static void delete(String pool) {
        client.resource(operator.pool(pool)).delete();
    }

    /** What garbage collection does, again and again: an operator that has not seen the deletion yet makes objects anew. */
    private static void collect(String pool, String goneUid) {
        for (HasMetadata child : Children.of(client, NAMESPACE, pool)) {
            boolean owned = child.getMetadata().getOwnerReferences().stream()
                    .anyMatch(owner -> owner.getUid().equals(goneUid));
            if (owned && DirectoryList.of(child).isEmpty()) {
                client.resource(child).delete();
            }
        }
    }

    private static void complete(Job job) {
        client.resource(job).subresource("status").patch(PatchContext.of(PatchType.JSON_MERGE), """
                        {"status": {"succeeded": 1, "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:01Z",
                          "uncountedTerminatedPods": {}, "conditions": [
                            {"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"}]}}
                        """);
    }

    private static Optional<ConfigMap> list(String pool) {
        return lists(pool).stream().findFirst();
    }

    private static List<ConfigMap> lists(String pool) {
        return client.configMaps()
                .inNamespace(NAMESPACE)
                .withLabel(PoolLabels.POOL, pool)
                .withLabel(PoolLabels.ROLE, PoolLabels.ROLE_DIRECTORIES)
                .list()
                .getItems();
    }

    private static ConfigMap byName(ConfigMap list) {
        return client.configMaps()
                .inNamespace(NAMESPACE)
                .withName(list.getMetadata().getName())
                .get();
    }

    private static List<Job> jobs(String pool) {
        return client.batch()
                .v1()
                .jobs()
                .inNamespace(NAMESPACE)
                .withLabel(PoolLabels.POOL, pool)
                .withLabel(PoolLabels.ROLE, PoolLabels.ROLE_CLEANING)
                .list()
                .getItems();
    }
}
