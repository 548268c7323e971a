// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master;

import dev.kvpool.operator.Altered;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What masters say, for tests that do not care about builds, active numbers and takeovers: those are left out. */
public final class Reports {
    private Reports() {}

    public static PoolReport of(
            String poolId,
            String name,
            String role,
            String state,
            long epoch,
            PoolReport.Version version,
            long capacityBytes,
            long usedBytes,
            long objects,
            List<PoolReport.Node> nodes) {
        return new PoolReport(
                poolId,
                name,
                role,
                state,
                epoch,
                version,
                capacityBytes,
                capacityBytes,
                usedBytes,
                objects,
                0,
                0,
                nodes,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
    }

    /** The same report by a leader that says how it came to lead. */
    public static PoolReport after(PoolReport.Takeover takeover, PoolReport report) {
        return Altered.of(report).with("takeover", takeover).build();
    }

    /** The same report by a master that goes by these rules of the cache. */
    public static PoolReport goingBy(PoolReport.CacheRules rules, PoolReport report) {
        return Altered.of(report).with("cacheRules", rules).build();
    }

    /** The same report, with so many objects that cannot be read, and that have too few copies. */
    public static PoolReport missing(long unavailable, long underReplicated, PoolReport report) {
        return Altered.of(report)
                .with("unavailableObjects", unavailable)
                .with("underReplicatedObjects", underReplicated)
                .build();
    }

    /** The same report by a leader that has met none of those who know what was removed while others were away. */
    public static PoolReport awaiting(List<String> witnesses, List<String> behind, PoolReport report) {
        return behind(true, witnesses, behind, report);
    }

    /** The same report by a leader that knows what was removed while others were away. */
    public static PoolReport behind(List<String> witnesses, List<String> behind, PoolReport report) {
        return behind(false, witnesses, behind, report);
    }

    private static PoolReport behind(boolean awaits, List<String> witnesses, List<String> behind, PoolReport report) {
        Map<String, PoolReport.Behind> since = new TreeMap<>();
        behind.forEach(id -> since.put(id, new PoolReport.Behind("2026-01-01T11:00:00Z")));
        return Altered.of(report)
                .with("register", new PoolReport.Register(awaits, since, witnesses))
                .build();
    }

    /** The same report by a master whose index is full. */
    public static PoolReport full(String problem, PoolReport report) {
        return Altered.of(report).with("index", new PoolReport.Index(problem)).build();
    }

    /** The same report by a master that signs certificates and says what they hang on. */
    public static PoolReport trusting(PoolReport.Trust trust, PoolReport report) {
        return Altered.of(report).with("trust", trust).build();
    }

    public static PoolReport.Node node(
            String id,
            String state,
            String reason,
            boolean isTransient,
            long usedBytes,
            long objects,
            String product,
            List<String> protocols,
            String incarnation,
            PoolReport.Objects committed,
            PoolReport.Restored restored,
            Long lostAtReturn,
            Long objectsLeft,
            List<PoolReport.Leftover> leftovers) {
        return new PoolReport.Node(
                id,
                state,
                reason,
                isTransient,
                usedBytes,
                objects,
                product,
                protocols,
                incarnation,
                committed,
                restored,
                lostAtReturn,
                objectsLeft,
                leftovers,
                null,
                null,
                null);
    }

    /** Memory that an engine contributes. */
    public static PoolReport.Node engine(String id) {
        return node(
                id,
                "ready",
                "",
                true,
                0,
                0,
                "0.1.0",
                List.of("tcp"),
                "00000000000000a1",
                null,
                null,
                null,
                null,
                List.of());
    }

    /** One whose time to be emptied is over, by what it still holds alone. */
    public static PoolReport.Node drained(String id, long objectsLeft) {
        return node(
                id,
                "drained",
                "",
                false,
                0,
                objectsLeft,
                "0.1.0",
                List.of("tcp"),
                "00000000000000a1",
                null,
                null,
                null,
                objectsLeft,
                List.of());
    }

    /** The same node, whose disk is off. */
    public static PoolReport.Node withoutSsd(String problem, PoolReport.Node node) {
        return Altered.of(node).with("ssd", new PoolReport.Ssd(problem)).build();
    }
}
