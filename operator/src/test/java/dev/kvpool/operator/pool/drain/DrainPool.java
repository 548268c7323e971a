// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import dev.kvpool.api.v1alpha1.DrainSpec;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Storage nodes in memory with an obedient leader, so that a drain can be played round by round. */
final class DrainPool {
    /** A storage node as the leader sees it. */
    static final class Member {
        String state = "ready";
        Long left;
        boolean holdsBytes = true;

        /** Objects it holds that can never be moved. */
        long stuck;

        /** Node of the cluster its pod is on. */
        String host;

        /** Whether what it holds outlives its pod. */
        boolean keeps;

        /** Whether it is of a set whose pods nobody evicts. */
        boolean perNode;

        /** Whether its process has not started yet. */
        boolean starting;

        Member(String host) {
            this.host = host;
        }
    }

    /** Everything the leader was told, in words. */
    final List<String> told = new ArrayList<>();

    /** Nodes that went, with what they still held alone. */
    final List<String> gone = new ArrayList<>();

    /** Nodes whose pods were evicted, with what they still held alone. */
    final List<String> evicted = new ArrayList<>();

    /** Nodes that were made anew, with what they still held alone. */
    final List<String> madeAnew = new ArrayList<>();

    private final TreeMap<String, Member> members = new TreeMap<>();
    private final Set<String> unwanted = new LinkedHashSet<>();
    private final Set<String> cordoned = new LinkedHashSet<>();
    private final Set<String> outdated = new LinkedHashSet<>();
    private List<DrainStatus> status = List.of();
    private DrainSpec options = new DrainSpec(null, null, null);
    private boolean mayLoseBytes;
    private boolean upgrading;
    private boolean led = true;
    private boolean paused;
    private String taint = "";
    private boolean evicting;
    private boolean specCounts = true;
    private int maxUnavailable = 1;
    private Instant now = Instant.parse("2026-01-01T12:00:00Z");
    private Instant watchedSince = Instant.EPOCH;

    DrainPool(int nodes) {
        for (int i = 0; i < nodes; i++) {
            members.put("s-" + i, new Member("k-" + i));
        }
    }

    Member node(String id) {
        return members.get(id);
    }

    DrainPool unwanted(String... ids) {
        unwanted.clear();
        unwanted.addAll(List.of(ids));
        return this;
    }

    /** These run with earlier settings, and no others. */
    DrainPool outdated(String... ids) {
        outdated.clear();
        outdated.addAll(List.of(ids));
        return this;
    }

    /** These nodes of the cluster are cordoned, and no others; storage node s-1 is on k-1, and so on. */
    DrainPool cordoned(String... hosts) {
        cordoned.clear();
        cordoned.addAll(List.of(hosts));
        return this;
    }

    Set<String> cordonedHosts() {
        return cordoned;
    }

    /** From now on somebody tries to evict the pods of cordoned nodes, again and again. */
    DrainPool evicting(boolean now) {
        evicting = now;
        return this;
    }

    DrainPool specCounts(boolean now) {
        specCounts = now;
        return this;
    }

    DrainPool maxUnavailable(int most) {
        maxUnavailable = most;
        return this;
    }

    DrainPool options(DrainSpec wish) {
        options = wish;
        return this;
    }

    DrainPool mayLoseBytes() {
        mayLoseBytes = true;
        return this;
    }

    DrainPool upgrading(boolean now) {
        upgrading = now;
        return this;
    }

    DrainPool paused(boolean now) {
        paused = now;
        return this;
    }

    /** What nodes of the cluster have that are as good as cordoned. */
    DrainPool tainted(String key) {
        taint = key;
        return this;
    }

    DrainPool led(boolean now) {
        led = now;
        return this;
    }

    /** Drains end with the leadership they were asked of. */
    DrainPool leaderChanges() {
        members.values().forEach(member -> {
            member.state = member.state.startsWith("drain") ? "ready" : member.state;
            member.left = null;
        });
        return this;
    }

    DrainPool later(Duration time) {
        now = now.plus(time);
        return this;
    }

    /** Another operator comes, after no operator had looked for so long. */
    DrainPool unwatchedFor(Duration time) {
        later(time);
        watchedSince = now;
        return this;
    }

    List<DrainStatus> status() {
        return status;
    }

    List<String> phases() {
        return status.stream().map(drain -> drain.node() + " " + drain.phase()).toList();
    }

    Set<String> nodes() {
        return members.keySet();
    }

    DrainPlan plan() {
        return paused ? Drains.rest(view()) : Drains.plan(view());
    }

    /** One look of an operator that knows nothing but the status, then what comes of it. */
    DrainPool round() {
        DrainPlan plan = plan();
        plan.actions().forEach(this::tell);
        plan.released().forEach(this::remove);
        if (evicting) {
            plan.evictable().forEach(this::evict);
        }
        status = plan.next();
        return this;
    }

    /** What the leader told to empty gets on with it: half of what can be moved. */
    DrainPool moves() {
        members.values().stream()
                .filter(member -> member.state.equals("draining"))
                .forEach(member -> {
                    member.left = Math.max(member.stuck, member.left / 2);
                    member.state = member.left == 0 ? "drained" : "draining";
                });
        return this;
    }

    DrainPool rounds(int count) {
        for (int i = 0; i < count; i++) {
            round().moves().later(Duration.ofSeconds(2));
        }
        return this;
    }

    /** The master's own limit for a drain is over. */
    void timesOutAtTheMaster(String id) {
        node(id).state = "drained";
    }

    private void tell(DrainAction action) {
        Member member = members.get(action.node());
        switch (action) {
            case DrainAction.Empty(String node) -> {
                told.add("empty " + node);
                member.state = "draining";
                member.left = 100L;
            }
            case DrainAction.Cancel(String node) -> {
                told.add("cancel " + node);
                if (member != null) {
                    member.state = member.state.startsWith("drain") ? "ready" : member.state;
                    member.left = null;
                }
            }
        }
    }

    private void remove(String id) {
        Member member = members.remove(id);
        if (member == null) {
            return;
        }
        if (unwanted.contains(id) || !outdated.remove(id)) {
            gone.add(id + " with " + left(member));
            return;
        }
        madeAnew.add(id + " with " + left(member));
        members.put(id, starting(member.host));
    }

    private static Member starting(String host) {
        Member other = new Member(host);
        other.state = "away";
        other.starting = true;
        return other;
    }

    /** It comes back empty, or with what outlived its pod, on a node of the cluster that is not cordoned. */
    private void evict(String id) {
        Member member = members.get(id);
        if (member == null || member.perNode || !cordoned.contains(member.host)) {
            return;
        }
        evicted.add(id + " with " + (member.keeps ? "its volume" : left(member)));
        members.put(id, starting("elsewhere"));
    }

    private static String left(Member member) {
        return member.state.equals("drained") ? Long.toString(member.left) : "everything";
    }

    /** Processes that have started meanwhile are known to the leader. */
    DrainPool starts() {
        members.values().stream().filter(member -> member.starting).forEach(member -> {
            member.state = "ready";
            member.starting = false;
        });
        return this;
    }

    private List<Departure> departures() {
        List<Departure> departures = new ArrayList<>();
        unwanted.stream()
                .filter(members::containsKey)
                .map(id -> Departure.unwanted(id, members.get(id).holdsBytes))
                .map(departure -> on(departure, members.get(departure.node())))
                .forEach(departures::add);
        members.forEach((id, member) -> {
            if (cordoned.contains(member.host) && !unwanted.contains(id)) {
                departures.add(on(new Departure(id, member.holdsBytes, true, Optional.empty()), member));
            } else if (outdated.contains(id) && !unwanted.contains(id)) {
                departures.add(Departure.outdated(id, member.holdsBytes));
            }
        });
        return departures;
    }

    private Departure on(Departure departure, Member member) {
        return cordoned.contains(member.host)
                ? departure.on(new Cordon(member.host, taint, !member.perNode, member.keeps))
                : departure;
    }

    private DrainView view() {
        List<Departure> departures = departures();
        Set<String> away = departures.stream().map(Departure::node).collect(Collectors.toSet());
        return new DrainView(
                status,
                members.keySet().stream()
                        .filter(id -> !unwanted.contains(id) && !away.contains(id))
                        .collect(Collectors.toSet()),
                departures,
                members.entrySet().stream()
                        .collect(Collectors.toMap(Map.Entry::getKey, member -> member.getValue().host)),
                options,
                maxUnavailable,
                mayLoseBytes,
                specCounts,
                upgrading,
                led ? Optional.of(report()) : Optional.empty(),
                watchedSince,
                now);
    }

    private PoolReport report() {
        List<PoolReport.Node> nodes = new ArrayList<>();
        members.forEach((id, member) -> nodes.add(Reports.node(
                id,
                member.state,
                member.state.equals("away") ? "no connection for 12 s" : "",
                false,
                0,
                0,
                "0.1.0",
                List.of(),
                "00000000000000a1",
                null,
                null,
                null,
                member.left,
                member.left == null || member.left == 0
                        ? List.of()
                        : List.of(
                                new PoolReport.Leftover("dram", member.left, member.left << 20, "no node has room")))));
        return Reports.of("id", "m-0", "leader", "serving", 1, new PoolReport.Version("0.1.0"), 0, 0, 0, nodes);
    }
}
