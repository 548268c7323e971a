// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.blueprint.Requests;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.storage.StoragePlan;
import dev.kvpool.operator.pool.storage.Unwanted;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the masters and storage nodes of a pool shall be.
 *
 * @param wanted ids of the storage nodes that the spec wants
 * @param unwanted ids of all others, those that go first in front, and whether something can be moved from each: a pod that never ran, or
 *     is being deleted with its memory, holds nothing
 * @param surplus pods of masters that the spec does not want and that are not being deleted yet; the one that goes first in front
 * @param cordons storage nodes on cordoned Kubernetes nodes, by id
 * @param outdated members whose pods were made with other settings than there are now, and that are brought to these
 * @param deferred those that stay as they are for now, as the settings are other ones for the operator's sake only
 * @param failover epoch of the leadership that a user wants handed over; empty where none does
 * @param image what an upgrade brings pods to now; empty while none does
 */
public record Goals(
        Set<String> wanted,
        Map<String, Boolean> unwanted,
        List<String> surplus,
        Map<String, Cordon> cordons,
        Set<String> outdated,
        Deferred deferred,
        Optional<Long> failover,
        Optional<ImageGoal> image) {

    public Goals {
        wanted = Set.copyOf(wanted);
        surplus = List.copyOf(surplus);
        cordons = Map.copyOf(cordons);
        outdated = Set.copyOf(outdated);
    }

    /**
     * Of a pool in which no upgrade is under way.
     *
     * @param members the masters and storage nodes there are
     * @param wish the storage nodes there would be if none were released
     * @param terms how the spec wants it done
     * @param settings of the operator
     * @param turn whether this pool may be brought to what this operator makes of its spec
     */
    public static Goals of(
            PoolObservation seen,
            Members members,
            StoragePlan wish,
            TransitionView.Terms terms,
            OperatorSettings settings,
            boolean turn) {
        Map<String, Boolean> unwanted = new LinkedHashMap<>();
        for (Unwanted node : wish.unwanted()) {
            unwanted.putIfAbsent(node.id(), node.holds(seen));
        }
        Requests requests = Requests.of(seen.pool().getMetadata().getAnnotations());
        Set<String> wanted = new HashSet<>(wish.expectedNodes());
        wanted.removeAll(unwanted.keySet());
        List<String> surplus = surplus(members);
        List<ObservedPod> outdated = seen.outdated();
        Deferred deferred = Deferred.among(
                outdated.stream()
                        .filter(pod -> !unwanted.containsKey(id(pod)) && !surplus.contains(id(pod)))
                        .toList(),
                seen,
                terms,
                settings.rollout(),
                turn);
        return new Goals(
                wanted,
                unwanted,
                surplus,
                Cordon.all(seen, settings.drainTaints(), requests.drains()),
                outdated.stream()
                        .filter(pod -> !deferred.contains(pod))
                        .map(Goals::id)
                        .collect(Collectors.toSet()),
                deferred,
                requests.failover(),
                Optional.empty());
    }

    public Goals with(Optional<ImageGoal> other) {
        return new Goals(wanted, unwanted, surplus, cordons, outdated, deferred, failover, other);
    }

    /** The leadership that a user wants handed over is still the present one, or may be. */
    boolean isToHandOver(String master, Optional<PoolReport> leader) {
        return failover.isPresent()
                && leader.filter(it -> !it.name().equals(master) || it.epoch() != failover.get())
                        .isEmpty();
    }

    private static String id(ObservedPod pod) {
        return pod.role().equals(PoolLabels.ROLE_MASTER) ? pod.name() : pod.nodeId();
    }

    /** Kubernetes takes away the last one first. */
    private static List<String> surplus(Members members) {
        return members.masters().stream()
                .map(Member::observed)
                .filter(pod -> !pod.leaving() && pod.ordinal() >= members.mastersWanted())
                .sorted(Comparator.comparingInt(ObservedPod::ordinal).reversed())
                .map(ObservedPod::name)
                .toList();
    }

    /** Whether the spec wants a pod. */
    public boolean want(ObservedPod pod) {
        return want(id(pod));
    }

    /** Whether the spec wants it; of one that is not there too. */
    boolean want(String of) {
        return !unwanted.containsKey(of) && !surplus.contains(of);
    }
}
