// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import dev.kvpool.api.v1alpha1.DrainSpec;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.master.PoolReport;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * All that is decided from about storage nodes that are to go.
 *
 * @param status what the status says of them
 * @param expected ids of the storage nodes that the spec wants
 * @param departures storage nodes that the spec does not want any more, those that go first in front
 * @param options how the spec wants it done
 * @param mayLoseBytes whether the spec allows to take nodes away as they are
 * @param upgrading whether a step of an upgrade is under way: then no further node is begun to be emptied
 * @param leader what the leader says, when it leads, serves and answers
 * @param now the time
 */
public record DrainView(
        List<DrainStatus> status,
        Set<String> expected,
        List<Departure> departures,
        DrainSpec options,
        boolean mayLoseBytes,
        boolean upgrading,
        Optional<PoolReport> leader,
        Instant now) {

    public DrainView {
        status = List.copyOf(status);
        expected = Set.copyOf(expected);
        departures = List.copyOf(departures);
    }

    Optional<PoolReport.Node> node(String id) {
        return leader.flatMap(report ->
                report.nodes().stream().filter(node -> node.id().equals(id)).findFirst());
    }

    Optional<Departure> departure(String id) {
        return departures.stream().filter(it -> it.node().equals(id)).findFirst();
    }
}
