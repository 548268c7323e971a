// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.List;
import java.util.Optional;

/**
 * A storage node that the spec has no place for. Memory goes with its pod. What is on a volume that outlives the pod is there whatever
 * becomes of the pod, and would be deleted with the storage node.
 *
 * @param id its id
 * @param pod its pod; empty while there is none
 * @param outlivesPods whether what it holds is there again when its pod is
 */
public record Unwanted(String id, Optional<ObservedPod> pod, boolean outlivesPods) {
    static Unwanted of(ObservedPod pod, boolean outlivesPods) {
        return new Unwanted(pod.nodeId(), Optional.of(pod), outlivesPods);
    }

    /** Whether something can be moved from it: from memory only while its pod is there. */
    public boolean holds(PoolObservation seen) {
        return isThere() || (outlivesPods && mayHold(seen));
    }

    /** Its pod can be asked for what it holds. */
    boolean isThere() {
        return pod.filter(it -> it.started() && !it.leaving()).isPresent();
    }

    /**
     * Unless the leader says that it does not. That cannot be said of a node that no leader has met since it began, or has forgotten. Its
     * bytes are those in memory, its objects those on an SSD too.
     */
    private boolean mayHold(PoolObservation seen) {
        return seen.leaderReport().stream()
                .flatMap(leader -> leader.nodes().stream())
                .filter(node -> node.id().equals(id))
                .noneMatch(node -> node.usedBytes() == 0
                        && node.objects() == 0
                        && !node.incarnation().isEmpty());
    }

    /** The end of a sentence about nodes that stay until they are empty: what those wait for that have no pod to be emptied. */
    static String remedy(List<Unwanted> staying) {
        List<String> away = staying.stream()
                .filter(node -> !node.isThere())
                .map(Unwanted::id)
                .toList();
        return away.isEmpty()
                ? ""
                : (" What %s may hold is on a volume, and %s pod does not run now: it is emptied when the pod is back, or"
                                + " removed without that after spec.drain.timeout if spec.drain.onLeftovers is Drop, or at once if"
                                + " spec.onDataLoss is Replace.")
                        .formatted(NameList.of(away), away.size() == 1 ? "its" : "their");
    }
}
