// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.operator.master.PoolReport;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
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
    private Long objectsLeft;
    private Instant emptyAt = Instant.MAX;
    private Instant emptiedUntil = Instant.MAX;
    private Long lostAtReturn;
    private long restored;
    private long dropped;
    private int uid = 1;
    private int restarts;
    private int incarnation = 1;
    private int roundsToNotice = 1;
    private boolean stopping;

    /** How many leaders forget that nothing is to be left, as another one goes on with it. */
    int leadersChange;

    /** Its pod gets another name each time it is made anew. */
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
        boolean empty = !now.isBefore(emptyAt) && stays == 0;
        if (!state.equals(DRAINING) || (!empty && now.isBefore(emptiedUntil) && !takes.isZero())) {
            return;
        }
        state = DRAINED;
        objectsLeft = now.isBefore(emptyAt) ? objects : stays;
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

    /** The pod is deleted and made anew, empty. */
    void replace(String known, String other) {
        if (!known.equals(uidText())) {
            return;
        }
        uid++;
        restarts = 0;
        objects = 0;
        image = other;
        running = other;
        comeBack();
    }

    void tick(Instant now, Set<String> badImages) {
        empty(now);
        if (stopping) {
            stopping = false;
            running = image;
            restarts++;
            comeBack();
        } else if (!image.equals(running)) {
            if (roundsToNotice > 0) {
                roundsToNotice--;
            } else {
                roundsToNotice = 1;
                stopping = true;
            }
        }
        ready = started && !stopping && !badImages.contains(running);
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

    String pod() {
        return ofDaemonSet ? uidText() : name;
    }

    private String uidText() {
        return name + "-" + uid;
    }

    Instance instance() {
        return new Instance(
                pod(), uidText(), name, image, restarts, started, ready, ready, false, ready ? "" : "crashes");
    }

    /** What its running build understands: the second image knows more than the first. */
    PoolReport.Version build() {
        PoolReport.Range known = RollPool.NEW.equals(running) ? new PoolReport.Range(1, 2) : new PoolReport.Range(1, 1);
        return new PoolReport.Version(running, known, known);
    }

    PoolReport.Node asNode() {
        return new PoolReport.Node(
                name,
                ready ? state : "away",
                "",
                false,
                0,
                objects,
                running,
                List.of(),
                String.valueOf(incarnation),
                new PoolReport.Objects(objects, "h" + objects),
                new PoolReport.Restored(restored, "h" + restored, dropped),
                lostAtReturn,
                objectsLeft,
                List.of(),
                ready ? build() : null,
                active,
                null);
    }
}
