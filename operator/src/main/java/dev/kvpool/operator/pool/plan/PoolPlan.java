// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.pool.roll.RollPlan;
import dev.kvpool.operator.pool.sizing.Sizing;
import dev.kvpool.operator.pool.transition.Action;
import dev.kvpool.operator.pool.transition.Deferred;
import dev.kvpool.operator.pool.transition.TransitionPlan;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What shall be done for a pool. It holds decisions only; carrying them out needs no further ones.
 *
 * @param children objects that shall exist; empty when none is touched
 * @param binding a Secret that is made, unless it is there
 * @param delete objects that shall go
 * @param leader what is done about the leader
 * @param expectedNodes ids of the storage nodes that the pool shall have now
 * @param outstanding what of the spec is not carried out yet
 * @param roll what is done now for an upgrade
 * @param transitions what is done now with pods
 * @param deferred pods that run on as an earlier operator made them
 */
public record PoolPlan(
        Optional<PlannedChildren> children,
        Optional<Secret> binding,
        List<HasMetadata> delete,
        LeaderPlan leader,
        Set<String> expectedNodes,
        Outstanding outstanding,
        RollPlan roll,
        TransitionPlan transitions,
        Deferred deferred) {

    public PoolPlan {
        delete = List.copyOf(delete);
        expectedNodes = Set.copyOf(expectedNodes);
    }

    /**
     * What of a spec is not carried out yet, as sentences.
     *
     * @param waiting parts that are carried out when storage nodes are empty
     * @param leftOut Kubernetes nodes that a perNode set selects and that get no storage node
     * @param cleaning directories of nodes that are removed
     */
    public record Outstanding(List<String> waiting, List<String> leftOut, List<String> cleaning) {
        static final Outstanding NOTHING = new Outstanding(List.of(), List.of(), List.of());

        public Outstanding {
            waiting = List.copyOf(waiting);
            leftOut = List.copyOf(leftOut);
            cleaning = List.copyOf(cleaning);
        }
    }

    /** Memory of the pods; empty while no object is touched. */
    public Optional<Sizing> sizing() {
        return children.map(planned -> planned.blueprint().sizing());
    }

    /** How many storage nodes the pool shall have now. */
    public int storageNodes() {
        return expectedNodes.size();
    }

    /** Objects that shall exist, made when they are asked for: in a calm pool they are not. */
    public List<HasMetadata> apply() {
        return children.map(PlannedChildren::make).orElse(List.of());
    }

    /** Whether something stays as an earlier operator made it. */
    public boolean defers() {
        return !deferred.isEmpty()
                || children.filter(planned -> !planned.kept().isEmpty()).isPresent();
    }

    /** What is done with pods and through the leader. */
    public List<Action> actions() {
        return Stream.concat(roll.actions().stream(), transitions.actions().stream())
                .toList();
    }
}
