// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.gone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.storage.DeletionPolicy;
import dev.kvpool.operator.pool.naming.DirectoryList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.storage.NodeDirectory;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Directories of a pool that is gone are removed once nothing can write to them any more, and only those it can have made. */
class GonePlanTest {
    private static final String POOL_ID = "11111111-2222-3333-4444-555555555555";
    private static final String PATH = "/dev/shm/kvpool/" + POOL_ID + ".a";

    @Test
    void aJobOnItsNodeRemovesEachDirectory() {
        GonePlan plan = new GonePoolSketch(list(POOL_ID, "a.n1", "a.n2"))
                .nodes("n1", "n2")
                .plan();

        assertThat(plan.jobs()).hasSize(2).allSatisfy(job -> {
            assertThat(job.getMetadata().getOwnerReferences())
                    .singleElement()
                    .satisfies(owner -> assertThat(owner.getUid()).isEqualTo("uid-of-list"));
            var pod = job.getSpec().getTemplate().getSpec();
            assertThat(pod.getVolumes().getFirst().getHostPath().getPath()).isEqualTo("/dev/shm/kvpool");
            assertThat(pod.getContainers().getFirst().getArgs())
                    .containsExactly("remove-directories", "/directories/" + POOL_ID + ".a");
            assertThat(pod.getContainers().getFirst().getImage()).isEqualTo(GonePoolSketch.IMAGE);
            assertThat(pod.getImagePullSecrets()).extracting("name").containsExactly("registry");
        });
        assertThat(plan.jobs())
                .extracting(job -> job.getSpec().getTemplate().getSpec().getNodeName())
                .containsExactly("n1", "n2");
        assertThat(plan.remaining()).extracting(NodeDirectory::id).containsExactly("a.n1", "a.n2");
        assertThat(plan.isFinished()).isFalse();
    }

    @Test
    void theDirectoryOfAnSsdGoesByAJobOfItsOwn() {
        String ssd = "/mnt/nvme0/" + POOL_ID + ".a.ssd";
        ConfigMap list = list(POOL_ID, Map.of("a.n1", PATH + "," + ssd));
        List<Job> jobs = new GonePoolSketch(list).nodes("n1").plan().jobs();
        assertThat(jobs)
                .extracting(job -> job.getSpec()
                        .getTemplate()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getArgs()
                        .getLast())
                .containsExactly("/directories/" + POOL_ID + ".a", "/directories/" + POOL_ID + ".a.ssd");

        GonePlan after = new GonePoolSketch(list)
                .nodes("n1")
                .job(jobs.getFirst(), "Complete")
                .job(jobs.getLast())
                .plan();
        assertThat(NodeDirectory.list(after.remaining())).isEqualTo(Map.of("a.n1", ssd));

        assertThat(new GonePoolSketch(list)
                        .nodes("n1")
                        .job(jobs.getFirst(), "Complete")
                        .job(jobs.getLast(), "Complete")
                        .plan()
                        .isFinished())
                .isTrue();
    }

    @Test
    void nothingIsRemovedWhileADaemonSetMakesPodsThere() {
        GonePlan plan = only("a.n1").daemonSet(PATH).plan();

        assertThat(plan.jobs()).isEmpty();
        assertThat(plan.remaining()).extracting(NodeDirectory::id).containsExactly("a.n1");
    }

    @Test
    void nothingIsRemovedWhileAPodRunsThere() {
        assertThat(only("a.n1").pod("n1", "Running", PATH).plan().jobs()).isEmpty();
    }

    @Test
    void podsThatEndedOrRunElsewhereOrAreAnotherPoolsAreNotWaitedFor() {
        GonePlan plan = only("a.n1")
                .pod("n1", "Failed", PATH)
                .pod("n2", "Running", PATH)
                .pod("n1", "Running", "/dev/shm/kvpool/99999999-2222-3333-4444-555555555555.a")
                .plan();

        assertThat(plan.jobs()).hasSize(1);
    }

    @Test
    void aJobIsMadeOnceAndItsEndIsTheDirectorysEnd() {
        Job job = only("a.n1").plan().jobs().getFirst();

        assertThat(only("a.n1").job(job).plan().jobs()).isEmpty();
        assertThat(only("a.n1").job(job).plan().isFinished()).isFalse();
        assertThat(only("a.n1").job(job, "Complete").plan().isFinished()).isTrue();
    }

    @Test
    void aSidecarThatGoesOnKeepsNoJobFromBeingDone() {
        Job job = only("a.n1").plan().jobs().getFirst();

        assertThat(only("a.n1").job(job).ended(job, 1).plan().isFinished()).isFalse();
        assertThat(only("a.n1").job(job).ended(job, 0).plan().isFinished()).isTrue();
    }

    @Test
    void aJobThatFailedIsToldAndTheDirectoryIsNotForgotten() {
        Job job = only("a.n1").plan().jobs().getFirst();

        GonePlan plan = only("a.n1").job(job, "Failed").plan();

        assertThat(plan.notices())
                .singleElement()
                .satisfies(notice -> assertThat(notice.note())
                        .isEqualTo(
                                "Directory %s of node n1 was not removed: Job %s failed and is retried in ten minutes."
                                                .formatted(
                                                        PATH, job.getMetadata().getName())
                                        + " Its pods say why."));
        assertThat(plan.remaining()).extracting(NodeDirectory::id).containsExactly("a.n1");
        assertThat(plan.jobs()).isEmpty();
    }

    @Test
    void aNodeThatLeftTheClusterIsForgotten() {
        assertThat(new GonePoolSketch(list(POOL_ID, "a.n1")).plan().isFinished())
                .isTrue();
    }

    /** A user who can write ConfigMaps shall not make the operator remove what is no pool's. */
    @ParameterizedTest
    @ValueSource(
            strings = {"kubelet", "", "..", "11111111-2222-3333-4444-55555555555", "11111111222233334444555555555555"})
    void whatNoPoolCanHaveMadeIsLeftAlone(String poolId) {
        GonePlan plan = new GonePoolSketch(list(poolId, "a.n1")).nodes("n1").plan();

        assertThat(plan.jobs()).isEmpty();
        assertThat(plan.isFinished()).isTrue();
    }

    @Test
    void jobsAreBounded() {
        String[] ids = IntStream.range(0, 40).mapToObj(i -> "a.n" + i).toArray(String[]::new);
        String[] nodes = IntStream.range(0, 40).mapToObj(i -> "n" + i).toArray(String[]::new);
        GonePoolSketch sketch = new GonePoolSketch(list(POOL_ID, ids)).nodes(nodes);

        List<Job> first = sketch.plan().jobs();
        assertThat(first).hasSize(32);
        first.forEach(sketch::job);
        assertThat(sketch.plan().jobs()).isEmpty();

        GonePoolSketch later = new GonePoolSketch(list(POOL_ID, ids)).nodes(nodes);
        first.forEach(job -> later.job(job, "Complete"));
        assertThat(later.plan().jobs()).hasSize(8);
        assertThat(later.plan().remaining()).hasSize(8);
    }

    @Test
    void machinesThatAreDeadKeepNoOtherWaiting() {
        String[] ids =
                IntStream.range(0, 40).mapToObj(i -> "a.n%02d".formatted(i)).toArray(String[]::new);
        String[] nodes =
                IntStream.range(0, 40).mapToObj(i -> "n%02d".formatted(i)).toArray(String[]::new);
        List<Job> first =
                new GonePoolSketch(list(POOL_ID, ids)).nodes(nodes).plan().jobs();
        GonePoolSketch later = new GonePoolSketch(list(POOL_ID, ids)).nodes(nodes);
        first.forEach(job -> {
            later.job(job);
            later.dead(job.getSpec().getTemplate().getSpec().getNodeName());
        });

        GonePlan plan = later.plan();

        assertThat(plan.jobs()).hasSize(8);
        assertThat(plan.remaining()).hasSize(40);
    }

    @Test
    void aDeadMachineHasItsJobWhenItIsBack() {
        GonePlan plan = new GonePoolSketch(list(POOL_ID, "a.n1")).dead("n1").plan();
        assertThat(plan.jobs()).as("it would not be started").isEmpty();
        assertThat(plan.isFinished()).isFalse();

        assertThat(only("a.n1").plan().jobs()).hasSize(1);
    }

    private static GonePoolSketch only(String id) {
        return new GonePoolSketch(list(POOL_ID, id)).nodes("n1", "n2");
    }

    private static ConfigMap list(String poolId, String... ids) {
        return list(
                poolId,
                List.of(ids).stream()
                        .collect(Collectors.toMap(id -> id, id -> "/dev/shm/kvpool/%s.a".formatted(poolId))));
    }

    private static ConfigMap list(String poolId, Map<String, String> paths) {
        DirectoryList list = new DirectoryList(
                "demo",
                poolId,
                "uid-of-pool",
                DeletionPolicy.DELETE,
                List.of(new LocalObjectReference("registry")),
                new TreeMap<>(paths));
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName("demo-directories")
                .withNamespace("ns")
                .withUid("uid-of-list")
                .withLabels(PoolLabels.ofRole("demo", PoolLabels.ROLE_DIRECTORIES))
                .withAnnotations(list.notes())
                .endMetadata()
                .withData(list.paths())
                .build();
    }
}
