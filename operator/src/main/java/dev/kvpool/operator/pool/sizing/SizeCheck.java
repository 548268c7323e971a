// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.sizing;

import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.Rounding;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Optional;

/** Finds limits of the spec that cannot hold what the spec asks for. */
public final class SizeCheck {
    private static final String MEMORY = "memory";

    private SizeCheck() {}

    /** A number of objects that the spec does not name refuses nothing: it is a guess, and the user who set the limit may know better. */
    public static Optional<Finding> masters(KvCachePoolSpec spec) {
        Integer said = spec.masters().expectedObjects();
        MasterMemory need =
                new MasterMemory(said == null ? 0 : said, spec.cache().replicas());
        Quantity limit = spec.masters().resources().limits().get(MEMORY);
        if (limit == null || ByteAmount.bytes(limit) >= need.sum().bytes()) {
            return Optional.empty();
        }
        long room = Rounding.twoDigits(need.room(limit));
        return problem(("The masters have a memory limit of %s and need %s. Raise or remove"
                        + " spec.masters.resources.limits.memory%s.")
                .formatted(
                        limit,
                        need.sum().sentence(),
                        room == 0 ? "" : ", or expect %d objects or fewer".formatted(room)));
    }

    /** A limit below what a storage node needs at least. */
    public static Optional<Finding> storage(StorageSetSpec set, TransferEngineSpec engine) {
        StorageMemory need = StorageMemory.of(set, engine);
        return memory(set, need.least()).or(() -> hugePages(set, need));
    }

    private static Optional<Finding> memory(StorageSetSpec set, MemorySum least) {
        Quantity limit = set.resources().limits().get(MEMORY);
        if (limit == null || ByteAmount.bytes(limit) >= least.bytes()) {
            return Optional.empty();
        }
        return problem(("Storage set %s has a memory limit of %s and needs %s at least. Raise or remove its"
                        + " resources.limits.memory, or lower its capacity.")
                .formatted(set.name(), limit, least.sentence()));
    }

    private static Optional<Finding> hugePages(StorageSetSpec set, StorageMemory need) {
        Optional<Quantity> segment = need.hugePages();
        String name = HugePageResource.name(need.pages());
        Quantity limit = set.resources().limits().get(name);
        if (segment.isEmpty() || limit == null || ByteAmount.bytes(limit) >= need.segment()) {
            return Optional.empty();
        }
        return problem(
                "Storage set %s has a limit of %s of %s, but its segment of %s consists of them. Remove the limit."
                        .formatted(set.name(), name, limit, segment.get()));
    }

    private static Optional<Finding> problem(String sentence) {
        return Optional.of(new Finding(Reason.MEMORY_LIMIT_TOO_SMALL, sentence));
    }
}
