// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.gone;

import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.pool.naming.DirectoryList;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Draws what is left of a pool in a few words. */
public final class GonePoolSketch {
    static final String IMAGE = "registry.example/kvpool:0.1.0";

    private final ConfigMap written;
    private final Set<String> nodes = new TreeSet<>();
    private final Set<String> notReady = new TreeSet<>();
    private final List<DaemonSet> daemonSets = new ArrayList<>();
    private final List<Pod> pods = new ArrayList<>();
    private final List<Job> jobs = new ArrayList<>();

    GonePoolSketch(ConfigMap written) {
        this.written = written;
    }

    /** What is told of a pool whose list names directories of node n1, after its Jobs have come to have the conditions. */
    public static List<Notice> notices(ConfigMap written, String... conditions) {
        GonePoolSketch sketch = new GonePoolSketch(written).nodes("n1");
        for (String condition : conditions) {
            sketch.plan().jobs().forEach(job -> sketch.job(job, condition));
        }
        return sketch.plan().notices();
    }

    GonePoolSketch nodes(String... names) {
        nodes.addAll(Arrays.asList(names));
        return this;
    }

    /** Nodes whose kubelets are not heard of. */
    GonePoolSketch dead(String... names) {
        notReady.addAll(Arrays.asList(names));
        return nodes(names);
    }

    GonePoolSketch daemonSet(String path) {
        daemonSets.add(new DaemonSetBuilder()
                .withNewSpec()
                .withNewTemplate()
                .withSpec(mounting(path))
                .endTemplate()
                .endSpec()
                .build());
        return this;
    }

    GonePoolSketch pod(String node, String phase, String path) {
        pods.add(new PodBuilder()
                .withNewMetadata()
                .withName("demo-a-x")
                .endMetadata()
                .withSpec(new PodSpecBuilder(mounting(path)).withNodeName(node).build())
                .withNewStatus()
                .withPhase(phase)
                .endStatus()
                .build());
        return this;
    }

    /** A pod of a Job whose own container has ended; others may go on. */
    GonePoolSketch ended(Job job, int code) {
        PodTemplateSpec template = job.getSpec().getTemplate();
        pods.add(new PodBuilder()
                .withNewMetadataLike(template.getMetadata())
                .withName(job.getMetadata().getName() + "-abcde")
                .endMetadata()
                .withSpec(template.getSpec())
                .withNewStatus()
                .withPhase("Running")
                .addNewContainerStatus()
                .withName(template.getSpec().getContainers().getFirst().getName())
                .withNewState()
                .withNewTerminated()
                .withExitCode(code)
                .endTerminated()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build());
        return this;
    }

    /** A Job that is there. */
    GonePoolSketch job(Job job) {
        jobs.add(job);
        return this;
    }

    /** A Job that has ended. */
    GonePoolSketch job(Job job, String condition) {
        return job(new JobBuilder(job)
                .withNewStatus()
                .addNewCondition()
                .withType(condition)
                .withStatus("True")
                .endCondition()
                .endStatus()
                .build());
    }

    GonePlan plan() {
        DirectoryList list = DirectoryList.of(written).orElseThrow();
        Set<String> ready = new TreeSet<>(nodes);
        ready.removeAll(notReady);
        return GonePlan.of(new GonePool(written, list, daemonSets, pods, jobs, nodes, ready), IMAGE);
    }

    private static PodSpec mounting(String path) {
        return new PodSpecBuilder()
                .addNewVolume()
                .withName("segment")
                .withNewHostPath()
                .withPath(path)
                .endHostPath()
                .endVolume()
                .build();
    }
}
