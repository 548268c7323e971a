// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.ApiGroup;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.engine.AgentsSpec;
import dev.kvpool.api.v1alpha1.engine.HugePages;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.api.v1alpha1.storage.VolumeType;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.sizing.HugePageResource;
import dev.kvpool.operator.pool.sizing.PoolEngines;
import dev.kvpool.operator.pool.sizing.SizeCheck;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds what the schema cannot: everything that concerns more than one object or needs arithmetic. Pure. */
public final class PoolValidator {
    /** Of the 107 bytes of a socket's path, 22 are for the shortest name that a storage node gives it. */
    private static final int SOCKET_DIRECTORY_BYTES_MAX = 85;

    private PoolValidator() {}

    /** Problems, the most important one first; empty when the spec can be carried out. */
    public static List<Finding> validate(PoolObservation seen, OperatorSettings settings) {
        List<Finding> problems = new ArrayList<>();
        oldPool(seen).ifPresent(problems::add);
        problems.addAll(missingEngines(seen));
        problems.addAll(PortPlan.of(seen).problems());
        unselectableClients(seen).ifPresent(problems::add);
        problems.addAll(NamespaceCheck.of(seen));
        problems.addAll(longSockets(seen));
        problems.addAll(AcceleratorCheck.of(seen));
        problems.addAll(FabricCheck.of(seen));
        problems.addAll(TenantCheck.of(seen, settings));
        problems.addAll(CertificateCheck.of(seen));
        PoolEngines engines = seen.engineSpecs();
        ResourceCheck.of("spec.masters.resources", seen.spec().masters().resources())
                .or(() -> SizeCheck.masters(seen.spec()))
                .ifPresent(problems::add);
        agents(seen)
                .flatMap(agents -> ResourceCheck.of(
                                "TransferEngine " + seen.spec().transferEngine() + ": agents.resources",
                                agents.resources())
                        .or(() -> agentsMemory(seen, agents)))
                .ifPresent(problems::add);
        for (StorageSetSpec set : seen.spec().storage()) {
            HugePages pages = engines.of(set).memory().hugePages();
            Optional<Finding> resources =
                    ResourceCheck.of("Storage set " + set.name() + ": resources", set.resources());
            resources.or(() -> SizeCheck.storage(set, engines.of(set))).ifPresent(problems::add);
            wholePages(set, pages).ifPresent(problems::add);
            pagesOnDisk(set, pages).ifPresent(problems::add);
        }
        return problems;
    }

    private static Optional<Finding> oldPool(PoolObservation seen) {
        String uid = seen.pool().getMetadata().getUid();
        return seen.children().stream()
                .filter(child -> ownedByAnother(child, uid))
                .findFirst()
                .map(child -> new Finding(
                        Reason.OLD_POOL_REMAINS,
                        ("%s %s still belongs to a deleted pool of the same name. The pool is created when Kubernetes has removed"
                                        + " it.")
                                .formatted(child.getKind(), child.getMetadata().getName())));
    }

    private static boolean ownedByAnother(HasMetadata child, String uid) {
        return child.getMetadata().getOwnerReferences().stream()
                .filter(owner ->
                        KvCachePool.KIND.equals(owner.getKind()) && ApiGroup.API_VERSION.equals(owner.getApiVersion()))
                .map(OwnerReference::getUid)
                .anyMatch(owner -> !owner.equals(uid));
    }

    private static List<Finding> missingEngines(PoolObservation seen) {
        return seen.spec().transferEngines().stream()
                .filter(name -> seen.engines().stream()
                        .noneMatch(engine -> engine.getMetadata().getName().equals(name)))
                .map(name -> new Finding(
                        Reason.TRANSFER_ENGINE_MISSING,
                        "There is no %s %s in namespace %s. Create it, or change or remove %s. Until then the pool is not changed."
                                .formatted(
                                        TransferEngine.KIND, name, seen.names().namespace(), whereNamed(seen, name))))
                .toList();
    }

    private static String whereNamed(PoolObservation seen, String engine) {
        return engine.equals(seen.spec().transferEngine())
                ? "spec.transferEngine"
                : "transferEngine of storage set "
                        + NameList.of(seen.spec().storage().stream()
                                .filter(set -> engine.equals(set.transferEngine()))
                                .map(StorageSetSpec::name)
                                .toList());
    }

    private static Optional<Finding> unselectableClients(PoolObservation seen) {
        if (seen.spec().networkPolicy().clientNamespaces().isEmpty()) {
            return Optional.empty();
        }
        return seen.engines().stream()
                .filter(engine -> engine.getSpec().hostNetwork())
                .findFirst()
                .map(engine -> new Finding(
                        Reason.CLIENTS_CANNOT_BE_SELECTED,
                        ("spec.networkPolicy.clientNamespaces would close the masters to the storage nodes: TransferEngine %s has"
                                        + " hostNetwork, and no selector matches the addresses of Kubernetes nodes. Remove"
                                        + " clientNamespaces or hostNetwork.")
                                .formatted(engine.getMetadata().getName())));
    }

    /** Where the kernel takes no path that storage nodes could give their sockets, none of them would start. */
    private static List<Finding> longSockets(PoolObservation seen) {
        List<Finding> problems = new ArrayList<>();
        for (TransferEngine engine : seen.engines()) {
            String directory = engine.getSpec().socketDirectory() == null
                    ? ""
                    : seen.names().socketDirectory(engine.getSpec().socketDirectory());
            if (directory.length() > SOCKET_DIRECTORY_BYTES_MAX) {
                problems.add(new Finding(
                        Reason.SOCKET_PATH_TOO_LONG,
                        ("The sockets of this pool's storage nodes would be in %s. That path has %d bytes, but at most %d are"
                                        + " possible. Choose a shorter socketDirectory in TransferEngine %s, or remove it.")
                                .formatted(
                                        directory,
                                        directory.length(),
                                        SOCKET_DIRECTORY_BYTES_MAX,
                                        engine.getMetadata().getName())));
            }
        }
        return problems;
    }

    private static Optional<AgentsSpec> agents(PoolObservation seen) {
        return seen.engine().map(engine -> engine.getSpec().agents());
    }

    private static Optional<Finding> agentsMemory(PoolObservation seen, AgentsSpec agents) {
        var limit = agents.resources().limits().get("memory");
        if (limit == null || ByteAmount.bytes(limit) > ByteAmount.bytes(agents.stagingSize())) {
            return Optional.empty();
        }
        return Optional.of(new Finding(
                Reason.MEMORY_LIMIT_TOO_SMALL,
                ("The agents of TransferEngine %s have a memory limit of %s and share up to %s (stagingSize) with engines,"
                                + " which counts against it. Raise or remove the limit.")
                        .formatted(seen.spec().transferEngine(), limit, agents.stagingSize())));
    }

    private static Optional<Finding> pagesOnDisk(StorageSetSpec set, HugePages pages) {
        if (pages == HugePages.NONE || set.volume().type() != VolumeType.PERSISTENT_VOLUME_CLAIM) {
            return Optional.empty();
        }
        return Optional.of(new Finding(
                Reason.VOLUME_WITHOUT_HUGE_PAGES,
                ("Storage set %s has persistent volume claims, which cannot have the huge pages that the transfer engine"
                                + " asks for. Use emptyDir, or a transfer engine without memory.hugePages.")
                        .formatted(set.name())));
    }

    private static Optional<Finding> wholePages(StorageSetSpec set, HugePages pages) {
        long page = HugePageResource.pageBytes(pages);
        if (page == 0 || ByteAmount.bytes(set.capacity()) % page == 0) {
            return Optional.empty();
        }
        return Optional.of(new Finding(
                Reason.CAPACITY_NOT_IN_PAGES,
                "Storage set %s has a capacity of %s, which is not a multiple of the huge page size %s. Round it."
                        .formatted(set.name(), set.capacity(), ByteAmount.exact(page))));
    }
}
