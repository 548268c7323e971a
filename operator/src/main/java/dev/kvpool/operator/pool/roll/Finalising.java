// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.status.PendingVersions;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.PoolReport.Active;
import dev.kvpool.operator.master.PoolReport.ClientVersion;
import dev.kvpool.operator.master.PoolReport.Node;
import dev.kvpool.operator.master.PoolReport.Range;
import dev.kvpool.operator.master.PoolReport.Version;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.transition.Action;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The last step of an upgrade: when the whole pool runs one image and is well, it goes over to the highest versions that
 * everybody knows. That cannot be taken back, so it is never done beside anything else, not while upgrades are paused, and only
 * when everybody connected has known them for {@code spec.upgrade.finaliseAfter}: an engine that restarts is away for a while.
 */
final class Finalising {
    private final RollView view;

    Finalising(RollView view) {
        this.view = view;
    }

    /** What the leader is told now, until it shows that all of it is done. */
    Optional<Action> action() {
        return goal(everybody())
                .filter(goal -> !view.options().paused())
                .filter(goal -> isBegun(goal) || isDue(goal))
                .map(goal -> new Action.Finalise(
                        goal.wire(), goal.layout(), view.options().ignoreClients()));
    }

    /** What the pool is about to go over to, and since when. What cannot be judged now is left as it is. */
    Optional<PendingVersions> pending() {
        if (!isWell()) {
            return view.pending();
        }
        return goal(everybody())
                .filter(goal -> !isBegun(goal))
                .map(goal -> view.pending()
                        .filter(known -> isAbout(known, goal))
                        .orElseGet(() -> new PendingVersions(
                                goal.wire(), goal.layout(), view.now().toString())));
    }

    /** When the pool goes over, and to what, as a sentence; empty when nothing is pending. */
    Optional<String> announced() {
        return pending()
                .map(next ->
                        " It changes to wire version %d and segment layout %d %s, if all connected processes still know them; until then spec.version can be set back warm."
                                .formatted(next.wire(), next.layout(), moment(next)));
    }

    private String moment(PendingVersions next) {
        String time = view.goesOverAt(next).truncatedTo(ChronoUnit.SECONDS).toString();
        return view.options().paused()
                ? "when spec.upgrade.paused is false, not before " + time
                : "at %s (spec.upgrade.finaliseAfter: %s)"
                        .formatted(time, view.options().finaliseAfter());
    }

    /** The leader speaks and writes them, so nodes that do not yet follow. */
    private boolean isBegun(Active goal) {
        return isAt(view.leader().orElseThrow().active(), goal);
    }

    private boolean isDue(Active goal) {
        return view.pending()
                .filter(known -> isAbout(known, goal))
                .filter(known -> !view.now().isBefore(view.goesOverAt(known)))
                .isPresent();
    }

    private static boolean isAbout(PendingVersions known, Active goal) {
        return known.wire() == goal.wire() && known.layout() == goal.layout();
    }

    /** Who keeps the pool from going over, as a sentence; empty when nobody does. */
    Optional<String> heldBack() {
        if (!isWell()) {
            return missed();
        }
        Optional<Active> possible = goal(members());
        if (possible.isEmpty() || view.options().ignoreClients()) {
            return Optional.empty();
        }
        return clients()
                .filter(client -> client.wire().max() < possible.get().wire())
                .findFirst()
                .map(client ->
                        " It would change to wire version %d, but clients of kvpool %s know only %d: upgrade them, or set spec.upgrade.ignoreClients."
                                .formatted(
                                        possible.get().wire(),
                                        client.product(),
                                        client.wire().max()));
    }

    /** Whose machine is dead, or for whom there is none, will be there again: what everybody else knows is not enough. */
    private Optional<String> missed() {
        List<String> gone = view.all().filter(Member::isGone).map(Member::pod).toList();
        if (view.leader().isEmpty() || gone.isEmpty()) {
            return Optional.empty();
        }
        return possible(members())
                .map(goal -> " It would change to wire version %d and segment layout %d, but waits for %s."
                        .formatted(goal.wire(), goal.layout(), NameList.of(gone)));
    }

    private Optional<Active> goal(List<Version> builds) {
        return isWell() ? possible(builds) : Optional.empty();
    }

    private Optional<Active> possible(List<Version> builds) {
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
                .allMatch(instance -> instance.node().filter(Node::ready).isPresent());
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
