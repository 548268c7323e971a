// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.AgentDaemonSet;
import dev.kvpool.operator.pool.child.CleaningJob;
import dev.kvpool.operator.pool.child.ClientConfigMap;
import dev.kvpool.operator.pool.child.DirectoriesConfigMap;
import dev.kvpool.operator.pool.child.IdentityConfigMap;
import dev.kvpool.operator.pool.child.JobTerms;
import dev.kvpool.operator.pool.child.LeadershipLease;
import dev.kvpool.operator.pool.child.MasterRole;
import dev.kvpool.operator.pool.child.MasterRoleBinding;
import dev.kvpool.operator.pool.child.MasterServiceAccount;
import dev.kvpool.operator.pool.child.MasterStatefulSet;
import dev.kvpool.operator.pool.child.MemberServiceAccounts;
import dev.kvpool.operator.pool.child.PoolConfigMap;
import dev.kvpool.operator.pool.child.PoolDisruptionBudget;
import dev.kvpool.operator.pool.child.PoolNetworkPolicy;
import dev.kvpool.operator.pool.child.PoolService;
import dev.kvpool.operator.pool.child.PreflightJob;
import dev.kvpool.operator.pool.child.PullJob;
import dev.kvpool.operator.pool.child.StorageDaemonSet;
import dev.kvpool.operator.pool.child.StorageStatefulSet;
import dev.kvpool.operator.pool.child.TrustConfigMap;
import dev.kvpool.operator.pool.child.part.NodePlacement;
import dev.kvpool.operator.pool.child.part.PreflightQuestion;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.Workloads;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.roll.RollPlan;
import dev.kvpool.operator.pool.storage.HostDirectories;
import dev.kvpool.operator.pool.storage.StoragePlan;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The objects that a pool shall have, as all that they are made from. Equal ones make equal objects, since builders see nothing else
 * (ArchitectureTest keeps it so): while these stay equal, the objects need not be made to know that they are the same.
 *
 * @param specs UIDs and generations of the pool and its transfer engines: of equal specs one may say 1Gi and one 1024Mi
 * @param blueprint what all of them are made from
 * @param replicas storage nodes of each set that has a number of them, and can be made now
 * @param placements where the storage nodes of each perNode set may be
 * @param directories directories of nodes by storage node; empty for a pool that has never had any
 * @param cleanings Jobs to begin that remove such a directory
 * @param preflight what shall be asked to know whether the pool can be upgraded to another image
 * @param pulls Jobs to begin that bring an image to a Kubernetes node
 * @param kept templates that stay as they are, by kind and name of their workload
 */
public record PlannedChildren(
        List<String> specs,
        PoolBlueprint blueprint,
        Map<String, Integer> replicas,
        Map<String, NodePlacement> placements,
        Optional<SortedMap<String, String>> directories,
        List<HostDirectories.Cleaning> cleanings,
        Optional<PreflightQuestion> preflight,
        List<PullTerms> pulls,
        Map<String, PodTemplateSpec> kept) {

    /** Which image a Job brings to which Kubernetes node. */
    record PullTerms(String image, String node) {}

    public PlannedChildren {
        specs = List.copyOf(specs);
        replicas = Map.copyOf(replicas);
        placements = Map.copyOf(placements);
        cleanings = List.copyOf(cleanings);
        pulls = List.copyOf(pulls);
        kept = Map.copyOf(kept);
    }

    /** The same with templates that stay as they are. */
    PlannedChildren keeping(Map<String, PodTemplateSpec> templates) {
        return new PlannedChildren(
                specs, blueprint, replicas, placements, directories, cleanings, preflight, pulls, templates);
    }

    static PlannedChildren of(
            PoolObservation seen,
            PoolBlueprint blueprint,
            StoragePlan storage,
            HostDirectories directories,
            RollPlan roll) {
        Map<String, Integer> replicas = new HashMap<>();
        Map<String, NodePlacement> placements = new HashMap<>();
        for (StorageSetSpec set : blueprint.spec().storage()) {
            if (set.perNode() == null) {
                storage.replicas(set).ifPresent(count -> replicas.put(set.name(), count));
            } else {
                storage.placement(set).ifPresent(placement -> placements.put(set.name(), placement));
            }
        }
        return new PlannedChildren(
                specs(seen),
                blueprint,
                replicas,
                placements,
                directories.matter() ? Optional.of(directories.list()) : Optional.empty(),
                directories.cleanings().stream()
                        .filter(cleaning -> !cleaning.begun())
                        .toList(),
                // A Job cannot change: one that is there is left to end, or goes when it is for another image.
                roll.preflight().filter(question -> !hasJob(seen, seen.names().preflight())),
                roll.preflight().stream()
                        .flatMap(question -> question.pulls().stream()
                                .filter(node -> !hasJob(seen, seen.names().pull(node)))
                                .map(node -> new PullTerms(question.image(), node)))
                        .toList(),
                Map.of());
    }

    private static boolean hasJob(PoolObservation seen, String name) {
        return seen.children().stream()
                .anyMatch(child ->
                        child instanceof Job && child.getMetadata().getName().equals(name));
    }

    private static List<String> specs(PoolObservation seen) {
        return Stream.concat(Stream.of(seen.pool()), seen.engines().stream())
                .map(HasMetadata::getMetadata)
                .map(metadata -> metadata.getUid() + " " + metadata.getGeneration())
                .toList();
    }

    /** The objects. Rights and names first, so that pods find them when they start. */
    public List<HasMetadata> make() {
        List<HasMetadata> children = new ArrayList<>(List.of(
                MasterServiceAccount.of(blueprint),
                MasterRole.of(blueprint),
                MasterRoleBinding.of(blueprint),
                LeadershipLease.of(blueprint),
                PoolConfigMap.of(blueprint),
                ClientConfigMap.of(blueprint),
                PoolService.masters(blueprint),
                PoolService.leader(blueprint),
                PoolService.storage(blueprint),
                PoolDisruptionBudget.masters(blueprint),
                PoolDisruptionBudget.storage(blueprint)));
        children.addAll(PoolNetworkPolicy.of(blueprint));
        children.addAll(MemberServiceAccounts.of(blueprint));
        if (blueprint.security().isOn()) {
            if (blueprint.security().directory().isEmpty()) {
                children.add(TrustConfigMap.of(blueprint));
            }
            children.add(IdentityConfigMap.of(blueprint));
        }
        directories.map(known -> DirectoriesConfigMap.of(blueprint, known)).ifPresent(children::add);
        cleanings.stream().map(this::job).forEach(children::add);
        workloads().map(this::keeping).forEach(children::add);
        preflight.map(question -> PreflightJob.of(blueprint, question)).ifPresent(children::add);
        pulls.stream()
                .map(pull -> PullJob.of(blueprint, pull.image(), pull.node()))
                .forEach(children::add);
        return children;
    }

    /** Whether an object that is there is none of {@link #make}, and holds nothing. */
    boolean canDoWithout(HasMetadata child) {
        if (child instanceof NetworkPolicy) {
            return PoolNetworkPolicy.of(blueprint).stream()
                    .noneMatch(policy -> policy.getMetadata()
                            .getName()
                            .equals(child.getMetadata().getName()));
        }
        return AgentDaemonSet.is(child) && blueprint.engine().agents() == null;
    }

    /** What has pods, as this operator makes it. */
    Stream<HasMetadata> workloads() {
        return Stream.of(
                        Stream.of(MasterStatefulSet.of(blueprint)),
                        Stream.ofNullable(blueprint.engine().agents())
                                .map(agents -> AgentDaemonSet.of(blueprint, agents)),
                        blueprint.spec().storage().stream()
                                .filter(set -> replicas.containsKey(set.name()) || placements.containsKey(set.name()))
                                .map(this::workload))
                .flatMap(Function.identity());
    }

    private HasMetadata keeping(HasMetadata workload) {
        return Optional.ofNullable(kept.get(ObjectTitle.of(workload)))
                .map(template -> Workloads.keeping(template, workload))
                .orElse(workload);
    }

    private HasMetadata workload(StorageSetSpec set) {
        return set.perNode() == null
                ? StorageStatefulSet.of(blueprint, set, replicas.get(set.name()))
                : StorageDaemonSet.of(blueprint, set, placements.get(set.name()));
    }

    private HasMetadata job(HostDirectories.Cleaning cleaning) {
        return CleaningJob.of(
                JobTerms.of(
                        blueprint,
                        cleaning.job(),
                        PoolLabels.ROLE_CLEANING,
                        blueprint.storage().image()),
                cleaning.directory().node(),
                cleaning.directory().path());
    }
}
