// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Masters to which storage nodes have no connection that the leader has: were they to lead, what is there would not be found. Pure. */
final class BlindMasters {
    /** Storage nodes ask for a master that is new to them every half minute. */
    private static final Duration NEW = Duration.ofMinutes(1);

    private static final String AWAY = "away";

    private BlindMasters() {}

    /** A sentence about each such master that has been running for long enough, each with a space in front. */
    static List<String> sentences(PoolObservation seen) {
        List<String> sentences = new ArrayList<>();
        seen.leaderReport()
                .ifPresent(leader -> seen.reports().stream()
                        .filter(report -> !report.leads() && isOld(report.name(), seen))
                        .sorted(Comparator.comparing(PoolReport::name))
                        .forEach(report -> {
                            Set<String> lacking = ids(leader, node -> !isAway(node) && !node.setApart());
                            lacking.retainAll(ids(report, BlindMasters::isAway));
                            if (!lacking.isEmpty()) {
                                sentences.add(sentence(report.name(), List.copyOf(lacking), leader.name()));
                            }
                        }));
        return sentences;
    }

    private static String sentence(String master, List<String> lacking, String leader) {
        return (" %s has no connection to %s, but %s has: if it became leader, it would not find the objects there."
                        + " Storage nodes that were created for fewer masters connect to this one when their pods are recreated.")
                .formatted(master, NameList.of(lacking), leader);
    }

    private static Set<String> ids(PoolReport report, Predicate<PoolReport.Node> wanted) {
        return report.nodes().stream()
                .filter(node -> !node.isTransient() && wanted.test(node))
                .map(PoolReport.Node::id)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean isAway(PoolReport.Node node) {
        return node.refused() || AWAY.equals(node.state());
    }

    private static boolean isOld(String master, PoolObservation seen) {
        return seen.pods(PoolLabels.ROLE_MASTER).stream()
                .filter(pod -> pod.name().equals(master))
                .flatMap(pod -> pod.runningSince().stream())
                .anyMatch(since -> Duration.between(since, seen.now()).compareTo(NEW) >= 0);
    }
}
