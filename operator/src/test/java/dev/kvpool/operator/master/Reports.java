// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master;

import dev.kvpool.operator.Altered;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What masters say, for tests: what these do not name is empty, 0, or left out. */
public final class Reports {
    private static final PoolReport NOTHING = new PoolReport(
            new PoolReport.Master("id", "", "", "", 1, null),
            new PoolReport.Totals(0, 0, 0, 0, 0, 0),
            List.of(),
            new PoolReport.Builds(null, null, List.of()),
            null,
            null,
            null,
            null);
    private static final PoolReport.Node NODE = new PoolReport.Node(
            "",
            "",
            "",
            false,
            new PoolReport.Contents(0, 0, null, List.of()),
            new PoolReport.Life("00000000000000a1", null, null, null),
            new PoolReport.Build("0.1.0", List.of("tcp"), null, null),
            null);

    private Reports() {}

    /** A leader that serves. */
    public static Altered<PoolReport> leader(String name, long epoch, List<PoolReport.Node> nodes) {
        return of(name, epoch, nodes).with("role", "leader").with("state", "serving");
    }

    public static Altered<PoolReport> standby(String name, long epoch, List<PoolReport.Node> nodes) {
        return of(name, epoch, nodes).with("role", "standby").with("state", "standby");
    }

    private static Altered<PoolReport> of(String name, long epoch, List<PoolReport.Node> nodes) {
        return Altered.of(NOTHING)
                .with("name", name)
                .with("epoch", epoch)
                .with("version", new PoolReport.Version("0.1.0"))
                .with("nodes", nodes);
    }

    /** A storage node as a master sees it. */
    public static Altered<PoolReport.Node> node(String id, String state) {
        return Altered.of(NODE).with("id", id).with("state", state);
    }

    /** So many objects of a MiB each have no other place. */
    public static List<PoolReport.Leftover> leftovers(Long objects) {
        return objects == null || objects == 0
                ? List.of()
                : List.of(new PoolReport.Leftover("dram", objects, objects << 20, "no node has room"));
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

    /** Memory that an engine contributes. */
    public static PoolReport.Node engine(String id) {
        return node(id, "ready").with("isTransient", true).build();
    }

    /** One whose time to be emptied is over, by what it still holds alone. */
    public static PoolReport.Node drained(String id, long objectsLeft) {
        return node(id, "drained")
                .with("objects", objectsLeft)
                .with("objectsLeft", objectsLeft)
                .build();
    }

    /** The same node, whose disk is off. */
    public static PoolReport.Node withoutSsd(String problem, PoolReport.Node node) {
        return Altered.of(node).with("ssd", new PoolReport.Ssd(problem)).build();
    }
}
