// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.api.v1alpha1.storage.DrainSpec;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.observation.ObservedPod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Storage nodes in memory with an obedient leader, so that a drain can be played round by round. */
final class DrainPool {
    private static final String IMAGE = "kvpool:1";

    /** A storage node as the leader sees it. */
    static final class Node {
        String state = "ready";
        Long left;
        boolean holdsBytes = true;

        /** Objects it holds that can never be moved. */
        long stuck;

        /** Objects the leader saw there last. */
        long holds;

        /** Kubernetes node its pod is on. */
        String host;

        /** Whether what it holds outlives its pod. */
        boolean keeps;

        /** Whether it is of a set whose pods are not evicted. */
        boolean perNode;

        /** Whether its process has not started yet. */
        boolean starting;

        /** Whether its pod is being deleted. */
        boolean ending;

        /** Whether its machine is dead, as far as Kubernetes knows. */
        boolean dead;

        Node(String host) {
            this.host = host;
        }

        /** Its container ends again and again, and what it holds is in its memory still. */
        void falls(long objects) {
            state = "away";
            starting = true;
            holds = objects;
        }
    }

    /** Everything the leader was told, in words. */
    final List<String> told = new ArrayList<>();

    /** Nodes that went, with what they still held alone. */
    final List<String> gone = new ArrayList<>();

    /** Nodes whose pods were evicted, with what they still held alone. */
    final List<String> evicted = new ArrayList<>();

    /** Nodes that were recreated, with what they still held alone. */
    final List<String> madeAnew = new ArrayList<>();

    private final TreeMap<String, Node> members = new TreeMap<>();
    private final Set<String> unwanted = new LinkedHashSet<>();
    private final Set<String> cordoned = new LinkedHashSet<>();
    private final Set<String> outdated = new LinkedHashSet<>();
    private final Map<String, String> requested = new TreeMap<>();
    private List<StepStatus> status = List.of();
    private DrainSpec options = new DrainSpec(null, null, null);
    private boolean mayLoseBytes;
    private boolean upgrading;
    private Optional<String> next = Optional.empty();
    private boolean led = true;
    private boolean paused;
    private boolean endsSlowly;
    private String taint = "";
    private boolean evicting;
    private boolean specCounts = true;
    private int maxUnavailable = 1;
    private Instant now = Instant.parse("2026-01-01T12:00:00Z");
    private Instant watchedSince = Instant.EPOCH;

    DrainPool(int nodes) {
        for (int i = 0; i < nodes; i++) {
            members.put("s-" + i, new Node("k-" + i));
        }
    }

    Node node(String id) {
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

    /** A user wants these to be empty as long as they are in their present pods, and no others. */
    DrainPool requested(String... ids) {
        requested.clear();
        List.of(ids).forEach(id -> requested.put(id, uid(id, node(id))));
        return this;
    }

    /** These Kubernetes nodes are cordoned, and no others; storage node s-1 is on k-1, and so on. */
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

    /** An upgrade brings them to this image now. */
    DrainPool upgradedTo(String image) {
        next = Optional.of(image);
        return this;
    }

    /** Pods that are deleted take their time. */
    DrainPool endsSlowly() {
        endsSlowly = true;
        return this;
    }

    DrainPool paused(boolean now) {
        paused = now;
        return this;
    }

    /** What Kubernetes nodes have that are as good as cordoned. */
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

    /** Steps under way, and those that wait on cordoned Kubernetes nodes; others that wait are not counted. */
    List<StepStatus> status() {
        return status.stream()
                .filter(step -> !step.because().isImage())
                .filter(step -> step.state() != StepState.WAITING || step.machine() != null)
                .toList();
    }

    List<String> phases() {
        return status().stream()
                .map(step -> step.of() + " " + (step.kind() == StepKind.EMPTY ? step.state() : step.kind()))
                .toList();
    }

    Set<String> nodes() {
        return members.keySet();
    }

    TransitionPlan plan() {
        TransitionView view = view();
        return Transitions.plan(view, StepJudge.look(view));
    }

    /** One look of an operator that knows nothing but the status, then what comes of it. */
    DrainPool round() {
        TransitionPlan plan = plan();
        plan.actions().forEach(this::act);
        plan.released().forEach(this::remove);
        if (evicting) {
            plan.evictable().forEach(this::evict);
        }
        status = plan.steps().stream().filter(step -> !step.because().isImage()).toList();
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

    private void act(Action action) {
        switch (action) {
            case Action.Empty(String node, boolean clear) -> {
                told.add("empty " + node);
                members.get(node).state = "draining";
                members.get(node).left = 100L;
            }
            case Action.Cancel(String node) -> {
                told.add("cancel " + node);
                Node member = members.get(node);
                if (member != null) {
                    member.state = member.state.startsWith("drain") ? "ready" : member.state;
                    member.left = null;
                }
            }
            case Action.DeletePod(String pod, String uid) -> {
                Node member = members.get(pod);
                assertThat(uid).isEqualTo(uid(pod, member));
                outdated.remove(pod);
                if (endsSlowly) {
                    member.ending = true;
                    member.state = "away";
                    return;
                }
                madeAnew.add(pod + " with " + left(member));
                members.put(pod, starting(member.host));
            }
            default -> throw new AssertionError(action);
        }
    }

    private void remove(String id) {
        Node member = members.remove(id);
        if (member != null) {
            gone.add(id + " with " + left(member));
        }
    }

    private static Node starting(String host) {
        Node other = new Node(host);
        other.state = "away";
        other.starting = true;
        return other;
    }

    /** It comes back empty, or with what outlived its pod, on a Kubernetes node that is not cordoned. */
    private void evict(String id) {
        Node member = members.get(id);
        if (member == null || member.perNode || !cordoned.contains(member.host)) {
            return;
        }
        evicted.add(id + " with " + (member.keeps ? "its volume" : left(member)));
        members.put(id, starting("elsewhere"));
    }

    private static String left(Node member) {
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

    private Goals goals() {
        Map<String, Boolean> going = new LinkedHashMap<>();
        unwanted.stream().filter(members::containsKey).forEach(id -> going.put(id, members.get(id).holdsBytes));
        Map<String, Cordon> cordons = new TreeMap<>();
        members.forEach((id, member) -> {
            if (cordoned.contains(member.host)) {
                cordons.put(id, Cordon.of(member.host, taint, !member.perNode, member.keeps));
            }
            if (uid(id, member).equals(requested.get(id))) {
                cordons.put(
                        id,
                        cordons.containsKey(id)
                                ? Cordon.of(member.host, taint, !member.perNode, false)
                                : Cordon.ofRequest(member.host));
            }
        });
        Set<String> wanted = new LinkedHashSet<>(members.keySet());
        wanted.removeAll(going.keySet());
        Optional<ImageGoal> image = next.or(() -> upgrading ? Optional.of(IMAGE) : Optional.empty())
                .map(it -> ImageGoal.upgrade(it, 0, false, false, false));
        return new Goals(wanted, going, List.of(), cordons, outdated, Deferred.NONE, Optional.empty(), image);
    }

    private TransitionView view() {
        List<StepStatus> steps = new ArrayList<>(status);
        if (upgrading) {
            steps.add(new StepStatus("m-1", StepKind.RESTART, StepCause.UPGRADE, StepState.UNDER_WAY, now.toString()));
        }
        Optional<PoolReport> leader = led ? Optional.of(report()) : Optional.empty();
        List<Member> storage = new ArrayList<>();
        members.forEach((id, member) -> storage.add(new Member(
                pod(id, member),
                false,
                member.dead ? Member.Where.ON_LOST_NODE : Member.Where.PLACED,
                member.keeps,
                leader.stream()
                        .flatMap(report -> report.nodes().stream())
                        .filter(node -> node.id().equals(id))
                        .findFirst())));
        Set<StepCause> resting = paused
                ? EnumSet.allOf(StepCause.class)
                : specCounts ? Set.of() : EnumSet.complementOf(EnumSet.of(StepCause.CORDON, StepCause.REQUEST));
        return new TransitionView(
                new Members(List.of(), storage, 1, upgrading ? Set.of("m-1") : Set.of(), Map.of(), List.of(), leader),
                goals(),
                steps,
                new TransitionView.Terms(
                        new UpgradeSpec(maxUnavailable, null, null, "10m", null, null),
                        options,
                        mayLoseBytes ? DataLossPolicy.REPLACE : DataLossPolicy.MOVE,
                        resting),
                watchedSince,
                watchedSince,
                now);
    }

    private static String uid(String id, Node member) {
        return id + "-" + System.identityHashCode(member);
    }

    private ObservedPod pod(String id, Node member) {
        return PoolSketch.seen(id, uid(id, member), "storage", "s")
                .with("started", member.holdsBytes)
                .with("ready", !member.starting && !member.ending)
                .with("goneBy", Optional.of(now).filter(any -> member.ending))
                .with("node", member.host)
                .with("image", IMAGE)
                .with("specImage", IMAGE)
                .build();
    }

    private PoolReport report() {
        List<PoolReport.Node> nodes = new ArrayList<>();
        members.forEach((id, member) -> nodes.add(Reports.node(id, member.state)
                .with("reason", member.state.equals("away") ? "no connection for 12 s" : "")
                .with("objects", member.holds)
                .with("incarnation", String.valueOf(System.identityHashCode(member)))
                .with("objectsLeft", member.left)
                .with("leftovers", Reports.leftovers(member.left))
                .build()));
        return Reports.leader("m-0", 1, nodes).build();
    }
}
