// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.operator.pool.child.part.PreflightQuestion;
import dev.kvpool.operator.pool.observation.ImagePull;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Nodes of the cluster under a {@link RollPool}, and the Jobs that bring images to them. */
final class RollMachines {
    private final Map<String, ImagePull> pulls = new TreeMap<>();
    private List<String> names = List.of();

    /** From now on there are these. */
    void are(String... machines) {
        names = List.of(machines);
    }

    List<String> names() {
        return names;
    }

    List<ImagePull> pulls() {
        return List.copyOf(pulls.values());
    }

    /** Nodes that have a Job. */
    Set<String> pulling() {
        return pulls.keySet();
    }

    /** What has become of the Job of a node. */
    void pulled(String node, ImagePull.State state, String trouble) {
        ImagePull pull = pulls.get(node);
        pulls.put(node, new ImagePull(node, pull.image(), state, pull.since(), trouble));
    }

    /** Does to the Jobs what the plan says. */
    void follow(RollPlan plan, Instant now) {
        List<String> wanted = plan.preflight().map(PreflightQuestion::pulls).orElse(List.of());
        pulls.keySet().retainAll(wanted);
        wanted.forEach(node -> pulls.putIfAbsent(
                node, new ImagePull(node, plan.preflightImage().orElseThrow(), ImagePull.State.RUNNING, now, "")));
    }
}
