// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.pod.PodTemplate;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.api.v1alpha1.storage.VolumeType;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Whether the pool's namespace admits its pods. Otherwise only Kubernetes would say so, in an event of a StatefulSet or DaemonSet
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
    public static boolean isNeeded(KvCachePool pool, List<TransferEngine> engines) {
        return pool.getSpec().storage().stream().anyMatch(NamespaceCheck::wantsDirectory)
                || templates(pool.getSpec(), engines).values().stream().anyMatch(PodTemplateCheck::isNeeded)
                || engines.stream().map(TransferEngine::getSpec).anyMatch(NamespaceCheck::isNeeded);
    }

    private static boolean isNeeded(TransferEngineSpec spec) {
        return spec.agents() != null
                || spec.socketDirectory() != null
                || spec.hostNetwork()
                || spec.accelerator() != null
                || spec.rdma() != null;
    }

    /** What the namespace refuses, and how to fix it; one sentence for all directories of nodes. */
    static List<Finding> of(PoolObservation seen) {
        String level = seen.surroundings().podSecurity().orElse(ADMITS_ALL);
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
    private static Map<String, PodTemplate> templates(KvCachePoolSpec spec, List<TransferEngine> engines) {
        Map<String, PodTemplate> templates = new LinkedHashMap<>();
        templates.put("spec.masters.podTemplate", spec.masters().podTemplate());
        spec.storage()
                .forEach(set -> templates.put("storage set %s: podTemplate".formatted(set.name()), set.podTemplate()));
        engines.stream()
                .filter(engine -> engine.getMetadata().getName().equals(spec.transferEngine()))
                .map(engine -> engine.getSpec().agents())
                .filter(Objects::nonNull)
                .forEach(agents -> templates.put(
                        "TransferEngine %s: agents.podTemplate".formatted(spec.transferEngine()),
                        agents.podTemplate()));
        return templates;
    }

    private Optional<Finding> templates() {
        List<String> refused = new ArrayList<>();
        templates(seen.spec(), seen.engines())
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
        return engineWith(spec -> spec.socketDirectory() != null)
                .map(engine -> new Finding(
                        Reason.NAMESPACE_REFUSES_HOST_PATH,
                        "%s no pod with a hostPath volume, and so no storage node with its socket in %s. %s"
                                .formatted(
                                        admits(),
                                        seen.names()
                                                .socketDirectory(
                                                        engine.getSpec().socketDirectory()),
                                        remedy("socketDirectory", engine))));
    }

    private Optional<Finding> agents() {
        return seen.engine()
                .filter(engine -> engine.getSpec().agents() != null)
                .map(engine -> new Finding(
                        Reason.NAMESPACE_REFUSES_HOST_PATH,
                        "%s no pod with a hostPath volume, and so no agents, whose sockets are in host directory %s. %s"
                                .formatted(admits(), engine.getSpec().agents().path(), remedy("agents", engine))));
    }

    private Optional<Finding> network() {
        return engineWith(TransferEngineSpec::hostNetwork)
                .map(engine -> new Finding(
                        Reason.NAMESPACE_REFUSES_HOST_NETWORK,
                        "%s no pod with hostNetwork, and so no storage node%s. %s"
                                .formatted(
                                        admits(),
                                        hasAgents(engine) ? " and no agent" : "",
                                        remedy("hostNetwork", engine))));
    }

    private Optional<Finding> accelerator() {
        return engineWith(spec -> spec.accelerator() != null)
                .map(engine -> memoryLock("storage node", "an accelerator", "accelerator", engine));
    }

    private Optional<Finding> rdma() {
        return engineWith(spec -> spec.rdma() != null)
                .map(engine -> memoryLock(
                        hasAgents(engine) ? "storage node or agent" : "storage node", "an RDMA card", "rdma", engine));
    }

    private Finding memoryLock(String pods, String device, String field, TransferEngine engine) {
        return new Finding(
                Reason.NAMESPACE_REFUSES_MEMORY_LOCK,
                "%s no pod with capability IPC_LOCK, by which memory is registered with %s, and so no %s. %s"
                        .formatted(admits(), device, pods, remedy(field, engine)));
    }

    /** The first of the pool's and its sets' that has it; one at a time is named. */
    private Optional<TransferEngine> engineWith(Predicate<TransferEngineSpec> what) {
        return seen.engines().stream()
                .filter(engine -> what.test(engine.getSpec()))
                .findFirst();
    }

    /** Agents go by the pool's own engine. */
    private boolean hasAgents(TransferEngine engine) {
        return engine.getSpec().agents() != null
                && seen.engine().filter(engine::equals).isPresent();
    }

    private String admits() {
        return "Namespace %s has the label %s=%s, which admits"
                .formatted(seen.names().namespace(), PoolLabels.POD_SECURITY, level);
    }

    private static String remedy(String field, TransferEngine engine) {
        return "Set the label to %s, or remove %s from TransferEngine %s."
                .formatted(ADMITS_ALL, field, engine.getMetadata().getName());
    }
}
