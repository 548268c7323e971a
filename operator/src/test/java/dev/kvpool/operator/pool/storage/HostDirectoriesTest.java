// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.storage.DeletionPolicy;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.DirectoryList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PodContainer;
import dev.kvpool.operator.pool.plan.PoolPlan;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Directories of nodes are written down before there are any, and removed when their storage node has gone for good. */
class HostDirectoriesTest {
    private static final String SET =
            "{name: a, capacity: 1Gi, perNode: {nodeSelector: {disk: fast}}, volume: {type: hostPath, path: /dev/shm/kvpool}}";
    private static final String SPEC = "{storage: [" + SET + "]}";
    private static final String WITH_SSD = """
            {storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {disk: fast}},
              volume: {type: hostPath, path: /dev/shm/kvpool}, ssd: {capacity: 1Gi, path: /mnt/nvme0}}]}""";
    private static final String WITHOUT = "{storage: [{name: b, capacity: 1Gi}]}";
    private static final Map<String, String> FAST = Map.of("disk", "fast");
    private static final Map<String, String> SLOW = Map.of("disk", "slow");
    private static final Taint REPELS =
            new TaintBuilder().withKey("maintenance").withEffect("NoExecute").build();
    private static final String OTHER = "99999999-2222-3333-4444-555555555555";
    private static final String PATH = "/dev/shm/kvpool/" + PoolSketch.UID + ".a";
    private static final String RELEASED = ",released";
    private static final String SSD = "/mnt/nvme0/" + PoolSketch.UID + ".a.ssd";

    @Test
    void aDirectoryIsWrittenDownBeforeItsPodRuns() {
        assertThat(known(new PoolSketch(SPEC).node("n1", FAST).node("n2", SLOW).plan()))
                .isEqualTo(Map.of("a.n1", PATH));
    }

    @Test
    void aPoolWithoutSuchVolumesHasNoListOfThem() {
        assertThat(new PoolSketch(WITHOUT).plan().apply())
                .noneMatch(child -> DirectoryList.of(child).isPresent());
    }

    @Test
    void nothingIsRemovedWhileTheNodeIsSelectedThoughItRepelsPods() {
        PoolPlan plan = written(new PoolSketch(SPEC).node("n1", FAST, REPELS)).plan();

        assertThat(jobs(plan)).isEmpty();
        assertThat(known(plan)).isEqualTo(Map.of("a.n1", PATH));
    }

    @Test
    void nothingIsRemovedWhileAPodIsThere() {
        ObservedPod leaving = PoolSketch.perNodePod("a", "n1", false, "new");

        PoolPlan plan =
                written(new PoolSketch(SPEC).node("n1", SLOW).pod(leaving)).plan();

        assertThat(jobs(plan)).isEmpty();
        assertThat(known(plan)).isEqualTo(Map.of("a.n1", PATH));
    }

    @ParameterizedTest
    @ValueSource(strings = {SPEC, WITHOUT})
    void theDirectoryOfANodeThatIsNotSelectedOrOfASetThatIsGoneIsRemovedByAJob(String spec) {
        PoolPlan plan = emptied(written(new PoolSketch(spec).node("n1", SLOW))).plan();

        assertThat(jobs(plan)).singleElement().satisfies(job -> {
            var pod = job.getSpec().getTemplate().getSpec();
            assertThat(pod.getNodeName()).isEqualTo("n1");
            assertThat(pod.getVolumes().getFirst().getHostPath().getPath()).isEqualTo("/dev/shm/kvpool");
            assertThat(pod.getContainers().getFirst().getArgs())
                    .containsExactly("remove-directories", "/directories/" + PoolSketch.UID + ".a");
        });
        assertThat(plan.outstanding().cleaning())
                .singleElement()
                .asString()
                .startsWith("Directory " + PATH + " of node n1 is being removed by Job demo-clean-");
        assertThat(known(plan)).isEqualTo(Map.of("a.n1", PATH + RELEASED));
    }

    @Test
    void aJobIsMadeOnceAndGoesWhenItIsDone() {
        Job job = jobs(gone().plan()).getFirst();

        PoolPlan running = gone().child(job).plan();
        assertThat(jobs(running)).isEmpty();
        assertThat(running.delete()).isEmpty();
        assertThat(running.outstanding().cleaning()).hasSize(1);

        Job done = with(job, "Complete");
        PoolPlan after = gone().child(done).plan();
        assertThat(after.delete()).containsExactly(done);
        assertThat(known(after)).isEmpty();
        assertThat(after.outstanding().cleaning()).isEmpty();
    }

    @Test
    void aSidecarThatGoesOnKeepsNoJobFromBeingDone() {
        Job job = jobs(gone().plan()).getFirst();
        String name = job.getMetadata().getName();

        assertThat(gone().child(job)
                        .pod(remover("demo-clean-other-abcde", 0))
                        .plan()
                        .delete())
                .as("another one's pod")
                .isEmpty();
        assertThat(gone().child(job).pod(remover(name + "-abcde", 1)).plan().delete())
                .isEmpty();
        PoolPlan after = gone().child(job).pod(remover(name + "-abcde", 0)).plan();
        assertThat(after.delete()).containsExactly(job);
        assertThat(known(after)).isEmpty();
    }

    private static ObservedPod remover(String name, int code) {
        ObservedPod pod = PoolSketch.pod(name, PoolLabels.ROLE_CLEANING, "", true, "");
        return PoolSketch.ended(pod, PoolSketch.IMAGE, new PodContainer.Ended(code, ""));
    }

    @Test
    void aJobThatFailedIsToldAndTheDirectoryIsNotForgotten() {
        PoolPlan plan =
                gone().child(with(jobs(gone().plan()).getFirst(), "Failed")).plan();

        assertThat(plan.outstanding().cleaning())
                .singleElement()
                .asString()
                .contains("was not removed: Job demo-clean-", "failed and is retried in ten minutes");
        assertThat(known(plan)).isEqualTo(Map.of("a.n1", PATH + RELEASED));
    }

    @Test
    void aNodeThatComesBackKeepsWhatItHas() {
        Job job = jobs(gone().plan()).getFirst();

        PoolPlan plan = new PoolSketch(SPEC)
                .node("n1", FAST)
                .child(list(known(gone().plan())))
                .child(job)
                .plan();

        assertThat(plan.delete()).containsExactly(job);
        assertThat(known(plan)).isEqualTo(Map.of("a.n1", PATH));
    }

    @Test
    void aNodeOfTheClusterThatIsGoneIsForgotten() {
        PoolPlan plan = written(new PoolSketch(SPEC)).plan();

        assertThat(jobs(plan)).isEmpty();
        assertThat(known(plan)).isEmpty();
    }

    @Test
    void thatOfAnSsdIsWrittenDownBesideTheSegments() {
        assertThat(known(new PoolSketch(WITH_SSD).node("n1", FAST).plan())).isEqualTo(Map.of("a.n1", PATH + "," + SSD));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/dev/shm/kvpool", "/dev/shm", "/dev/shm/kvpool/a", "/dev/shm/kvpool/a.ssd"})
    void anSsdMayLieBesideOrBelowSegments(String path) {
        PoolPlan plan = new PoolSketch(WITH_SSD.replace("/mnt/nvme0", path))
                .node("n1", FAST)
                .plan();

        String[] paths = known(plan).get("a.n1").split(",", -1);
        assertThat(paths).hasSize(2).doesNotHaveDuplicates();
        assertThat(paths[1]).doesNotStartWith(paths[0] + "/");
        assertThat(paths[0]).doesNotStartWith(paths[1] + "/");
    }

    @Test
    void eachGoesByAJobOfItsOwnSoThatABrokenDiskKeepsNoMemory() {
        PoolSketch gone =
                emptied(new PoolSketch(WITHOUT).node("n1", SLOW).child(list(Map.of("a.n1", PATH + "," + SSD))));
        List<Job> jobs = jobs(gone.plan());
        assertThat(jobs)
                .extracting(HostDirectoriesTest::parent)
                .containsExactlyInAnyOrder("/dev/shm/kvpool", "/mnt/nvme0");
        assertThat(jobs).extracting(job -> job.getMetadata().getName()).doesNotHaveDuplicates();
        jobs.forEach(job -> gone.child(with(job, parent(job).equals("/mnt/nvme0") ? "Failed" : "Complete")));

        PoolPlan after = gone.plan();

        assertThat(known(after)).isEqualTo(Map.of("a.n1", SSD + RELEASED));
        assertThat(after.outstanding().cleaning())
                .singleElement()
                .asString()
                .startsWith("Directory " + SSD + " of node n1 was not removed");
    }

    @Test
    void aSetThatCameBackElsewhereLeavesNothingBehind() {
        PoolSketch back = new PoolSketch(SPEC.replace("kvpool", "other")).node("n1", FAST);
        String other = "/dev/shm/other/" + PoolSketch.UID + ".a";

        PoolPlan plan = back.child(list(Map.of("a.n1", PATH + RELEASED))).plan();
        assertThat(known(plan)).isEqualTo(Map.of("a.n1", PATH + "," + other));
        assertThat(plan.outstanding().cleaning()).singleElement().asString().contains(PATH);

        ObservedPod pod = PoolSketch.perNodePod("a", "n1", true, "earlier");
        assertThat(written(back).pod(pod).plan().outstanding().cleaning())
                .as("which of them its pod is on is not known")
                .isEmpty();

        DaemonSet set = daemonSet(back.plan());
        String settings =
                set.getSpec().getTemplate().getMetadata().getAnnotations().get(PoolLabels.SETTINGS);
        back.child(set);
        assertThat(written(back).pod(pod).plan().outstanding().cleaning())
                .as("it was made with others than its set says")
                .isEmpty();
        assertThat(written(back)
                        .pod(PoolSketch.perNodePod("a", "n1", true, settings))
                        .plan()
                        .outstanding()
                        .cleaning())
                .as("it was made with the new one")
                .singleElement()
                .asString()
                .contains(PATH);
    }

    private static DaemonSet daemonSet(PoolPlan plan) {
        return plan.apply().stream()
                .filter(DaemonSet.class::isInstance)
                .map(DaemonSet.class::cast)
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({
        "a.n1, /etc",
        "a.n1, /dev/shm/kvpool/other.a",
        "a.n1, /dev/shm/kvpool/POOL.b",
        "a.n1, /mnt/nvme0/POOL.b.ssd",
        "a.n1, /mnt/nvme0/POOL.ssd",
        "a.n1, '/dev/shm/kvpool/POOL.b,/etc'",
        "a.n1, '/etc,/mnt/nvme0/other.a.ssd'",
        "a.n1, /dev/shm/../POOL.a",
        "a.n1, dev/POOL.a",
        "a.n1, ''",
        "an1, /dev/shm/kvpool/POOL.an1",
        "., /dev/shm/kvpool/POOL.",
        "A.n1, /dev/shm/kvpool/POOL.A"
    })
    void whatSomebodyElseWroteThereIsRemovedFromTheListAndNotFromTheNode(String id, String path) {
        PoolPlan plan = new PoolSketch(SPEC)
                .node("n1", SLOW)
                .child(list(Map.of(id, path.replace("POOL", PoolSketch.UID))))
                .plan();

        assertThat(jobs(plan)).isEmpty();
        assertThat(known(plan)).isEmpty();
    }

    @Test
    void theListHasNoOwnerSoThatItOutlivesThePool() {
        assertThat(new PoolSketch(SPEC).node("n1", FAST).plan().apply())
                .filteredOn(child -> DirectoryList.of(child).isPresent())
                .singleElement()
                .satisfies(list -> {
                    assertThat(list.getMetadata().getName()).isEqualTo("demo-directories-11111111");
                    assertThat(list.getMetadata().getOwnerReferences()).isEmpty();
                    assertThat(DirectoryList.of(list).orElseThrow().policy()).isEqualTo(DeletionPolicy.DELETE);
                });
    }

    @Test
    void theListOfADeletedPoolIsNotThatOfItsSuccessor() {
        ConfigMap before = PoolSketch.directories(
                OTHER, OTHER, DeletionPolicy.DELETE, Map.of("a.n1", "/dev/shm/kvpool/" + OTHER + ".a"));

        PoolPlan plan = new PoolSketch(SPEC).node("n1", FAST).child(before).plan();

        assertThat(known(plan)).isEqualTo(Map.of("a.n1", PATH));
        assertThat(plan.apply())
                .noneMatch(child -> child.getMetadata()
                        .getName()
                        .equals(before.getMetadata().getName()));
    }

    @Test
    void aPoolThatTakesOverARetainedOneTakesItsDirectoriesOver() {
        String path = "/dev/shm/kvpool/" + OTHER + ".a";
        ConfigMap before = PoolSketch.directories(OTHER, OTHER, DeletionPolicy.RETAIN, Map.of("a.n1", path));

        PoolPlan plan = new PoolSketch(SPEC).node("n1", FAST).child(before).plan();

        assertThat(known(plan)).isEqualTo(Map.of("a.n1", path));
    }

    private static PoolSketch gone() {
        return emptied(written(new PoolSketch(SPEC).node("n1", SLOW)));
    }

    /** The leader says that nothing is in them. */
    private static PoolSketch emptied(PoolSketch sketch) {
        return sketch.masters(2, 1, PoolSketch.leader(List.of(PoolSketch.node("a.n1", "away", "", 0, 0))));
    }

    private static PoolSketch written(PoolSketch sketch) {
        return sketch.child(list(Map.of("a.n1", PATH)));
    }

    private static ConfigMap list(Map<String, String> directories) {
        return PoolSketch.directories(PoolSketch.UID, PoolSketch.UID, DeletionPolicy.DELETE, directories);
    }

    private static Map<String, String> known(PoolPlan plan) {
        return plan.apply().stream()
                .filter(child -> DirectoryList.of(child).isPresent())
                .map(child -> ((ConfigMap) child).getData())
                .findFirst()
                .orElseThrow();
    }

    private static List<Job> jobs(PoolPlan plan) {
        return plan.apply().stream()
                .filter(Job.class::isInstance)
                .map(Job.class::cast)
                .toList();
    }

    /** Of the directory that it removes. */
    private static String parent(Job job) {
        return job.getSpec()
                .getTemplate()
                .getSpec()
                .getVolumes()
                .getFirst()
                .getHostPath()
                .getPath();
    }

    private static Job with(Job job, String condition) {
        return new JobBuilder(job)
                .withNewStatus()
                .addNewCondition()
                .withType(condition)
                .withStatus("True")
                .endCondition()
                .endStatus()
                .build();
    }
}
