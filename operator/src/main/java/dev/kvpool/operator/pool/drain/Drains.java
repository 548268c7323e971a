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
import java.util.Optional;
import java.util.Set;

/**
 * Empties storage nodes before they go, all at once, so that nothing is moved to one that goes next. A node may go when the
 * leader of this moment says that nothing is left there: what an earlier leader said is worth nothing, and one that does not
 * know that the node is to go is simply told again.
 */
public final class Drains {
    /** What a leader says may be as old as its last tick; for so long a cancelled drain is cancelled again. */
    static final Duration SETTLED = Duration.ofSeconds(5);

    private final DrainView view;
    private final List<DrainStatus> next = new ArrayList<>();
    private final List<DrainAction> actions = new ArrayList<>();
    private final Set<String> released = new LinkedHashSet<>();
    private final List<String> waiting = new ArrayList<>();

    private Drains(DrainView view) {
        this.view = view;
    }

    public static DrainPlan plan(DrainView view) {
        Drains drains = new Drains(view);
        view.status().forEach(drains::look);
        view.departures().forEach(drains::depart);
        return new DrainPlan(
                drains.next,
                drains.actions,
                drains.released,
                DrainWords.finding(drains.next, drains.waiting, drains.obstacle()));
    }

    /** The pool as it is, with nothing decided: for a pool that must not be touched. */
    public static DrainPlan rest(DrainView view) {
        return new DrainPlan(
                view.status(), List.of(), Set.of(), DrainWords.finding(view.status(), List.of(), "nothing is changed"));
    }

    private void look(DrainStatus drain) {
        Optional<Departure> departure = view.departure(drain.node());
        if (departure.isPresent()) {
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
        if (goesAsItIs(departure)) {
            released.add(departure.node());
        } else if (next.stream().noneMatch(drain -> drain.node().equals(departure.node()))) {
            if (obstacle().isEmpty()) {
                next.add(begun(departure.node()));
            } else {
                waiting.add(departure.node());
            }
        }
    }

    private boolean goesAsItIs(Departure departure) {
        return view.mayLoseBytes() || !departure.holdsBytes();
    }

    /** Why no further node is begun to be emptied, as a part of a sentence; empty when one can be. */
    private String obstacle() {
        if (view.upgrading()) {
            return "a step of an upgrade comes first";
        }
        if (view.leader().isEmpty()) {
            return "no master leads and serves";
        }
        return next.size() < DrainStatus.DRAINS_MAX
                ? ""
                : "%d storage nodes are emptied at a time".formatted(DrainStatus.DRAINS_MAX);
    }

    private DrainStatus begun(String node) {
        return new DrainStatus(node, DrainPhase.EMPTYING, view.now().toString(), null, null, null);
    }

    private DrainStatus goOn(DrainStatus drain, Departure departure) {
        if (goesAsItIs(departure)) {
            return drain;
        }
        if (drain.phase() == DrainPhase.CANCELLED) {
            return begun(drain.node());
        }
        Optional<PoolReport.Node> node = view.node(drain.node());
        boolean empty = node.filter(Drains::isEmpty).isPresent();
        boolean overdue = since(drain).compareTo(ApiDuration.of(view.options().timeout())) >= 0;
        if (empty) {
            return leaving(drain, DrainPhase.EMPTY, node);
        }
        if (overdue && view.options().onLeftovers() == LeftoverPolicy.DROP) {
            return leaving(drain, DrainPhase.DROPPED, node);
        }
        // One that the leader calls drained though something is left had its time there: it is begun again.
        node.filter(it -> it.ready() || it.drained()).ifPresent(it -> actions.add(new DrainAction.Empty(drain.node())));
        return in(drain, overdue ? DrainPhase.LEFTOVERS : DrainPhase.EMPTYING, node);
    }

    /** It goes once that is written down, so that nobody wonders later why it has gone. */
    private DrainStatus leaving(DrainStatus drain, DrainPhase phase, Optional<PoolReport.Node> node) {
        if (drain.phase() == phase) {
            released.add(drain.node());
            return drain;
        }
        return in(drain, phase, node);
    }

    /** The spec wants it again. The leader may not have begun yet what it was told, so it is told more than once. */
    private Optional<DrainStatus> takenBack(DrainStatus drain) {
        if (drain.phase() != DrainPhase.CANCELLED) {
            return Optional.of(new DrainStatus(
                    drain.node(), DrainPhase.CANCELLED, view.now().toString(), null, null, null));
        }
        if (view.leader().isEmpty()) {
            return Optional.of(drain);
        }
        boolean leaves = view.node(drain.node())
                .filter(node -> node.draining() || node.drained())
                .isPresent();
        boolean settled = since(drain).compareTo(SETTLED) >= 0;
        if (!leaves && settled) {
            return Optional.empty();
        }
        actions.add(new DrainAction.Cancel(drain.node()));
        return Optional.of(drain);
    }

    private DrainStatus in(DrainStatus drain, DrainPhase phase, Optional<PoolReport.Node> node) {
        return new DrainStatus(
                drain.node(),
                phase,
                drain.since(),
                node.map(PoolReport.Node::objectsLeft).map(DrainWords::rounded).orElse(null),
                node.flatMap(DrainWords::bytes).orElse(null),
                phase == DrainPhase.EMPTY
                        ? null
                        : DrainWords.reason(view.leader().isPresent(), node).orElse(null));
    }

    private Duration since(DrainStatus drain) {
        return Duration.between(Instant.parse(drain.since()), view.now());
    }

    private static boolean isEmpty(PoolReport.Node node) {
        return node.drained() && node.objectsLeft() != null && node.objectsLeft() == 0;
    }
}
