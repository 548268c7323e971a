// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.storage.RollMode;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.observation.ObservedPod;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A pod of a {@link RollPool}: its kubelet needs a round to notice another image, and one to start it. */
final class RollMember {
    private static final String READY = "ready";
    private static final String DRAINING = "draining";
    private static final String DRAINED = "drained";

    final String name;
    String image;
    String running;
    boolean ready = true;
    boolean started = true;
    long objects = 100;

    /** What it will have lost when its process comes back; null when the leader cannot tell. */
    Long losesAtReturn = 0L;

    long droppedAtReturn;

    /** Objects that no other node has room for. */
    long stays;

    /** Of a master: storage nodes whose directories it has not read. */
    final Set<String> knowsNot = new HashSet<>();

    /** How long it takes to be emptied. */
    Duration takes = Duration.ZERO;

    /** What it keeps as its pool's versions. */
    PoolReport.Active active = new PoolReport.Active(1, 1);

    private String state = READY;
    Long objectsLeft;
    private Instant emptyAt = Instant.MAX;
    private Instant emptiedUntil = Instant.MAX;
    private Long lostAtReturn;
    private long restored;
    private long dropped;
    private int uid = 1;
    private int restarts;
    private int incarnation = 1;
    int roundsToNotice = 1;
    boolean neverReady;

    /** The leader has met none of its processes. */
    boolean unmet;

    private boolean stopping;
    private boolean leaving;
    private String template;

    /** How many leaders forget that nothing is to be left, as another one goes on with it. */
    int leadersChange;

    /** What admission writes for every image; null for what was asked for. */
    String admitted;

    /** The id that its kubelet names whatever the image is; null for one of their own. */
    String everyImageHas;

    Member.Where where = Member.Where.PLACED;

    /** Whether what it holds is there again when its pod is recreated. */
    boolean outlives;

    /** Its pod gets another name each time it is recreated. */
    boolean ofDaemonSet;

    RollMember(String name, String image) {
        this.name = name;
        this.image = image;
        this.running = image;
    }

    void runNow(String other) {
        image = other;
        running = other;
        ready = true;
        stopping = false;
    }

    /** Is told that it is to be emptied, and is, or not, when that takes no time. */
    void drain(Instant now, Duration timeout) {
        if (state.equals(DRAINING)) {
            return;
        }
        state = DRAINING;
        objectsLeft = objects;
        emptyAt = now.plus(takes);
        emptiedUntil = now.plus(timeout);
        empty(now);
    }

    private void empty(Instant now) {
        boolean empty = !isGone() && !now.isBefore(emptyAt) && stays == 0;
        if (!state.equals(DRAINING) || (!empty && now.isBefore(emptiedUntil) && !takes.isZero())) {
            return;
        }
        state = DRAINED;
        objectsLeft = isGone() || now.isBefore(emptyAt) ? objects : stays;
        objects = leadersChange > 0 ? objects : objectsLeft;
        leadersChange--;
    }

    void takePartAgain() {
        state = READY;
        objectsLeft = null;
    }

    /** It runs, and something new may be put there. */
    boolean takesPuts() {
        return ready && state.equals(READY);
    }

    boolean leaves() {
        return !state.equals(READY);
    }

    /** The pod is deleted and recreated, empty. */
    void replace(String known, String other) {
        if (!known.equals(uidText())) {
            return;
        }
        if (isGone()) {
            // Kubernetes waits for the word of its kubelet.
            leaving = true;
            template = other;
            return;
        }
        leaving = false;
        uid++;
        restarts = 0;
        objects = 0;
        image = other;
        running = other;
        comeBack();
    }

    /** The machine that it is on. */
    void dies() {
        where = Member.Where.ON_LOST_NODE;
        ready = false;
    }

    /** The network to its machine is there again, and nothing else had happened. */
    void isReachedAgain() {
        where = Member.Where.PLACED;
        if (leaving) {
            replace(uidText(), template);
        } else if (!started) {
            running = image;
            comeBack();
        }
    }

    /** Its machine has restarted: what was in memory is lost. */
    void reboots() {
        where = Member.Where.PLACED;
        running = image;
        stopping = false;
        restarts++;
        long held = objects;
        comeBack();
        if (!outlives) {
            objects = 0;
            restored = 0;
            lostAtReturn = held;
        }
        isReachedAgain();
    }

    /** Its pod was deleted, and there is no node for another one. */
    void findsNoNode(String fromTemplate) {
        where = Member.Where.WITHOUT_NODE;
        uid++;
        restarts = 0;
        leaving = false;
        started = false;
        stopping = false;
        ready = false;
        objects = outlives ? objects : 0;
        image = fromTemplate;
    }

    private boolean isGone() {
        return where != Member.Where.PLACED;
    }

    void tick(Instant now, Set<String> badImages) {
        empty(now);
        if (isGone()) {
            ready = false;
            return;
        }
        if (stopping) {
            stopping = false;
            running = image;
            restarts++;
            comeBack();
        } else if (admitted == null && !image.equals(running)) {
            if (roundsToNotice > 0) {
                roundsToNotice--;
            } else {
                roundsToNotice = 1;
                stopping = true;
            }
        }
        ready = started && !stopping && !neverReady && !badImages.contains(running);
    }

    private void comeBack() {
        started = true;
        incarnation++;
        if (state.equals(DRAINED)) {
            takePartAgain();
        }
        lostAtReturn = losesAtReturn;
        objects -= losesAtReturn == null ? 0 : losesAtReturn;
        restored = objects;
        dropped = droppedAtReturn;
    }

    /** Of a set with a storage node on each Kubernetes node it is named by that. */
    String id() {
        return ofDaemonSet ? "s." + name.substring(2) : name;
    }

    String pod() {
        return ofDaemonSet ? uidText() : name;
    }

    private String uidText() {
        return name + "-" + uid;
    }

    Member member(boolean master, Optional<PoolReport> leader, Instant now) {
        ObservedPod observed = PoolSketch.seen(pod(), uidText(), master ? "master" : "storage", ofDaemonSet ? "s" : "")
                .with("started", started)
                .with("ready", ready && !leaving)
                .with("goneBy", Optional.of(now).filter(any -> leaving))
                .with("node", ofDaemonSet ? name.substring(2) : "k-" + name)
                .with("perNode", ofDaemonSet)
                .with("trouble", trouble())
                .with("image", image)
                .with("specImage", admitted == null ? image : admitted)
                .with("restarts", restarts)
                .with("running", started ? imageId() : "")
                .build();
        return new Member(
                observed,
                master,
                where,
                outlives,
                leader.stream()
                        .flatMap(report -> report.nodes().stream())
                        .filter(node -> node.id().equals(id()))
                        .findFirst());
    }

    /** Its container, which is restarted before its kubelet knows of another image. */
    void crashes() {
        restarts++;
        comeBack();
    }

    private String imageId() {
        return everyImageHas == null ? running : everyImageHas;
    }

    private String trouble() {
        if (where == Member.Where.WITHOUT_NODE) {
            return "cannot be scheduled: no room";
        }
        return ready ? "" : "crashes";
    }

    /** What its running build understands: the second image knows more than the first. */
    PoolReport.Version build() {
        PoolReport.Range known = RollPool.NEW.equals(running) ? new PoolReport.Range(1, 2) : new PoolReport.Range(1, 1);
        return new PoolReport.Version(running, known, known);
    }

    /** That it is given another image with what that may be unable to read; empty when it is not. */
    Optional<String> unreadAs(Optional<RollStatus> upgrade) {
        boolean drained = upgrade.filter(roll -> roll.mode() == RollMode.DRAINED && roll.phase() != RollPhase.PREFLIGHT)
                .isPresent();
        return drained && name.startsWith("s-") && objects > 0
                ? Optional.of(name + " was restarted with " + objects + " objects")
                : Optional.empty();
    }

    /** What a master says. */
    PoolReport report(boolean leads, long epoch, List<RollMember> storage, List<PoolReport.ClientVersion> clients) {
        List<PoolReport.Node> nodes = storage.stream()
                .filter(node -> !knowsNot.contains(node.name))
                .map(RollMember::asNode)
                .toList();
        return (leads ? Reports.leader(name, epoch, nodes) : Reports.standby(name, epoch, nodes))
                .with("version", build())
                .with(
                        "active",
                        storage.stream()
                                .map(node -> node.active)
                                .reduce((one, other) -> one.wire() > other.wire() ? one : other)
                                .orElseThrow())
                .with("clientVersions", leads ? clients : List.of())
                .build();
    }

    PoolReport.Node asNode() {
        return Reports.node(id(), ready ? state : "away")
                .with("objects", objects)
                .with("product", running)
                .with("incarnation", unmet ? "" : String.valueOf(incarnation))
                .with("committed", new PoolReport.Objects(objects, "h" + objects))
                .with("restored", new PoolReport.Restored(restored, "h" + restored, dropped))
                .with("lostAtReturn", lostAtReturn)
                .with("objectsLeft", objectsLeft)
                .with("version", ready ? build() : null)
                .with("active", active)
                .build();
    }
}
