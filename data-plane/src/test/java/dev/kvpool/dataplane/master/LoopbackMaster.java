// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.election.ElectionTimes;
import dev.kvpool.dataplane.enrol.EnrolmentSettings;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.secure.TlsPlace;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** What masters in tests are told: they listen on 127.0.0.1, on any free port unless one is given. */
public record LoopbackMaster(
        UUID poolId,
        String name,
        int port,
        Path lease,
        Set<String> nodes,
        Optional<Path> nodesFile,
        ElectionTimes times,
        TlsPlace tls,
        Optional<EnrolmentSettings.Place> enrolment) {
    public static final CacheRules RULES =
            PlainSettings.rules(10_000, EvictionRules.between(0.85, 0.9), 1, 30_000, 1L << 28);

    /** With its Lease in this folder, without nodes, and with the times that are usual. */
    public LoopbackMaster(UUID poolId, String name, Path folder) {
        this(
                poolId,
                name,
                0,
                folder.resolve("lease"),
                Set.of(),
                Optional.empty(),
                ElectionTimes.DEFAULT,
                TlsPlace.OFF,
                Optional.empty());
    }

    LoopbackMaster at(int onPort) {
        return new LoopbackMaster(poolId, name, onPort, lease, nodes, nodesFile, times, tls, enrolment);
    }

    LoopbackMaster expecting(String... ids) {
        return new LoopbackMaster(poolId, name, port, lease, Set.of(ids), nodesFile, times, tls, enrolment);
    }

    LoopbackMaster reading(Path expectedNodes) {
        return new LoopbackMaster(poolId, name, port, lease, nodes, Optional.of(expectedNodes), times, tls, enrolment);
    }

    LoopbackMaster timed(ElectionTimes by) {
        return new LoopbackMaster(poolId, name, port, lease, nodes, nodesFile, by, tls, enrolment);
    }

    LoopbackMaster secured(TlsPlace by) {
        return new LoopbackMaster(poolId, name, port, lease, nodes, nodesFile, times, by, enrolment);
    }

    LoopbackMaster enrolling(EnrolmentSettings.Place by) {
        return new LoopbackMaster(poolId, name, port, lease, nodes, nodesFile, times, tls, Optional.of(by));
    }

    MasterConfig config() {
        return new MasterConfig(
                poolId,
                name,
                "127.0.0.1",
                port,
                0,
                0,
                new LeasePlace.Local(lease),
                nodes,
                nodesFile,
                RULES,
                nodesFile.map(file -> file.resolveSibling("cache-rules")),
                nodesFile.isPresent(),
                Optional.empty(),
                times,
                Duration.ZERO,
                tls,
                true,
                enrolment);
    }
}
