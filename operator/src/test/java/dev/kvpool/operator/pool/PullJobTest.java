// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ImagePull;
import dev.kvpool.operator.pool.observation.ObservedJob;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.ObservedPull;
import dev.kvpool.operator.pool.observation.PodContainer;
import dev.kvpool.operator.pool.observation.PreflightAnswer;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Jobs that bring the image of an upgrade to the Kubernetes nodes: which there are, and what is read from them. */
class PullJobTest {
    private static final String NEXT = "kvpool:next";

    /** A pool on two Kubernetes nodes whose preflight has answered that it can be upgraded; a third node has none of it. */
    static PoolSketch answered(String image) {
        Job preflight = (Job) asking(image).plan().apply().stream()
                .filter(Job.class::isInstance)
                .findFirst()
                .orElseThrow();
        ObservedPod pod = PoolSketch.pod("demo-preflight-x", PoolLabels.ROLE_PREFLIGHT, "", true, "");
        String warm = "{\"verdict\": \"rolling-warm\", \"reason\": \"it fits\"}";
        return asking(image).child(preflight).pod(PoolSketch.ended(pod, image, new PodContainer.Ended(0, warm)));
    }

    private static PoolSketch asking(String image) {
        return new PoolSketch("{image: '%s', storage: [{name: a, replicas: 1, capacity: 1Gi}]}".formatted(image))
                .status(PoolSketch.asking(image, PoolSketch.IMAGE))
                .set("a", 0)
                .masters(2, 1, PoolSketch.leader(List.of()))
                .pod(PoolSketch.podOn("other", "demo-a-0", "a"))
                .node("worker", Map.of())
                .node("other", Map.of())
                .node("idle", Map.of());
    }

    private static List<Job> pulls(PoolSketch sketch) {
        return sketch.plan().apply().stream()
                .filter(Job.class::isInstance)
                .map(Job.class::cast)
                .filter(job -> ObservedJob.hasRole(job, PoolLabels.ROLE_PULL))
                .toList();
    }

    private static Job begun(Job job) {
        return new JobBuilder(job)
                .editMetadata()
                .withCreationTimestamp(PoolSketch.NOON.toString())
                .endMetadata()
                .build();
    }

    private static Job with(Job job, String condition) {
        return new JobBuilder(begun(job))
                .withNewStatus()
                .addNewCondition()
                .withType(condition)
                .withStatus("True")
                .endCondition()
                .endStatus()
                .build();
    }

    @Test
    void thereIsOneForEachNodeWithPodsOfThePool() {
        List<Job> pulls = pulls(answered(NEXT));

        assertThat(pulls).extracting(ObservedPull::node).containsExactly("other", "worker");
        assertThat(pulls).extracting(PreflightAnswer::image).containsOnly(NEXT);
        assertThat(pulls).extracting(job -> job.getMetadata().getName()).doesNotHaveDuplicates();
        assertThat(pulls).allSatisfy(job -> {
            assertThat(job.getSpec().getTemplate().getSpec().getTolerations())
                    .as("the node may be cordoned or tainted")
                    .anyMatch(toleration -> "Exists".equals(toleration.getOperator()) && toleration.getKey() == null);
            assertThat(job.getSpec()
                            .getTemplate()
                            .getSpec()
                            .getContainers()
                            .getFirst()
                            .getArgs())
                    .containsExactly("version");
        });
    }

    @Test
    void noneBeginsBeforeThePreflightHasAnswered() {
        assertThat(pulls(asking(NEXT))).isEmpty();
    }

    @Test
    void thoseThatAreThereAreLeftToEndAndGoWithTheQuestion() {
        List<Job> pulls = pulls(answered(NEXT));
        PoolSketch sketch = answered(NEXT).child(begun(pulls.getFirst()));
        assertThat(pulls(sketch)).extracting(ObservedPull::node).containsExactly("worker");
        assertThat(sketch.plan().delete()).isEmpty();

        PoolSketch over = answered(NEXT);
        pulls.forEach(job -> over.child(with(job, ObservedJob.COMPLETE)));
        assertThat(over.plan().delete())
                .extracting(HasMetadata::getMetadata)
                .extracting(metadata -> metadata.getName())
                .as("the upgrade begins")
                .containsAll(
                        pulls.stream().map(job -> job.getMetadata().getName()).toList());
    }

    @Test
    void whatHasBecomeOfOneIsRead() {
        Job job = pulls(answered(NEXT)).getFirst();

        assertThat(read(begun(job), "")).isEqualTo(ImagePull.State.RUNNING);
        assertThat(read(begun(job), "ContainerCreating")).isEqualTo(ImagePull.State.RUNNING);
        assertThat(read(begun(job), "ImagePullBackOff: denied")).isEqualTo(ImagePull.State.REFUSED);
        assertThat(read(with(job, ObservedJob.COMPLETE), "")).isEqualTo(ImagePull.State.DONE);
        assertThat(read(with(job, ObservedJob.FAILED), "")).isEqualTo(ImagePull.State.FAILED);
    }

    @Test
    void aPodOfAnEarlierJobOfItsNameDoesNotCount() {
        Job job = begun(pulls(answered(NEXT)).getFirst());
        PoolSketch sketch = answered(NEXT).pod(waiting(job, "ImagePullBackOff: denied", "registry.example/earlier:1"));

        assertThat(ObservedPull.of(job, sketch.observation()).state()).isEqualTo(ImagePull.State.RUNNING);
    }

    private static ImagePull.State read(Job job, String trouble) {
        PoolSketch sketch = answered(NEXT);
        if (!trouble.isEmpty()) {
            sketch.pod(waiting(job, trouble, NEXT));
        }
        return ObservedPull.of(job, sketch.observation()).state();
    }

    private static ObservedPod waiting(Job job, String trouble, String image) {
        String[] words = trouble.split(": ", -1);
        return ObservedPod.of(new PodBuilder()
                .withNewMetadata()
                .withName(job.getMetadata().getName() + "-x")
                .withUid("x")
                .withLabels(PoolLabels.ofRole("demo", PoolLabels.ROLE_PULL))
                .withAnnotations(OwnContainer.note(image))
                .endMetadata()
                .withNewSpec()
                .withNodeName("other")
                .endSpec()
                .withNewStatus()
                .addNewContainerStatus()
                .withNewState()
                .withNewWaiting(words.length > 1 ? words[1] : null, words[0])
                .endState()
                .endContainerStatus()
                .endStatus()
                .build());
    }
}
