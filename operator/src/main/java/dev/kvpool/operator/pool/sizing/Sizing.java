// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.sizing;

import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.pod.ResourceSpec;
import dev.kvpool.api.v1alpha1.status.ExpectationSource;
import dev.kvpool.api.v1alpha1.status.PodSizing;
import dev.kvpool.api.v1alpha1.status.SizingStatus;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.Rounding;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;

/**
 * How much memory the pods of a pool get where the spec says nothing else.
 *
 * @param engines of the pool and its sets
 * @param from who says how many objects the pool will hold
 * @param master memory of a master
 */
public record Sizing(PoolEngines engines, ExpectationSource from, MasterMemory master) {
    /** Of {@code /dev/shm} in pods with an accelerator: its driver wants more than a container has. */
    public static final long DRIVER_SHARED_MEMORY_BYTES = 256L << 20;

    /**
     * What clients may share with a storage node for writing, all together; it admits no more. Pages of theirs that they have
     * not touched count as the storage pod's once it reads them. Sixteen clients have room, others write by tcp.
     */
    public static final long STAGING_BYTES = 1L << 30;

    /** Name under which the masters stand in the status; no storage set can have it. */
    private static final String MASTER = "master";

    private static final String MEMORY = "memory";

    /** A block of 16 tokens of a model of 8 to 600 billion parameters has between a half and two Mi. */
    private static final long VALUE_BYTES = 1L << 20;

    /** As many have room in the memory that masters get at least. */
    private static final long OBJECTS_MIN = 1L << 20;

    private static final long OBJECTS_MAX = 1L << 30;

    /**
     * Reckons.
     *
     * @param nodes how many storage nodes a set shall have
     * @param held objects that the pool holds now
     * @param before what the status says
     */
    public static Sizing of(
            KvCachePoolSpec spec,
            PoolEngines engines,
            ToIntFunction<StorageSetSpec> nodes,
            long held,
            Optional<SizingStatus> before) {
        int replicas = spec.cache().replicas();
        Integer said = spec.masters().expectedObjects();
        if (said != null) {
            return new Sizing(engines, ExpectationSource.SPEC, new MasterMemory(said, replicas));
        }
        long room = spec.storage().stream()
                .mapToLong(set -> bytes(set) / VALUE_BYTES * nodes.applyAsInt(set))
                .sum();
        // Lowered it would restart the masters of a pool that grows and shrinks with its load again and again.
        long known = before.filter(status -> status.expectedObjectsFrom() == ExpectationSource.POOL)
                .map(SizingStatus::expectedObjects)
                .orElse(0L);
        long objects = Math.max(known, powerOfTwo(Math.max(room / replicas, held)));
        return new Sizing(engines, ExpectationSource.POOL, new MasterMemory(objects, replicas));
    }

    private static long bytes(StorageSetSpec set) {
        return ByteAmount.bytes(set.capacity())
                + (set.ssd() == null ? 0 : ByteAmount.bytes(set.ssd().capacity()));
    }

    private static long powerOfTwo(long objects) {
        long clamped = Math.clamp(objects, OBJECTS_MIN, OBJECTS_MAX);
        return Long.highestOneBit(clamped - 1) << 1;
    }

    /** What more than the least memory is for: objects, and copies of each; nothing where the least is enough. */
    public List<Long> mastersAreMadeFor() {
        return master.isLeast() ? List.of() : List.of(master.objects(), (long) master.replicas());
    }

    public Quantity masterRequest() {
        return master.request();
    }

    public Quantity masterLimit() {
        return master.limit();
    }

    /** Memory of a storage node, besides huge pages. */
    public Quantity storage(StorageSetSpec set) {
        return ByteAmount.exact(StorageMemory.of(set, engines.of(set)).sum().bytes());
    }

    /** Huge pages of a storage node; empty when its segment consists of normal ones. */
    public Optional<Quantity> hugePages(StorageSetSpec set) {
        return StorageMemory.of(set, engines.of(set)).hugePages();
    }

    /** What people see of it, with the limits that the spec may have set. */
    public SizingStatus status(KvCachePoolSpec spec) {
        List<PodSizing> pods = new ArrayList<>();
        Quantity limit = limit(spec.masters().resources(), masterLimit());
        pods.add(new PodSizing(MASTER, limit, null, master.sum().sentence()));
        for (StorageSetSpec set : spec.storage()) {
            pods.add(new PodSizing(
                    set.name(),
                    limit(set.resources(), storage(set)),
                    hugePages(set).orElse(null),
                    StorageMemory.of(set, engines.of(set)).sum().sentence()));
        }
        return new SizingStatus(master.objects(), from, Rounding.twoDigits(master.room(limit)), pods);
    }

    /** A limit of the spec, or a request above ours, takes the place of ours. */
    private static Quantity limit(ResourceSpec wish, Quantity ours) {
        Quantity request = wish.requests().getOrDefault(MEMORY, ours);
        boolean more = request.getNumericalAmount().compareTo(ours.getNumericalAmount()) > 0;
        return wish.limits().getOrDefault(MEMORY, more ? request : ours);
    }
}
