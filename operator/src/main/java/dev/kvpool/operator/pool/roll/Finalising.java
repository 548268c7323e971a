// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.PoolReport.Active;
import dev.kvpool.operator.master.PoolReport.ClientVersion;
import dev.kvpool.operator.master.PoolReport.Node;
import dev.kvpool.operator.master.PoolReport.Range;
import dev.kvpool.operator.master.PoolReport.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The last step of an upgrade: when the whole pool runs one image and is well, it goes over to the highest versions that
 * everybody knows. That cannot be taken back, so it is never done beside anything else, and not while upgrades are paused.
 */
final class Finalising {
    private final RollView view;

    Finalising(RollView view) {
        this.view = view;
    }

    /** What the leader is told, until it shows that all of it is done; nothing when there is nothing to be raised now. */
    Optional<RollAction> action() {
        return goal(everybody())
                .map(goal -> new RollAction.Finalise(
                        goal.wire(), goal.layout(), view.options().ignoreClients()));
    }

    /** Who keeps the pool from going over, as a sentence; empty when nobody does. */
    Optional<String> heldBack() {
        Optional<Active> possible = goal(members());
        if (possible.isEmpty() || view.options().ignoreClients()) {
            return Optional.empty();
        }
        return clients()
                .filter(client -> client.wire().max() < possible.get().wire())
                .findFirst()
                .map(client ->
                        " It would go over to wire version %d, but clients of kvpool %s know only %d: upgrade them, or set spec.upgrade.ignoreClients."
                                .formatted(
                                        possible.get().wire(),
                                        client.product(),
                                        client.wire().max()));
    }

    private Optional<Active> goal(List<Version> builds) {
        if (view.options().paused() || !isWell()) {
            return Optional.empty();
        }
        Active now = view.leader().orElseThrow().active();
        OptionalInt wire = highestCommon(builds, Version::wire);
        OptionalInt layout = highestCommon(builds, Version::layout);
        if (now == null || wire.isEmpty() || layout.isEmpty()) {
            return Optional.empty();
        }
        Active goal = new Active(Math.max(wire.getAsInt(), now.wire()), Math.max(layout.getAsInt(), now.layout()));
        return nodes().map(Node::active).allMatch(active -> isAt(active, goal)) ? Optional.empty() : Optional.of(goal);
    }

    private static boolean isAt(Active active, Active goal) {
        return active != null && active.wire() >= goal.wire() && active.layout() >= goal.layout();
    }

    /** Everything runs the one image, is ready, and says what it is. */
    private boolean isWell() {
        boolean allRun = view.all()
                .allMatch(instance -> instance.runs(view.stable()) && instance.ready() && !instance.leaving());
        boolean allSeen = view.storage().stream()
                .allMatch(instance -> view.node(instance).filter(Node::ready).isPresent());
        boolean allSpeak = view.reports().size() == view.masters().size()
                && Stream.concat(view.reports().stream().map(PoolReport::version), nodes().map(Node::version))
                        .allMatch(version -> version != null && version.isWhole());
        return view.leader().isPresent() && allRun && allSeen && allSpeak;
    }

    /** Nodes that are there; embedded ones that have gone are nobody's concern. */
    private Stream<Node> nodes() {
        return view.leader().stream()
                .flatMap(report -> report.nodes().stream())
                .filter(node -> !node.isTransient() || node.version() != null);
    }

    private Stream<ClientVersion> clients() {
        return view.reports().stream()
                .flatMap(report -> report.clientVersions().stream())
                .filter(client -> client.wire() != null);
    }

    private List<Version> members() {
        return Stream.concat(view.reports().stream().map(PoolReport::version), nodes().map(Node::version))
                .toList();
    }

    /** Clients read by tcp whatever the layout is. */
    private List<Version> everybody() {
        List<Version> all = new ArrayList<>(members());
        if (!view.options().ignoreClients()) {
            Range anyLayout = new Range(0, Integer.MAX_VALUE);
            clients().forEach(client -> all.add(new Version(client.product(), client.wire(), anyLayout)));
        }
        return all;
    }

    private static OptionalInt highestCommon(List<Version> builds, Function<Version, Range> which) {
        int min = 0;
        int max = Integer.MAX_VALUE;
        for (Version build : builds) {
            Range range = build == null ? null : which.apply(build);
            if (range == null) {
                return OptionalInt.empty();
            }
            min = Math.max(min, range.min());
            max = Math.min(max, range.max());
        }
        return builds.isEmpty() || max < min ? OptionalInt.empty() : OptionalInt.of(max);
    }
}
