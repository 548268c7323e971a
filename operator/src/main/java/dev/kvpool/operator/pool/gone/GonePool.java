// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.gone;

import dev.kvpool.operator.pool.naming.DirectoryList;
import dev.kvpool.operator.pool.storage.NodeDirectory;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.List;
import java.util.Set;

/**
 * What is still there of a pool that has been deleted. Pure.
 *
 * @param written the ConfigMap with its list of directories, which outlives it
 * @param list what that says
 * @param daemonSets those with the pool's name, also of a pool that has the name now
 * @param pods the same
 * @param jobs the same
 * @param nodes names of all Kubernetes nodes
 * @param ready names of those whose kubelet starts pods
 */
public record GonePool(
        ConfigMap written,
        DirectoryList list,
        List<DaemonSet> daemonSets,
        List<Pod> pods,
        List<Job> jobs,
        Set<String> nodes,
        Set<String> ready) {
    private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

    /** Whether a Job on the directory's node would be started. */
    boolean isReady(NodeDirectory directory) {
        return ready.contains(directory.node());
    }

    /** Whether something still writes to the directory, or may soon: a DaemonSet makes pods until it is gone itself. */
    boolean uses(NodeDirectory directory) {
        return daemonSets.stream()
                        .anyMatch(set -> mounts(set.getSpec().getTemplate().getSpec(), directory))
                || pods.stream()
                        .filter(pod -> directory.node().equals(pod.getSpec().getNodeName()))
                        .filter(pod -> pod.getStatus() == null
                                || !ENDED.contains(pod.getStatus().getPhase()))
                        .anyMatch(pod -> mounts(pod.getSpec(), directory));
    }

    private static boolean mounts(PodSpec pod, NodeDirectory directory) {
        return pod.getVolumes().stream()
                .anyMatch(volume -> volume.getHostPath() != null
                        && directory.path().equals(volume.getHostPath().getPath()));
    }
}
