// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainProgress;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.api.v1alpha1.LeftoverPolicy;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.master.PoolReport;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** How the drain of one storage node begins, goes on, and ends with the node gone, made anew or taken back. */
final class DrainLife {
    /** What a leader says may be as old as its last tick; for so long a cancelled drain is cancelled again. */
    static final Duration SETTLED = Duration.ofSeconds(5);

    private final DrainView view;
    private final Obstacles obstacles;
    private final List<DrainStatus> decided;

    /**
     * @param decided what was decided of other storage nodes so far; it grows
     */
    DrainLife(DrainView view, Obstacles obstacles, List<DrainStatus> decided) {
        this.view = view;
        this.obstacles = obstacles;
        this.decided = Collections.unmodifiableList(decided);
    }

    DrainStatus begun(Departure departure) {
        // One that the spec does not want is only begun where nothing is in the way, or was begun before.
        String why = departure.wanted() ? obstacle(departure) : "";
        DrainStatus begun = new DrainStatus(
                departure.node(),
                DrainPhase.EMPTYING,
                view.now().toString(),
                null,
                null,
                null,
                departure.host(),
                departure.comesBack() ? true : null,
                null);
        return departure.isKept() || !why.isEmpty() ? waits(begun, why) : begun;
    }

    /** Why a node is not begun to be emptied, as a part of a sentence; empty when it can be. */
    String obstacle(Departure departure) {
        if (!departure.wanted()) {
            return obstacles.any();
        }
        if (departure.comesBack()) {
            return obstacles.toMakeAnew(departure.node(), decided);
        }
        return departure.isKept()
                ? obstacles.toLetGo(departure.node(), decided)
                : obstacles.toEmpty(departure.node(), decided);
    }

    /** That of a node that shall still not stay, and may not go as it is. */
    DrainStep goOn(DrainStatus drain, Departure departure) {
        // Its time counts from the moment in which it was seen why it is to be emptied.
        if (isOver(drain)
                || !Objects.equals(drain.cordonedNode(), departure.host())
                || Drains.comesBack(drain) != departure.comesBack()) {
            return DrainStep.to(begun(departure));
        }
        return departure.isKept() ? letGo(drain, departure) : empty(drain, departure);
    }

    private DrainStep empty(DrainStatus drain, Departure departure) {
        Optional<PoolReport.Node> node = view.node(drain.node());
        boolean empty = node.filter(DrainLife::isEmpty).isPresent();
        if (drain.phase() == DrainPhase.EMPTY && !empty && departure.wanted()) {
            // Nobody has evicted it so far. What a new leader finds is not the rest of what was there.
            return DrainStep.to(view.leader().isEmpty() ? drain : begun(departure));
        }
        DrainPhase phase = phase(drain, departure, node);
        boolean mayGo = (phase == DrainPhase.EMPTY || phase == DrainPhase.DROPPED) && drain.phase() == phase;
        // One that the leader calls drained though something is left had its time there: it is begun again.
        boolean tell = !empty
                && isBegun(drain, departure)
                && node.filter(it -> it.ready() || it.drained()).isPresent();
        return new DrainStep(
                Optional.of(phase == DrainPhase.WAITING ? waits(drain, obstacle(departure)) : in(drain, phase, node)),
                tell ? Optional.of(new DrainAction.Empty(drain.node())) : Optional.empty(),
                mayGo);
    }

    /** It goes once that is written down, so that nobody wonders later why it has gone. */
    private DrainPhase phase(DrainStatus drain, Departure departure, Optional<PoolReport.Node> node) {
        if (node.filter(DrainLife::isEmpty).isPresent()) {
            return DrainPhase.EMPTY;
        }
        // Whether anything is moved only a leader can tell, and one that still puts objects there has not begun.
        boolean overdue = view.leader().isPresent()
                && drain.phase() != DrainPhase.WAITING
                && node.filter(PoolReport.Node::ready).isEmpty()
                && isOver(drain, view.options().timeout());
        boolean dropped = departure.cordon().filter(at -> departure.wanted()).isEmpty()
                && overdue
                && view.options().onLeftovers() == LeftoverPolicy.DROP;
        if (dropped || isWaitedForTooLong(drain, departure)) {
            return DrainPhase.DROPPED;
        }
        if (drain.phase() == DrainPhase.WAITING && !obstacle(departure).isEmpty()) {
            return DrainPhase.WAITING;
        }
        return overdue ? DrainPhase.LEFTOVERS : DrainPhase.EMPTYING;
    }

    /** The leader is told only what is written down; what may go as it is is emptied as far as it can be until it does. */
    private boolean isBegun(DrainStatus drain, Departure departure) {
        return switch (drain.phase()) {
            case WAITING, KEPT -> false;
            case DROPPED ->
                departure.wanted()
                        && !departure.comesBack()
                        && obstacle(departure).isEmpty();
            default -> true;
        };
    }

    /** What it holds comes back with its pod, which may be evicted while not too many others are away. */
    private DrainStep letGo(DrainStatus drain, Departure departure) {
        String why = isWaitedForTooLong(drain, departure) ? "" : obstacle(departure);
        if (!why.isEmpty()) {
            return DrainStep.to(waits(drain, why));
        }
        return new DrainStep(
                Optional.of(in(drain, DrainPhase.KEPT, Optional.empty())),
                Optional.empty(),
                drain.phase() == DrainPhase.KEPT);
    }

    /** The spec wants it where it is now. The leader may not have begun yet what it was told, so it is told more than once. */
    DrainStep takenBack(DrainStatus drain) {
        if (!isOver(drain)) {
            return DrainStep.to(new DrainStatus(
                    drain.node(),
                    isBack(drain) ? DrainPhase.BACK : DrainPhase.CANCELLED,
                    view.now().toString(),
                    null,
                    null,
                    null,
                    drain.cordonedNode(),
                    drain.comesBack(),
                    null));
        }
        if (view.leader().isEmpty()) {
            return DrainStep.to(drain);
        }
        boolean leaves = view.node(drain.node())
                .filter(node -> node.draining() || node.drained())
                .isPresent();
        return !leaves && since(drain).compareTo(SETTLED) >= 0
                ? new DrainStep(Optional.empty(), Optional.empty(), false)
                : new DrainStep(Optional.of(drain), Optional.of(new DrainAction.Cancel(drain.node())), false);
    }

    /** Its pod is another one; otherwise the reason why it was emptied has gone. */
    private boolean isBack(DrainStatus drain) {
        return Drains.comesBack(drain)
                ? drain.phase() == DrainPhase.EMPTY || drain.phase() == DrainPhase.DROPPED
                : drain.cordonedNode() != null
                        && !drain.cordonedNode().equals(view.hosts().get(drain.node()));
    }

    static DrainStatus waits(DrainStatus drain, String why) {
        return new DrainStatus(
                drain.node(),
                DrainPhase.WAITING,
                drain.since(),
                null,
                null,
                why.isEmpty() ? null : why,
                drain.cordonedNode(),
                drain.comesBack(),
                drain.progress());
    }

    private DrainStatus in(DrainStatus drain, DrainPhase phase, Optional<PoolReport.Node> node) {
        boolean done = phase == DrainPhase.EMPTY || phase == DrainPhase.KEPT;
        // The time of emptying begins when the wait for it is over.
        boolean begins = drain.phase() == DrainPhase.WAITING && phase == DrainPhase.EMPTYING;
        return new DrainStatus(
                drain.node(),
                phase,
                drain.since(),
                node.map(PoolReport.Node::objectsLeft).map(DrainWords::rounded).orElse(null),
                node.flatMap(DrainWords::bytes).orElse(null),
                done ? null : DrainWords.reason(view.leader().isPresent(), node).orElse(null),
                drain.cordonedNode(),
                drain.comesBack(),
                begins ? new DrainProgress(view.now().toString(), null) : drain.progress());
    }

    private static boolean isOver(DrainStatus drain) {
        return drain.phase() == DrainPhase.CANCELLED || drain.phase() == DrainPhase.BACK;
    }

    private boolean isOver(DrainStatus drain, String time) {
        return Progress.idle(drain, view).compareTo(ApiDuration.of(time)) >= 0;
    }

    /** Also while no master leads: maintenance of a machine does not wait for one. */
    private boolean isWaitedForTooLong(DrainStatus drain, Departure departure) {
        return departure.isWaitedFor() && isOver(drain, view.options().nodeTimeout());
    }

    private Duration since(DrainStatus drain) {
        return Duration.between(Instant.parse(drain.since()), view.now());
    }

    private static boolean isEmpty(PoolReport.Node node) {
        return node.drained() && node.objectsLeft() != null && node.objectsLeft() == 0;
    }
}
