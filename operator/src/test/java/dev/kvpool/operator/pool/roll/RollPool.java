// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.status.PendingVersions;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.api.v1alpha1.storage.DrainSpec;
import dev.kvpool.api.v1alpha1.storage.LeftoverPolicy;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.member.Cordon;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.observation.PreflightSeen;
import dev.kvpool.operator.pool.transition.Action;
import dev.kvpool.operator.pool.transition.Deferred;
import dev.kvpool.operator.pool.transition.Goals;
import dev.kvpool.operator.pool.transition.StepJudge;
import dev.kvpool.operator.pool.transition.TransitionPlan;
import dev.kvpool.operator.pool.transition.TransitionView;
import dev.kvpool.operator.pool.transition.Transitions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A pool in memory with lazy kubelets and obedient masters, so that an upgrade can be played round by round. */
public final class RollPool {
    public static final String OLD = "kvpool:1";
    public static final String NEW = "kvpool:2";
    static final Duration DRAIN_TIMEOUT = Duration.ofMinutes(30);
    public static final UpgradeSpec DEFAULTS = new UpgradeSpec(null, null, null, null, null, null);

    /** Everything the operator had done, in words. */
    public final List<String> done = new ArrayList<>();

    private final List<RollMember> masters = new ArrayList<>();
    private final List<RollMember> storage = new ArrayList<>();
    private final List<String> unread = new ArrayList<>();
    private final Set<String> badImages = new HashSet<>();
    private final Set<String> badForMasters = new HashSet<>();
    private Optional<RollStatus> status = Optional.empty();
    private List<StepStatus> steps = List.of();
    private Optional<PendingVersions> pending = Optional.empty();
    private UpgradeSpec options = DEFAULTS;
    private String wanted = OLD;
    private String stable = OLD;
    private String storageTemplate = OLD;
    private String verdict = "";
    private Optional<PreflightSeen> preflight = Optional.empty();
    private RollMember leader;
    private long epoch = 1;
    private boolean nobodyTakes;
    private boolean led = true;
    private boolean mayLoseBytes;
    private boolean everLed = true;
    private Instant now = Instant.parse("2026-01-01T12:00:00Z");
    private Instant operatorSince = now;
    private Instant ledSince = now;
    private List<PoolReport.ClientVersion> clients = List.of();
    private List<RollMember> toRaise = storage;
    private Set<String> cordoned = Set.of();
    private Optional<Long> failover = Optional.empty();
    private boolean refusesImages;
    private final Map<String, String> refused = new TreeMap<>();
    final RollMachines machines = new RollMachines();
    private Optional<String> unpullable = Optional.empty();
    private Optional<String> retry = Optional.empty();

    public RollPool(int masterCount, int nodeCount) {
        for (int i = 0; i < masterCount; i++) {
            masters.add(new RollMember("m-" + i, OLD));
        }
        for (int i = 0; i < nodeCount; i++) {
            storage.add(new RollMember("s-" + i, OLD));
        }
        leader = masters.getFirst();
    }

    public RollPool want(String image) {
        wanted = image;
        return this;
    }

    public RollPool options(UpgradeSpec wish) {
        options = wish;
        return this;
    }

    /** What the annotation says that has a failed upgrade tried again. */
    RollPool retry(String text) {
        retry = Optional.of(text);
        return this;
    }

    /** What a preflight Job answers, once it has run for a round. */
    public RollPool preflight(String answer) {
        verdict = answer;
        return this;
    }

    /** The Job with this answer is not gone yet. */
    RollPool jobStillSays(String answer) {
        preflight = Optional.of(new PreflightSeen(wanted, PreflightSeen.State.ANSWERED, answer, "because"));
        return this;
    }

    /** Containers with this image never get ready. */
    public RollPool bad(String image) {
        badImages.add(image);
        return this;
    }

    /** Masters with this image never get ready; storage nodes do. */
    RollPool badForMasters(String image) {
        badForMasters.add(image);
        return this;
    }

    /** Storage nodes whose Kubernetes nodes are cordoned, and no others. */
    RollPool cordoned(String... ids) {
        cordoned = Set.of(ids);
        return this;
    }

    /** A user wants the leadership of this epoch handed over. */
    RollPool failover(long leadership) {
        failover = Optional.of(leadership);
        return this;
    }

    /** From now on the API server takes no image of a pod. */
    RollPool refusesImages(boolean now) {
        refusesImages = now;
        return this;
    }

    /** Its pod has ended, and Kubernetes can create no other. */
    RollPool refused(String id, String why) {
        node(id).neverReady = true;
        node(id).ready = false;
        refused.put(id, why);
        return this;
    }

    /** Its pod is created after all. */
    RollPool admitted(String id) {
        refused.remove(id);
        node(id).neverReady = false;
        return this;
    }

    RollPool good(String image) {
        badImages.remove(image);
        badForMasters.remove(image);
        return this;
    }

    RollPool nobodyTakesTheLeadership() {
        nobodyTakes = true;
        return this;
    }

    /** It is new, and its image does not work. */
    RollPool neverLed() {
        everLed = false;
        masters.forEach(master -> master.ready = false);
        return bad(OLD);
    }

    RollPool led(boolean now) {
        led = now;
        return this;
    }

    RollPool mayLoseBytes() {
        mayLoseBytes = true;
        return this;
    }

    RollMember node(String name) {
        return all().filter(member -> member.name.equals(name) || member.id().equals(name))
                .findFirst()
                .orElseThrow();
    }

    RollMember master(String name) {
        return node(name);
    }

    /** A client is connected that speaks the first version of the wire protocol only; or none is. */
    RollPool oldClient(boolean connected) {
        clients = connected
                ? List.of(new PoolReport.ClientVersion("0.0.9", new PoolReport.Range(1, 1), 1, "engine"))
                : List.of();
        return this;
    }

    /** Only these storage nodes change to the versions that a leader tells all of them. */
    RollPool raising(String... names) {
        toRaise = List.of(names).stream().map(this::node).toList();
        return this;
    }

    RollPool raisingAll() {
        toRaise = storage;
        return this;
    }

    public RollPool later(Duration time) {
        now = now.plus(time);
        return this;
    }

    /** Another operator takes over now. */
    public RollPool newOperator() {
        operatorSince = now;
        return this;
    }

    /** All masters are upgraded. */
    public RollPool mastersRun(String image) {
        masters.forEach(master -> master.runNow(image));
        steps = List.of();
        return this;
    }

    Instant now() {
        return now;
    }

    Optional<RollStatus> status() {
        return status;
    }

    /** Steps that have begun. */
    List<StepStatus> steps() {
        return steps.stream().filter(step -> step.state() != StepState.WAITING).toList();
    }

    /** Somebody edits the status, or an operator wrote it that compares something else. */
    RollPool losesFacts() {
        steps = steps.stream().map(StepStatus::withoutFacts).toList();
        return this;
    }

    Optional<PendingVersions> pending() {
        return pending;
    }

    String wanted() {
        return wanted;
    }

    String stable() {
        return stable;
    }

    Set<String> images() {
        return Stream.concat(imagesOfMasters().stream(), imagesOfStorage().stream())
                .collect(Collectors.toSet());
    }

    Set<String> imagesOfMasters() {
        return masters.stream().map(master -> master.running).collect(Collectors.toSet());
    }

    Set<String> imagesOfStorage() {
        return storage.stream().map(node -> node.running).collect(Collectors.toSet());
    }

    long storageAway() {
        return storage.stream().filter(node -> !node.ready).count();
    }

    /** Storage nodes that take nothing new. */
    long notTaking() {
        return storage.stream().filter(node -> !node.takesPuts()).count();
    }

    long mastersAway() {
        return masters.stream().filter(master -> !master.ready).count();
    }

    String leader() {
        return leader.name;
    }

    /** What is decided for the upgrade, with the actions of all steps. */
    public RollPlan plan() {
        return look(status, steps).whole();
    }

    /** What comes of a look. */
    private record Look(RollPlan roll, TransitionPlan transitions) {
        RollPlan whole() {
            List<Action> actions = new ArrayList<>(roll.actions());
            actions.addAll(transitions.actions());
            return roll.told(transitions.words().upgrade()).with(actions);
        }
    }

    private Look look(Optional<RollStatus> known, List<StepStatus> knownSteps) {
        TransitionView view = transitions(known, knownSteps);
        StepJudge.Judged judged = StepJudge.look(view);
        RollPlan roll = Roll.plan(view(known, view, judged));
        return new Look(roll, Transitions.plan(view.towards(roll.goal()), judged));
    }

    RollView view() {
        TransitionView transitions = transitions(status, steps);
        return view(status, transitions, StepJudge.look(transitions));
    }

    private Members members() {
        Optional<PoolReport> leads =
                led && leader.ready ? Optional.of(leader.report(true, epoch, storage, clients)) : Optional.empty();
        return new Members(
                masters.stream()
                        .filter(master -> !refused.containsKey(master.id()))
                        .map(master -> master.member(true, Optional.empty(), now))
                        .toList(),
                storage.stream()
                        .filter(node -> !refused.containsKey(node.id()))
                        .map(node -> node.member(false, leads, now))
                        .toList(),
                masters.size(),
                masters.stream()
                        .map(RollMember::id)
                        .filter(refused::containsKey)
                        .collect(Collectors.toSet()),
                refused,
                masters.stream()
                        .filter(master -> master.ready)
                        .map(master -> master.report(master == leader, epoch, storage, clients))
                        .toList(),
                leads);
    }

    private TransitionView transitions(Optional<RollStatus> known, List<StepStatus> knownSteps) {
        return new TransitionView(
                members(),
                new Goals(
                        storage.stream().map(RollMember::id).collect(Collectors.toSet()),
                        Map.of(),
                        List.of(),
                        cordoned.stream()
                                .collect(Collectors.toMap(id -> id, id -> Cordon.of("k-" + id, "", true, false))),
                        Set.of(),
                        Deferred.NONE,
                        failover,
                        known.flatMap(roll -> Roll.goalOf(roll, options))),
                knownSteps,
                new TransitionView.Terms(
                        options,
                        new DrainSpec(DRAIN_TIMEOUT.toMinutes() + "m", LeftoverPolicy.WAIT, "8760h"),
                        mayLoseBytes ? DataLossPolicy.REPLACE : DataLossPolicy.WAIT,
                        Set.of()),
                operatorSince,
                operatorSince.isAfter(ledSince) ? operatorSince : ledSince,
                now);
    }

    private RollView view(Optional<RollStatus> known, TransitionView transitions, StepJudge.Judged judged) {
        return new RollView(
                known,
                pending,
                new RollView.Images(wanted, stable, Optional.empty(), unpullable),
                retry,
                everLed,
                transitions,
                judged,
                preflight,
                new RollView.Pulls(machines.names(), machines.pulls()));
    }

    /** Rounds in which all goes well. */
    public RollPool rounds(int count) {
        for (int i = 0; i < count; i++) {
            round();
        }
        return this;
    }

    /**
     * Rounds until one in which all take part and the operator neither does nor notes anything, which the next ones would repeat; at most
     * so many.
     */
    RollPool roundsUntilCalm(int most) {
        for (int i = 0; i < most; i++) {
            Stored before = stored();
            int doneBefore = done.size();
            round();
            if (before.equals(stored()) && done.size() == doneBefore && notTaking() + mastersAway() == 0) {
                return this;
            }
        }
        return this;
    }

    void round() {
        Look look = look(status, steps);
        act(look.whole());
        status = look.roll().next();
        pending = look.roll().pending();
        steps = look.transitions().steps();
        tick();
    }

    /** The operator dies after it acted, before it wrote the status. */
    void roundCutShort() {
        act(plan());
        tick();
    }

    /** What a status says of upgrade and steps. */
    record Stored(Optional<RollStatus> roll, List<StepStatus> steps) {}

    Stored stored() {
        return new Stored(status, steps);
    }

    /** The operator decides from a status that is older than the stored one: what it writes is refused. */
    void roundWithStaleStatus(Stored stale) {
        act(look(stale.roll(), stale.steps()).whole());
        tick();
    }

    private void act(RollPlan plan) {
        stable = plan.mastersImage();
        storageTemplate = plan.storageImage();
        preflight = plan.preflightImage()
                .map(image -> verdict.isEmpty()
                        ? new PreflightSeen(image, PreflightSeen.State.RUNNING, "", "")
                        : new PreflightSeen(image, PreflightSeen.State.ANSWERED, verdict, "because"));
        machines.follow(plan, now);
        for (Action action : plan.actions()) {
            switch (action) {
                case Action.SetImage setImage when refusesImages -> {}
                case Action.SetImage(String pod, String uid, String image) -> {
                    done.add(pod + " " + image);
                    pod(pod).ifPresent(member -> {
                        member.unreadAs(status).ifPresent(unread::add);
                        member.image = image;
                    });
                }
                case Action.DeletePod(String pod, String uid) -> {
                    done.add("delete " + pod);
                    pod(pod).ifPresent(member -> member.replace(uid, plan.storageImage()));
                }
                case Action.HandOver(String pod) -> {
                    done.add("hand over " + pod);
                    handOver(pod);
                }
                case Action.Finalise(int wire, int layout, boolean ignoreClients) -> {
                    done.add("finalise " + wire + " " + layout);
                    toRaise.forEach(node -> node.active = new PoolReport.Active(wire, layout));
                }
                case Action.Empty(String node, boolean clear) -> {
                    done.add("drain " + node(node).name);
                    node(node).drain(now, Duration.ofHours(24));
                }
                case Action.Cancel(String node) -> {
                    if (node(node).leaves()) {
                        done.add("take back " + node(node).name);
                    }
                    node(node).takePartAgain();
                }
            }
        }
    }

    /** What cannot be read any more, in words. */
    List<String> unread() {
        return unread;
    }

    /** Storage nodes, or masters, that are away, but not for their machines. */
    long awayForUs(boolean asMasters) {
        return (asMasters ? masters : storage)
                .stream()
                        .filter(node -> !node.ready && node.where == Member.Where.PLACED)
                        .count();
    }

    /** There is no machine for it any more. */
    RollPool withoutNode(String name) {
        node(name).findsNoNode(name.startsWith("m-") ? stable : storageTemplate);
        return this;
    }

    RollPool dies(String name) {
        node(name).dies();
        return this;
    }

    /** Why pods could not pull another image; null when they can. */
    RollPool unpullable(String why) {
        unpullable = Optional.ofNullable(why);
        return this;
    }

    /** None where it has been replaced by one of another name. */
    private Optional<RollMember> pod(String name) {
        return all().filter(member -> member.pod().equals(name)).findFirst();
    }

    private Stream<RollMember> all() {
        return Stream.concat(masters.stream(), storage.stream());
    }

    private void handOver(String from) {
        if (!leader.name.equals(from)) {
            return;
        }
        epoch += nobodyTakes ? 1 : 0;
        takeOver(!nobodyTakes);
    }

    /** Another master comes to lead, for a reason of its own. */
    RollPool otherLeader() {
        takeOver(true);
        return this;
    }

    private void takeOver(boolean happens) {
        masters.stream()
                .filter(master -> happens && master.ready && master != leader)
                .findFirst()
                .ifPresent(next -> {
                    leader = next;
                    ledSince = now;
                    epoch++;
                });
    }

    private void tick() {
        now = now.plusSeconds(2);
        Set<String> bad =
                Stream.concat(badImages.stream(), badForMasters.stream()).collect(Collectors.toSet());
        masters.forEach(master -> master.tick(now, bad));
        storage.forEach(node -> node.tick(now, badImages));
        takeOver(!leader.ready);
        everLed |= leader.ready;
    }
}
