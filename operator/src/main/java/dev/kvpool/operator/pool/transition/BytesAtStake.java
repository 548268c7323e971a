// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.Rounding;
import dev.kvpool.operator.pool.observation.ObservedPod;
import java.util.List;
import java.util.Optional;

/** What would be lost with storage pods, in words. */
public final class BytesAtStake {
    private final Optional<PoolReport> report;

    /**
     * @param report what the leader says; empty when none can be asked
     */
    BytesAtStake(Optional<PoolReport> report) {
        this.report = report;
    }

    /** What the given pods hold, rounded, so that the sentence stays the same while little changes. */
    String of(List<ObservedPod> pods) {
        if (report.isEmpty()) {
            return "what they hold, which no leader can tell now";
        }
        List<String> ids = pods.stream().map(ObservedPod::nodeId).toList();
        List<PoolReport.Node> nodes = report.get().nodes().stream()
                .filter(node -> ids.contains(node.id()))
                .toList();
        long bytes = nodes.stream().mapToLong(PoolReport.Node::usedBytes).sum();
        long objects = nodes.stream().mapToLong(PoolReport.Node::objects).sum();
        return "about %s in %d objects".formatted(ByteAmount.coarse(bytes), Rounding.twoDigits(objects));
    }

    /** That running pods keep earlier settings, and what replacing them would lose. */
    String earlierSettings(List<ObservedPod> pods) {
        boolean one = pods.size() == 1;
        return "%s still %s with earlier settings: replacing %s would lose %s."
                .formatted(names(pods), one ? "runs" : "run", one ? "it" : "them", of(pods));
    }

    /** That running pods keep earlier settings for a while. */
    static String untilEmptied(List<ObservedPod> pods) {
        boolean one = pods.size() == 1;
        return "%s still %s with earlier settings and %s replaced when empty, one storage node at a time."
                .formatted(names(pods), one ? "runs" : "run", one ? "is" : "are");
    }

    public static String names(List<ObservedPod> pods) {
        return NameList.of(pods.stream().map(ObservedPod::name).sorted().toList());
    }
}
