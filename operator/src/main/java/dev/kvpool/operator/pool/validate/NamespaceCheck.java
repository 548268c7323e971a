// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.PodTemplate;
import dev.kvpool.api.v1alpha1.StorageSetSpec;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.VolumeType;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Whether the pool's namespace admits its pods. Nobody but Kubernetes would say it otherwise, in an event of a StatefulSet or DaemonSet
 * that makes no pods. Pure.
 */
public final class NamespaceCheck {
    /** The only pod security level that admits what is looked for here; one that Kubernetes does not know counts as restricted there. */
    private static final String ADMITS_ALL = "privileged";

    private final PoolObservation seen;
    private final String level;

    private NamespaceCheck(PoolObservation seen, String level) {
        this.seen = seen;
        this.level = level;
    }

    /** True when pods of the pool ask for more than every pod security level admits, so that the namespace's has to be known. */
    public static boolean isNeeded(KvCachePool pool, Optional<TransferEngine> engine) {
        return pool.getSpec().storage().stream().anyMatch(NamespaceCheck::wantsDirectory)
                || templates(pool.getSpec(), engine).values().stream().anyMatch(PodTemplateCheck::isNeeded)
                || engine.map(TransferEngine::getSpec)
                        .filter(NamespaceCheck::isNeeded)
                        .isPresent();
    }

    private static boolean isNeeded(TransferEngineSpec spec) {
        return spec.agents() != null
                || spec.socketDirectory() != null
                || spec.hostNetwork()
                || spec.accelerator() != null
                || spec.rdma() != null;
    }

    /** What the namespace refuses, with the way out; one sentence for all directories of nodes. */
    static List<Finding> of(PoolObservation seen) {
        String level = seen.podSecurity().orElse(ADMITS_ALL);
        if (level.equals(ADMITS_ALL)) {
            return List.of();
        }
        NamespaceCheck check = new NamespaceCheck(seen, level);
        List<Finding> problems = new ArrayList<>();
        check.directories().ifPresent(problems::add);
        check.network().ifPresent(problems::add);
        check.accelerator().ifPresent(problems::add);
        check.rdma().ifPresent(problems::add);
        check.templates().ifPresent(problems::add);
        return problems;
    }

    /** By where they are in the specs. */
    private static Map<String, PodTemplate> templates(KvCachePoolSpec spec, Optional<TransferEngine> engine) {
        Map<String, PodTemplate> templates = new LinkedHashMap<>();
        templates.put("spec.masters.podTemplate", spec.masters().podTemplate());
        spec.storage()
                .forEach(set -> templates.put("storage set %s: podTemplate".formatted(set.name()), set.podTemplate()));
        engine.map(TransferEngine::getSpec)
                .map(TransferEngineSpec::agents)
                .ifPresent(agents -> templates.put(
                        "TransferEngine %s: agents.podTemplate".formatted(spec.transferEngine()),
                        agents.podTemplate()));
        return templates;
    }

    private Optional<Finding> templates() {
        List<String> refused = new ArrayList<>();
        templates(seen.spec(), seen.engine())
                .forEach((where, wish) ->
                        PodTemplateCheck.of(wish, level).fields().forEach(field -> refused.add(where + "." + field)));
        return refused.isEmpty()
                ? Optional.empty()
                : Optional.of(new Finding(
                        Reason.NAMESPACE_REFUSES_POD_TEMPLATE,
                        "%s no pod with these fields: %s. Set the label to %s, or remove them."
                                .formatted(admits(), NameList.of(refused), ADMITS_ALL)));
    }

    private static boolean wantsDirectory(StorageSetSpec set) {
        return set.volume().type() == VolumeType.HOST_PATH;
    }

    private Optional<Finding> directories() {
        List<String> sets = seen.spec().storage().stream()
                .filter(NamespaceCheck::wantsDirectory)
                .map(StorageSetSpec::name)
                .toList();
        if (sets.isEmpty()) {
            return sockets().or(this::agents);
        }
        return Optional.of(new Finding(
                Reason.NAMESPACE_REFUSES_HOST_PATH,
                ("%s no pod with a hostPath volume, and so none of storage set %s. Set the label to %s, move the pool to a"
                                + " namespace with that label, or use emptyDir.")
                        .formatted(admits(), NameList.of(sets), ADMITS_ALL)));
    }

    private Optional<Finding> sockets() {
        return seen.socketDirectory()
                .map(directory -> new Finding(
                        Reason.NAMESPACE_REFUSES_HOST_PATH,
                        "%s no pod with a hostPath volume, and so no storage node with its socket in %s. %s"
                                .formatted(admits(), directory, wayOut("socketDirectory"))));
    }

    private Optional<Finding> agents() {
        return engine().filter(spec -> spec.agents() != null)
                .map(spec -> new Finding(
                        Reason.NAMESPACE_REFUSES_HOST_PATH,
                        "%s no pod with a hostPath volume, and so no agents, whose sockets are in host directory %s. %s"
                                .formatted(admits(), spec.agents().path(), wayOut("agents"))));
    }

    private Optional<Finding> network() {
        return engine().filter(TransferEngineSpec::hostNetwork)
                .map(spec -> new Finding(
                        Reason.NAMESPACE_REFUSES_HOST_NETWORK,
                        "%s no pod with hostNetwork, and so no storage node%s. %s"
                                .formatted(
                                        admits(),
                                        spec.agents() == null ? "" : " and no agent",
                                        wayOut("hostNetwork"))));
    }

    private Optional<Finding> accelerator() {
        return engine().filter(spec -> spec.accelerator() != null)
                .map(spec -> memoryLock("storage node", "an accelerator", "accelerator"));
    }

    private Optional<Finding> rdma() {
        return engine().filter(spec -> spec.rdma() != null)
                .map(spec -> memoryLock(
                        spec.agents() == null ? "storage node" : "storage node or agent", "an RDMA card", "rdma"));
    }

    private Finding memoryLock(String pods, String device, String field) {
        return new Finding(
                Reason.NAMESPACE_REFUSES_MEMORY_LOCK,
                "%s no pod with capability IPC_LOCK, by which memory is registered with %s, and so no %s. %s"
                        .formatted(admits(), device, pods, wayOut(field)));
    }

    private Optional<TransferEngineSpec> engine() {
        return seen.engine().map(TransferEngine::getSpec);
    }

    private String admits() {
        return "Namespace %s has the label %s=%s, which admits"
                .formatted(seen.names().namespace(), PoolLabels.POD_SECURITY, level);
    }

    private String wayOut(String field) {
        return "Set the label to %s, or remove %s from TransferEngine %s."
                .formatted(ADMITS_ALL, field, seen.spec().transferEngine());
    }
}
