// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.operator.pool.child.part.PreflightQuestion;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ImagePull.State;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads what a Job that brings an image to a node, and its pods, say. Pure. */
public final class ObservedPull {
    /** What kubelets say of images that they cannot get. */
    private static final Set<String> NO_IMAGE =
            Set.of("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable");

    private ObservedPull() {}

    /** Jobs of the pool that do this, and are not being deleted. */
    public static List<Job> jobs(PoolObservation seen) {
        return ObservedJob.withRole(seen.children(), PoolLabels.ROLE_PULL).stream()
                .filter(job -> job.getMetadata().getDeletionTimestamp() == null)
                .toList();
    }

    /** Those whose result is not waited for any more. */
    public static List<Job> notNeeded(PoolObservation seen, Optional<PreflightQuestion> question) {
        return jobs(seen).stream()
                .filter(job -> question.filter(it -> it.image().equals(PreflightAnswer.image(job)))
                        .filter(it -> it.pulls().contains(node(job)))
                        .isEmpty())
                .toList();
    }

    public static ImagePull of(Job job, PoolObservation seen) {
        String node = node(job);
        String image = PreflightAnswer.image(job);
        // Pods of an earlier Job of this name had another image.
        List<ObservedPod> pods = seen.pods(PoolLabels.ROLE_PULL).stream()
                .filter(pod -> pod.node().equals(node) && pod.image().equals(image))
                .toList();
        String trouble = pods.stream()
                .map(ObservedPod::trouble)
                .filter(words -> !words.isEmpty())
                .findFirst()
                .orElse("");
        Instant created = Instant.parse(job.getMetadata().getCreationTimestamp());
        return new ImagePull(node, image, state(job, pods, trouble), created, trouble);
    }

    /** The node a Job is for. */
    public static String node(Job job) {
        return job.getSpec().getTemplate().getSpec().getNodeName();
    }

    private static State state(Job job, List<ObservedPod> pods, String trouble) {
        if (ObservedJob.isDone(job, pods)) {
            return State.DONE;
        }
        if (ObservedJob.is(job, ObservedJob.FAILED)) {
            return State.FAILED;
        }
        return NO_IMAGE.stream().anyMatch(trouble::contains) ? State.REFUSED : State.RUNNING;
    }
}
