// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.pool.naming.DirectoryList;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Directories of nodes go with their pool, also when it is deleted while no operator runs, on a real API server; the test plays garbage
 * collection and the controller of Jobs.
 */
class GonePoolLifecycleTest {
    private static final String NAMESPACE = "gone-pools";
    private static final String NODE = "gone-pools-1";

    /** Id of pools of which nothing is left but their lists. */
    private static final String GONE = "22222222-2222-3333-4444-555555555555";

    private static final String SPEC = """
            {deletionPolicy: %s, storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {gone-pools: "yes"}},
              volume: {type: hostPath, path: /dev/shm/kvpool}}]}""";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE);

    private static ClusterActor cluster;

    @BeforeAll
    static void addNode() {
        cluster = OPERATOR.cluster();
        cluster.addNode(NODE, Map.of("gone-pools", "yes"));
    }

    @Test
    void aPoolThatIsDeletedWhileNoOperatorRunsIsCleanedUpByTheNext() {
        PoolUnderTest pool = running("down", "Delete");
        String uid = pool.uid();
        ConfigMap before = pool.directories().getFirst();
        assertThat(before.getMetadata().getOwnerReferences()).isEmpty();

        OPERATOR.stop();
        pool.delete();
        collect(pool, uid);
        OPERATOR.restart();

        // Its pod is still there.
        PoolUnderTest other = OPERATOR.make("other", SPEC.formatted("Delete"));
        await().until(() -> !other.directories().isEmpty());
        assertThat(pool.cleaning()).isEmpty();

        cluster.removePod("down-a-" + NODE);
        await().until(() -> pool.cleaning().size() == 1);
        Job job = pool.cleaning().getFirst();
        assertThat(job.getSpec().getTemplate().getSpec().getNodeName()).isEqualTo(NODE);
        assertThat(PoolUnderTest.arguments(job)).contains("/directories/" + uid + ".a");

        cluster.complete(job);
        await().until(() -> now(before) == null);
    }

    @Test
    void aSuccessorOfTheSameNameHasDirectoriesOfItsOwnAndThoseOfTheFirstGo() {
        PoolUnderTest pool = running("again", "Delete");
        String first = pool.uid();
        pool.delete();
        cluster.removePod("again-a-" + NODE);

        String second = pool.apply(SPEC.formatted("Delete")).uid();

        await().untilAsserted(() -> {
            collect(pool, first);
            assertThat(pool.cleaning())
                    .singleElement()
                    .satisfies(
                            job -> assertThat(PoolUnderTest.arguments(job)).contains("/directories/" + first + ".a"));
            assertThat(poolIds(pool)).contains(second);
        });
        cluster.complete(pool.cleaning().getFirst());
        await().untilAsserted(() -> assertThat(poolIds(pool)).containsExactly(second));
    }

    @Test
    void eachDirectoryOfAStorageNodeLeavesTheListWhenItIsGone() {
        String segment = "/dev/shm/kvpool/%s.a".formatted(GONE);
        String ssd = "/mnt/nvme0/%s.a.ssd".formatted(GONE);
        PoolUnderTest pool = leaveList("deep", segment + "," + ssd);
        ConfigMap before = pool.directories().getFirst();
        await().until(() -> pool.cleaning().size() == 2);

        cluster.complete(removing(pool, ".ssd"));
        await().until(() -> now(before).getData(), data -> data.equals(Map.of("a." + NODE, segment)));

        cluster.complete(removing(pool, ".a"));
        await().until(() -> now(before) == null);
    }

    @Test
    void aRetainedPoolKeepsItsDirectories() {
        PoolUnderTest kept = running("kept", "Retain");
        OPERATOR.stop();
        kept.delete();
        // Even with nothing that uses it.
        cluster.removePod("kept-a-" + NODE);
        OPERATOR.client().resource(kept.perNode("a")).delete();
        PoolUnderTest dropped = leaveList("dropped", "/dev/shm/kvpool/%s.a".formatted(GONE));
        OPERATOR.restart();

        await().until(() -> dropped.cleaning().size() == 1);
        assertThat(kept.cleaning()).isEmpty();
        assertThat(kept.directories()).hasSize(1);
    }

    /** The list that a pool left that was deleted long ago. */
    private static PoolUnderTest leaveList(String gone, String paths) {
        OPERATOR.client()
                .resource("""
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
        return OPERATOR.poolIn(NAMESPACE, gone);
    }

    /** The Job for the directory with that end of its name. */
    private static Job removing(PoolUnderTest pool, String end) {
        return pool.cleaning().stream()
                .filter(job -> PoolUnderTest.arguments(job).getLast().endsWith(end))
                .findFirst()
                .orElseThrow();
    }

    /** A pool with a storage node. */
    private static PoolUnderTest running(String name, String policy) {
        PoolUnderTest pool = OPERATOR.make(name, SPEC.formatted(policy));
        await().until(() -> !pool.directories().isEmpty() && pool.perNode("a") != null);
        cluster.runPodOn(name + "-a", NODE);
        return pool;
    }

    /** What garbage collection does, again and again: an operator that has not seen the deletion yet recreates objects. */
    private static void collect(PoolUnderTest pool, String goneUid) {
        pool.children().stream()
                .filter(child -> child.getMetadata().getOwnerReferences().stream()
                        .anyMatch(owner -> owner.getUid().equals(goneUid)))
                .filter(child -> DirectoryList.of(child).isEmpty())
                .forEach(child -> OPERATOR.client().resource(child).delete());
    }

    private static Stream<String> poolIds(PoolUnderTest pool) {
        return pool.directories().stream()
                .map(list -> DirectoryList.of(list).orElseThrow().poolId());
    }

    private static ConfigMap now(ConfigMap list) {
        return OPERATOR.client().resource(list).get();
    }
}
