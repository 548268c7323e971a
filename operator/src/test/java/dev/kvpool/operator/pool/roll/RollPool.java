// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.PendingVersions;
import dev.kvpool.api.v1alpha1.RollStatus;
import dev.kvpool.api.v1alpha1.UpgradeSpec;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.observation.PreflightSeen;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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
    private List<PoolReport.ClientVersion> clients = List.of();
    private List<RollMember> toRaise = storage;
    private List<String> emptiedFirst = List.of();
    final RollMachines machines = new RollMachines();
    private Optional<String> unpullable = Optional.empty();

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

    /** What a preflight Job answers, once it has run for a round. */
    public RollPool preflight(String answer) {
        verdict = answer;
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

    /** Storage nodes whose nodes of the cluster were cordoned, and that wait for their turn. */
    RollPool emptiedFirst(String... ids) {
        emptiedFirst = List.of(ids);
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
        return all().filter(member -> member.name.equals(name)).findFirst().orElseThrow();
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

    /** Of the storage nodes only these do what a leader tells all of them to go over to. */
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

    /** All masters have gone over. */
    public RollPool mastersRun(String image) {
        masters.forEach(master -> master.runNow(image));
        status = status.map(roll -> roll.with(List.of()));
        return this;
    }

    Instant now() {
        return now;
    }

    Optional<RollStatus> status() {
        return status;
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

    public RollPlan plan() {
        return Roll.plan(view());
    }

    RollView view() {
        return view(status);
    }

    private RollView view(Optional<RollStatus> known) {
        return new RollView(
                known,
                pending,
                wanted,
                stable,
                Optional.empty(),
                options,
                DRAIN_TIMEOUT,
                mayLoseBytes,
                everLed,
                masters.stream().map(RollMember::instance).toList(),
                storage.stream().map(RollMember::instance).toList(),
                masters.stream()
                        .filter(master -> master.ready)
                        .map(master -> master.name)
                        .collect(Collectors.toSet()),
                masters.stream()
                        .filter(master -> master.ready)
                        .map(master -> master.report(master == leader, epoch, storage, clients))
                        .toList(),
                led && leader.ready ? Optional.of(leader.report(true, epoch, storage, clients)) : Optional.empty(),
                emptiedFirst,
                unpullable,
                preflight,
                machines.names(),
                machines.pulls(),
                operatorSince,
                now);
    }

    /** Rounds in which all goes well. */
    public RollPool rounds(int count) {
        for (int i = 0; i < count; i++) {
            round();
        }
        return this;
    }

    void round() {
        RollPlan plan = plan();
        act(plan);
        write(plan);
        tick();
    }

    /** The operator dies after it acted, before it wrote the status. */
    void roundCutShort() {
        act(plan());
        tick();
    }

    /** The operator decides from a status that is older than the stored one: what it writes is refused. */
    void roundWithStaleStatus(Optional<RollStatus> stale) {
        act(Roll.plan(view(stale)));
        tick();
    }

    private void write(RollPlan plan) {
        status = plan.next();
        pending = plan.pending();
    }

    private void act(RollPlan plan) {
        stable = plan.mastersImage();
        storageTemplate = plan.storageImage();
        preflight = plan.preflightImage()
                .map(image -> verdict.isEmpty()
                        ? new PreflightSeen(image, PreflightSeen.State.RUNNING, "", "")
                        : new PreflightSeen(image, PreflightSeen.State.ANSWERED, verdict, "because"));
        machines.follow(plan, now);
        for (RollAction action : plan.actions()) {
            switch (action) {
                case RollAction.SetImage(String pod, String uid, String image) -> {
                    done.add(pod + " " + image);
                    pod(pod).ifPresent(member -> {
                        member.unreadAs(status).ifPresent(unread::add);
                        member.image = image;
                    });
                }
                case RollAction.DeletePod(String pod, String uid) -> {
                    done.add("delete " + pod);
                    pod(pod).ifPresent(member -> member.replace(uid, plan.storageImage()));
                }
                case RollAction.HandOver(String pod) -> {
                    done.add("hand over " + pod);
                    handOver(pod);
                }
                case RollAction.Finalise(int wire, int layout, boolean ignoreClients) -> {
                    done.add("finalise " + wire + " " + layout);
                    toRaise.forEach(node -> node.active = new PoolReport.Active(wire, layout));
                }
                case RollAction.Clear(String node) -> {
                    done.add("drain " + node);
                    node(node).drain(now, Duration.ofHours(24));
                }
                case RollAction.Cancel(String node) -> {
                    if (node(node).leaves()) {
                        done.add("take back " + node);
                    }
                    node(node).takePartAgain();
                }
            }
        }
    }

    /** What nobody can read any more, in words. */
    List<String> unread() {
        return unread;
    }

    /** Storage nodes, or masters, that are away, but not for their machines. */
    long awayForUs(boolean asMasters) {
        return (asMasters ? masters : storage)
                .stream()
                        .filter(node -> !node.ready && node.where == Instance.Where.PLACED)
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

    private void takeOver(boolean happens) {
        masters.stream()
                .filter(master -> happens && master.ready && master != leader)
                .findFirst()
                .ifPresent(next -> {
                    leader = next;
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
