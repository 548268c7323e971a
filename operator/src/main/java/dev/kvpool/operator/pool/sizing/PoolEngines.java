// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.sizing;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.engine.AcceleratorSpec;
import dev.kvpool.api.v1alpha1.engine.Protocol;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The settings of a pool's transfer engines.
 *
 * @param ofPool for agents, Services and clients, and for the sets that name no other
 * @param ofSets of the sets that do, by the name of the set
 */
public record PoolEngines(TransferEngineSpec ofPool, Map<String, TransferEngineSpec> ofSets) {
    public PoolEngines {
        ofSets = Map.copyOf(ofSets);
    }

    public TransferEngineSpec of(StorageSetSpec set) {
        return ofSets.getOrDefault(set.name(), ofPool);
    }

    /**
     * What clients ask for, best first: as the pool's engine has it, and before tcp what only sets offer. A storage node serves those of
     * them that its own set has. Tcp is in all engines of a pool or in none.
     */
    public List<Protocol> clientProtocols() {
        List<Protocol> protocols = new ArrayList<>(ofPool.protocols());
        List<Protocol> others = Stream.of(Protocol.values())
                .filter(protocol -> !protocols.contains(protocol))
                .filter(protocol -> ofSets.values().stream()
                        .anyMatch(engine -> engine.protocols().contains(protocol)))
                .toList();
        int tcp = protocols.indexOf(Protocol.TCP);
        protocols.addAll(tcp < 0 ? protocols.size() : tcp, others);
        return List.copyOf(protocols);
    }

    /** What agents use of these: they open no NPUs. */
    public List<Protocol> agentProtocols() {
        return clientProtocols().stream()
                .filter(protocol -> protocol != Protocol.ASCEND)
                .toList();
    }

    /** The NPUs that clients meet: as the pool's engine has them, or the first of its sets that has some. */
    public Optional<AcceleratorSpec> accelerator() {
        return all().map(TransferEngineSpec::accelerator)
                .filter(Objects::nonNull)
                .findFirst();
    }

    /** Whether engines may use CANN beside certificates. */
    public boolean trustsAscend() {
        return all().anyMatch(
                        engine -> engine.trustedFabric() && engine.protocols().contains(Protocol.ASCEND));
    }

    /** Directories of nodes that hold a directory with sockets of storage nodes; the pool's first. */
    public List<String> socketDirectories() {
        return all().map(TransferEngineSpec::socketDirectory)
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    private Stream<TransferEngineSpec> all() {
        return Stream.concat(
                Stream.of(ofPool),
                ofSets.entrySet().stream().sorted(Map.Entry.comparingByKey()).map(Map.Entry::getValue));
    }
}
