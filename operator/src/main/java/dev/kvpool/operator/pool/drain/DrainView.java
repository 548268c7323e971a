// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import dev.kvpool.api.v1alpha1.DrainSpec;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.master.PoolReport;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * All that is decided from about storage nodes that are to go, or whose nodes of the cluster are cordoned.
 *
 * @param status what the status says of them
 * @param expected ids of the storage nodes that the spec wants where they are
 * @param departures all others that hold something or whose pods are there, those that go first in front
 * @param hosts names of the nodes of the cluster that the pods of storage nodes are on, by id
 * @param options how the spec wants it done
 * @param maxUnavailable how many storage nodes may be away at a time with what they hold
 * @param mayLoseBytes whether the spec allows to take nodes away that it does not want, as they are
 * @param specCounts false while the spec cannot be carried out: nodes that it does not want are left alone then
 * @param upgrading whether a step of an upgrade is under way: then no further node is begun to be emptied
 * @param leader what the leader says, when it leads, serves and answers
 * @param watchedSince since when this operator sees what happens and this leader leads, without a break
 * @param now the time
 */
public record DrainView(
        List<DrainStatus> status,
        Set<String> expected,
        List<Departure> departures,
        Map<String, String> hosts,
        DrainSpec options,
        int maxUnavailable,
        boolean mayLoseBytes,
        boolean specCounts,
        boolean upgrading,
        Optional<PoolReport> leader,
        Instant watchedSince,
        Instant now) {

    public DrainView {
        status = List.copyOf(status);
        expected = Set.copyOf(expected);
        departures = List.copyOf(departures);
        hosts = Map.copyOf(hosts);
    }

    Optional<PoolReport.Node> node(String id) {
        return leader.flatMap(report ->
                report.nodes().stream().filter(node -> node.id().equals(id)).findFirst());
    }

    Optional<Departure> departure(String id) {
        return departures.stream().filter(it -> it.node().equals(id)).findFirst();
    }

    /** Ids of storage nodes that the spec wants, where they are or elsewhere. */
    List<String> wanted() {
        return Stream.concat(
                        expected.stream(),
                        departures.stream().filter(Departure::wanted).map(Departure::node))
                .distinct()
                .toList();
    }
}
