// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
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
    private static final String SPEC = "{deletionPolicy: Retain, storage: [" + SET + "]}";
    private static final String WITHOUT = "{deletionPolicy: Retain, storage: [{name: b, capacity: 1Gi}]}";
    private static final Map<String, String> FAST = Map.of("disk", "fast");
    private static final Map<String, String> SLOW = Map.of("disk", "slow");
    private static final Taint REPELS =
            new TaintBuilder().withKey("maintenance").withEffect("NoExecute").build();
    private static final String PATH = "/dev/shm/kvpool/uid.a";

    @Test
    void aDirectoryIsWrittenDownBeforeItsPodRuns() {
        assertThat(known(new PoolSketch(SPEC).node("n1", FAST).node("n2", SLOW).plan()))
                .isEqualTo(Map.of("a.n1", PATH));
    }

    @Test
    void aPoolWithoutSuchVolumesHasNoListOfThem() {
        assertThat(new PoolSketch(WITHOUT).plan().apply())
                .noneMatch(child -> child.getMetadata().getName().equals("demo-directories"));
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
        PoolPlan plan = written(new PoolSketch(spec).node("n1", SLOW)).plan();

        assertThat(jobs(plan)).singleElement().satisfies(job -> {
            var pod = job.getSpec().getTemplate().getSpec();
            assertThat(pod.getNodeName()).isEqualTo("n1");
            assertThat(pod.getVolumes().getFirst().getHostPath().getPath()).isEqualTo("/dev/shm/kvpool");
            assertThat(pod.getContainers().getFirst().getCommand())
                    .containsExactly("rm", "-rf", "--", "/directories/uid.a");
        });
        assertThat(plan.cleaning())
                .singleElement()
                .asString()
                .startsWith("Directory " + PATH + " of node n1 is being removed by Job demo-clean-");
        assertThat(known(plan)).isEqualTo(Map.of("a.n1", PATH));
    }

    @Test
    void aJobIsMadeOnceAndGoesWhenItIsDone() {
        Job job = jobs(gone().plan()).getFirst();

        PoolPlan running = gone().child(job).plan();
        assertThat(jobs(running)).isEmpty();
        assertThat(running.delete()).isEmpty();
        assertThat(running.cleaning()).hasSize(1);

        Job done = with(job, "Complete");
        PoolPlan after = gone().child(done).plan();
        assertThat(after.delete()).containsExactly(done);
        assertThat(known(after)).isEmpty();
        assertThat(after.cleaning()).isEmpty();
    }

    @Test
    void aJobThatFailedIsToldAndTheDirectoryIsNotForgotten() {
        PoolPlan plan =
                gone().child(with(jobs(gone().plan()).getFirst(), "Failed")).plan();

        assertThat(plan.cleaning())
                .singleElement()
                .asString()
                .contains("is still there: Job demo-clean-", "failed and is tried again in ten minutes");
        assertThat(known(plan)).isEqualTo(Map.of("a.n1", PATH));
    }

    @Test
    void aNodeThatComesBackKeepsWhatItHas() {
        Job job = jobs(gone().plan()).getFirst();

        PoolPlan plan =
                written(new PoolSketch(SPEC).node("n1", FAST)).child(job).plan();

        assertThat(plan.delete()).containsExactly(job);
        assertThat(known(plan)).isEqualTo(Map.of("a.n1", PATH));
    }

    @Test
    void aNodeOfTheClusterThatIsGoneIsForgotten() {
        PoolPlan plan = written(new PoolSketch(SPEC)).plan();

        assertThat(jobs(plan)).isEmpty();
        assertThat(known(plan)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "a.n1, /etc",
        "a.n1, /dev/shm/kvpool/other.a",
        "a.n1, /dev/shm/kvpool/uid.b",
        "a.n1, /dev/shm/../uid.a",
        "a.n1, dev/uid.a",
        "a.n1, ''",
        "an1, /dev/shm/kvpool/uid.an1",
        "., /dev/shm/kvpool/uid.",
        "A.n1, /dev/shm/kvpool/uid.A"
    })
    void whatSomebodyElseWroteThereIsRemovedFromTheListAndNotFromTheNode(String id, String path) {
        PoolPlan plan = new PoolSketch(SPEC)
                .node("n1", SLOW)
                .child(list(Map.of(id, path)))
                .plan();

        assertThat(jobs(plan)).isEmpty();
        assertThat(known(plan)).isEmpty();
    }

    private static PoolSketch gone() {
        return written(new PoolSketch(SPEC).node("n1", SLOW));
    }

    private static PoolSketch written(PoolSketch sketch) {
        return sketch.child(list(Map.of("a.n1", PATH)));
    }

    private static ConfigMap list(Map<String, String> directories) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName("demo-directories")
                .withNamespace("ns")
                .withLabels(PoolLabels.ofPool("demo"))
                .endMetadata()
                .withData(directories)
                .build();
    }

    private static Map<String, String> known(PoolPlan plan) {
        return plan.apply().stream()
                .filter(child -> child.getMetadata().getName().equals("demo-directories"))
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
