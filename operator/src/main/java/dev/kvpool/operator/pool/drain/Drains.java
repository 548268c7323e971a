// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.api.v1alpha1.LeftoverPolicy;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.master.PoolReport;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Empties storage nodes before they go, before they are made anew, and before their pods may be evicted from cordoned nodes of the
 * cluster. A node may go when the leader of this moment says that nothing is left there: what an earlier leader said is worth
 * nothing, and one that does not know that the node is to go is simply told again.
 *
 * <p>Those that the spec does not want are emptied all at once, so that nothing is moved to one that goes next. Those that come
 * back leave as many others as are emptied, because a whole cluster can be cordoned. Those that are made anew do so one after the
 * other, each when all others serve.
 */
public final class Drains {
    /** What a leader says may be as old as its last tick; for so long a cancelled drain is cancelled again. */
    static final Duration SETTLED = Duration.ofSeconds(5);

    private final DrainView view;
    private final Obstacles obstacles;
    private final List<DrainStatus> next = new ArrayList<>();
    private final List<DrainAction> actions = new ArrayList<>();
    private final Set<String> released = new LinkedHashSet<>();
    private final Set<String> evictable = new LinkedHashSet<>();
    private final List<String> waiting = new ArrayList<>();
    private String whatTheyWaitFor = "";

    private Drains(DrainView view) {
        this.view = view;
        this.obstacles = new Obstacles(view);
    }

    public static DrainPlan plan(DrainView view) {
        Drains drains = new Drains(view);
        view.status().forEach(drains::look);
        view.departures().forEach(drains::depart);
        return new DrainPlan(
                drains.next,
                drains.actions,
                drains.released,
                drains.evictable,
                DrainWords.finding(drains.next, drains.waiting, drains.whatTheyWaitFor));
    }

    /** The pool as it is, with nothing decided: for a pool that must not be touched. */
    public static DrainPlan rest(DrainView view) {
        List<String> waiting = view.departures().stream()
                .filter(departure -> departure.wanted() && departure.holdsBytes())
                .map(Departure::node)
                .filter(node ->
                        view.status().stream().noneMatch(drain -> drain.node().equals(node)))
                .toList();
        return new DrainPlan(
                view.status(),
                List.of(),
                Set.of(),
                Set.of(),
                DrainWords.finding(view.status(), waiting, "nothing is changed"));
    }

    private void look(DrainStatus drain) {
        Optional<Departure> departure = view.departure(drain.node());
        if (!view.specCounts()
                && drain.cordonedNode() == null
                && departure.flatMap(Departure::cordon).isEmpty()) {
            next.add(drain);
        } else if (departure.isPresent()) {
            next.add(goOn(drain, departure.get()));
        } else if (view.expected().contains(drain.node())) {
            takenBack(drain).ifPresent(next::add);
        } else if (view.leader().isEmpty()) {
            next.add(drain);
        } else {
            // It is gone. Leaders remember drains for each other, and a later node of its name shall not be emptied.
            actions.add(new DrainAction.Cancel(drain.node()));
        }
    }

    private void depart(Departure departure) {
        if (!view.specCounts() && departure.cordon().isEmpty()) {
            return;
        }
        if (goesAsItIs(departure)) {
            release(departure);
        } else if (next.stream().noneMatch(drain -> drain.node().equals(departure.node()))) {
            begin(departure, noRoom(departure));
        }
    }

    private void begin(Departure departure, String why) {
        if (why.isEmpty()) {
            next.add(begun(departure));
        } else if (departure.isWaitedFor() && next.size() < DrainStatus.DRAINS_MAX) {
            // Its time counts from now.
            next.add(waits(begun(departure), why));
        } else {
            waiting.add(departure.node());
            whatTheyWaitFor = why;
        }
    }

    private boolean goesAsItIs(Departure departure) {
        return !departure.holdsBytes() || (view.mayLoseBytes() && !departure.wanted());
    }

    /** Why a further node is not begun to be emptied, as a part of a sentence; empty when it can be. */
    private String noRoom(Departure departure) {
        if (obstacles.any().isEmpty() && next.size() >= DrainStatus.DRAINS_MAX) {
            return "%d storage nodes are emptied at a time".formatted(DrainStatus.DRAINS_MAX);
        }
        return departure.comesBack() ? obstacle(departure) : obstacles.any();
    }

    private DrainStatus begun(Departure departure) {
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
                departure.comesBack() ? true : null);
        return departure.isKept() || !why.isEmpty() ? waits(begun, why) : begun;
    }

    private String obstacle(Departure departure) {
        if (!departure.wanted()) {
            return obstacles.any();
        }
        if (departure.comesBack()) {
            return obstacles.toMakeAnew(departure.node(), next);
        }
        return departure.isKept()
                ? obstacles.toLetGo(departure.node(), next)
                : obstacles.toEmpty(departure.node(), next);
    }

    private DrainStatus goOn(DrainStatus drain, Departure departure) {
        if (goesAsItIs(departure)) {
            return drain;
        }
        // Its time counts from the moment in which it was seen why it is to be emptied.
        if (isOver(drain)
                || !Objects.equals(drain.cordonedNode(), departure.host())
                || comesBack(drain) != departure.comesBack()) {
            return begun(departure);
        }
        return departure.isKept() ? letGo(drain, departure) : empty(drain, departure);
    }

    private DrainStatus empty(DrainStatus drain, Departure departure) {
        Optional<PoolReport.Node> node = view.node(drain.node());
        boolean empty = node.filter(Drains::isEmpty).isPresent();
        if (drain.phase() == DrainPhase.EMPTY && !empty && departure.wanted()) {
            // Nobody has evicted it so far. What a new leader finds is not the rest of what was there.
            return view.leader().isEmpty() ? drain : begun(departure);
        }
        DrainPhase phase = phase(drain, departure, empty);
        if ((phase == DrainPhase.EMPTY || phase == DrainPhase.DROPPED) && drain.phase() == phase) {
            release(departure);
        }
        if (!empty && isBegun(drain, departure)) {
            // One that the leader calls drained though something is left had its time there: it is begun again.
            node.filter(it -> it.ready() || it.drained())
                    .ifPresent(it -> actions.add(new DrainAction.Empty(drain.node())));
        }
        return phase == DrainPhase.WAITING ? waits(drain, obstacle(departure)) : in(drain, phase, node);
    }

    /** It goes once that is written down, so that nobody wonders later why it has gone. */
    private DrainPhase phase(DrainStatus drain, Departure departure, boolean empty) {
        if (empty) {
            return DrainPhase.EMPTY;
        }
        boolean overdue = isOver(drain, view.options().timeout());
        boolean dropped = departure.cordon().filter(at -> departure.wanted()).isEmpty()
                && overdue
                && view.options().onLeftovers() == LeftoverPolicy.DROP;
        if (dropped || isWaitedForTooLong(drain, departure)) {
            return DrainPhase.DROPPED;
        }
        if (drain.phase() == DrainPhase.WAITING && !obstacle(departure).isEmpty()) {
            return DrainPhase.WAITING;
        }
        return overdue && drain.phase() != DrainPhase.WAITING ? DrainPhase.LEFTOVERS : DrainPhase.EMPTYING;
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
    private DrainStatus letGo(DrainStatus drain, Departure departure) {
        String why = isWaitedForTooLong(drain, departure) ? "" : obstacle(departure);
        if (!why.isEmpty()) {
            return waits(drain, why);
        }
        if (drain.phase() == DrainPhase.KEPT) {
            release(departure);
        }
        return in(drain, DrainPhase.KEPT, Optional.empty());
    }

    private void release(Departure departure) {
        if (!departure.wanted() || departure.comesBack()) {
            released.add(departure.node());
        }
        if (departure.cordon().isPresent()) {
            evictable.add(departure.node());
        }
    }

    /** The spec wants it where it is now. The leader may not have begun yet what it was told, so it is told more than once. */
    private Optional<DrainStatus> takenBack(DrainStatus drain) {
        if (!isOver(drain)) {
            return Optional.of(new DrainStatus(
                    drain.node(),
                    isBack(drain) ? DrainPhase.BACK : DrainPhase.CANCELLED,
                    view.now().toString(),
                    null,
                    null,
                    null,
                    drain.cordonedNode(),
                    drain.comesBack()));
        }
        if (view.leader().isEmpty()) {
            return Optional.of(drain);
        }
        boolean leaves = view.node(drain.node())
                .filter(node -> node.draining() || node.drained())
                .isPresent();
        if (!leaves && since(drain).compareTo(SETTLED) >= 0) {
            return Optional.empty();
        }
        actions.add(new DrainAction.Cancel(drain.node()));
        return Optional.of(drain);
    }

    /** Its pod is another one; otherwise the reason why it was emptied has gone. */
    private boolean isBack(DrainStatus drain) {
        return comesBack(drain)
                ? drain.phase() == DrainPhase.EMPTY || drain.phase() == DrainPhase.DROPPED
                : drain.cordonedNode() != null
                        && !drain.cordonedNode().equals(view.hosts().get(drain.node()));
    }

    /** Whether it is made anew with other settings once it is empty. */
    public static boolean comesBack(DrainStatus drain) {
        return Boolean.TRUE.equals(drain.comesBack());
    }

    private static DrainStatus waits(DrainStatus drain, String why) {
        return new DrainStatus(
                drain.node(),
                DrainPhase.WAITING,
                drain.since(),
                null,
                null,
                why.isEmpty() ? null : why,
                drain.cordonedNode(),
                drain.comesBack());
    }

    private DrainStatus in(DrainStatus drain, DrainPhase phase, Optional<PoolReport.Node> node) {
        boolean done = phase == DrainPhase.EMPTY || phase == DrainPhase.KEPT;
        return new DrainStatus(
                drain.node(),
                phase,
                drain.since(),
                node.map(PoolReport.Node::objectsLeft).map(DrainWords::rounded).orElse(null),
                node.flatMap(DrainWords::bytes).orElse(null),
                done ? null : DrainWords.reason(view.leader().isPresent(), node).orElse(null),
                drain.cordonedNode(),
                drain.comesBack());
    }

    private static boolean isOver(DrainStatus drain) {
        return drain.phase() == DrainPhase.CANCELLED || drain.phase() == DrainPhase.BACK;
    }

    private boolean isOver(DrainStatus drain, String time) {
        return since(drain).compareTo(ApiDuration.of(time)) >= 0;
    }

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
