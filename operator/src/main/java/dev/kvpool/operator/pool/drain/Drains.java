// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import dev.kvpool.api.v1alpha1.DrainStatus;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
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
    private final DrainView view;
    private final Obstacles obstacles;
    private final DrainLife life;
    private final List<DrainStatus> next = new ArrayList<>();
    private final List<DrainAction> actions = new ArrayList<>();
    private final Set<String> released = new LinkedHashSet<>();
    private final Set<String> evictable = new LinkedHashSet<>();
    private final List<String> waiting = new ArrayList<>();
    private String whatTheyWaitFor = "";

    private Drains(DrainView view) {
        this.view = view;
        this.obstacles = new Obstacles(view);
        this.life = new DrainLife(view, obstacles, next);
    }

    public static DrainPlan plan(DrainView view) {
        Drains drains = new Drains(view);
        Progress.noted(view).forEach(drains::look);
        view.departures().forEach(drains::depart);
        return new DrainPlan(
                drains.next,
                drains.actions,
                drains.released,
                drains.evictable,
                new DrainWords(view).finding(drains.next, drains.waiting, drains.whatTheyWaitFor));
    }

    /** The pool as it is, with nothing decided: for a pool that must not be touched. */
    public static DrainPlan rest(DrainView view) {
        List<DrainStatus> resting = Progress.resting(view);
        List<String> waiting = view.departures().stream()
                .filter(departure -> departure.wanted() && departure.holdsBytes())
                .map(Departure::node)
                .filter(node ->
                        view.status().stream().noneMatch(drain -> drain.node().equals(node)))
                .toList();
        return new DrainPlan(
                resting,
                List.of(),
                Set.of(),
                Set.of(),
                new DrainWords(view).finding(resting, waiting, "nothing is changed"));
    }

    private void look(DrainStatus drain) {
        Optional<Departure> departure = view.departure(drain.node());
        if (!view.specCounts()
                && drain.cordonedNode() == null
                && departure.flatMap(Departure::cordon).isEmpty()) {
            next.add(drain);
        } else if (departure.isPresent()) {
            goOn(drain, departure.get());
        } else if (view.expected().contains(drain.node())) {
            take(life.takenBack(drain));
        } else if (view.leader().isEmpty()) {
            next.add(drain);
        } else {
            // It is gone. Leaders remember drains for each other, and a later node of its name shall not be emptied.
            actions.add(new DrainAction.Cancel(drain.node()));
        }
    }

    private void goOn(DrainStatus drain, Departure departure) {
        if (goesAsItIs(departure)) {
            next.add(drain);
            return;
        }
        DrainStep step = life.goOn(drain, departure);
        take(step);
        if (step.mayGo()) {
            release(departure);
        }
    }

    private void take(DrainStep step) {
        step.next().ifPresent(next::add);
        step.action().ifPresent(actions::add);
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
            next.add(life.begun(departure));
        } else if (departure.isWaitedFor() && next.size() < DrainStatus.DRAINS_MAX) {
            // Its time counts from now.
            next.add(DrainLife.waits(life.begun(departure), why));
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
        return departure.comesBack() ? life.obstacle(departure) : obstacles.any();
    }

    private void release(Departure departure) {
        if (!departure.wanted() || departure.comesBack()) {
            released.add(departure.node());
        }
        if (departure.cordon().isPresent()) {
            evictable.add(departure.node());
        }
    }

    /** Whether it is made anew with other settings once it is empty. */
    public static boolean comesBack(DrainStatus drain) {
        return Boolean.TRUE.equals(drain.comesBack());
    }
}
