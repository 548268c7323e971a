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
import dev.kvpool.operator.pool.member.Members;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.transition.Action;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The last step of an upgrade: when the whole pool runs one image and is well, it changes to the highest versions that all connected
 * processes know. That cannot be taken back, so it is never done beside anything else, not while upgrades are paused, and only when all
 * of them have known these versions for {@code spec.upgrade.finaliseAfter}: an engine that restarts is away for a while.
 */
final class Finalising {
    private static final Range ANY = new Range(0, Integer.MAX_VALUE);

    private final RollView view;
    private final Members members;

    Finalising(RollView view) {
        this.view = view;
        this.members = view.members();
    }

    /** What the leader is told now, until it shows that all of it is done. */
    Optional<Action> action() {
        return goal().filter(goal -> !view.options().paused())
                .filter(goal -> isBegun(goal) || isDue(goal))
                .map(goal -> new Action.Finalise(
                        goal.wire(), goal.layout(), view.options().ignoreClients()));
    }

    /** What the pool is about to change to, and since when. What cannot be judged now is left as it is. */
    Optional<PendingVersions> pending() {
        if (!isWell()) {
            return view.pending();
        }
        return goal().filter(goal -> !isBegun(goal))
                .map(goal -> known(goal)
                        .orElseGet(() -> new PendingVersions(
                                goal.wire(), goal.layout(), view.now().toString())));
    }

    /** When the pool changes, and to what, as a sentence; empty when nothing is pending. */
    Optional<String> announced() {
        return pending()
                .map(next ->
                        "It changes to wire version %d and segment layout %d %s, if all connected processes still know them; until then spec.version can be set back warm."
                                .formatted(next.wire(), next.layout(), moment(next)));
    }

    private String moment(PendingVersions next) {
        String time = view.changesAt(next).truncatedTo(ChronoUnit.SECONDS).toString();
        return view.options().paused()
                ? "when spec.upgrade.paused is false, not before " + time
                : "at %s (spec.upgrade.finaliseAfter: %s)"
                        .formatted(time, view.options().finaliseAfter());
    }

    /** The leader speaks and writes them, so nodes that do not yet follow. */
    private boolean isBegun(Active goal) {
        return isAt(members.leader().orElseThrow().builds().active(), goal);
    }

    private boolean isDue(Active goal) {
        return known(goal)
                .filter(known -> !view.now().isBefore(view.changesAt(known)))
                .isPresent();
    }

    /** That these versions are pending already. */
    private Optional<PendingVersions> known(Active goal) {
        return view.pending().filter(known -> known.wire() == goal.wire() && known.layout() == goal.layout());
    }

    /** What keeps the pool from changing, as a sentence; empty when nothing does. */
    Optional<String> heldBack() {
        if (!isWell()) {
            return missed();
        }
        return highest(builds())
                .filter(any -> !view.options().ignoreClients())
                .flatMap(possible -> clients()
                        .filter(client -> client.wire().max() < possible.wire())
                        .findFirst()
                        .map(client ->
                                "It would change to wire version %d, but clients of kvpool %s know only %d: upgrade them, or set spec.upgrade.ignoreClients."
                                        .formatted(
                                                possible.wire(),
                                                client.product(),
                                                client.wire().max())));
    }

    /** One whose machine is dead, or for which there is none, will be there again: what the others know is not enough. */
    private Optional<String> missed() {
        List<String> gone =
                members.all().filter(Member::isGone).map(Member::pod).toList();
        if (!members.led() || gone.isEmpty()) {
            return Optional.empty();
        }
        return highest(builds())
                .map(goal -> "It would change to wire version %d and segment layout %d, but waits for %s."
                        .formatted(goal.wire(), goal.layout(), NameList.of(gone)));
    }

    /** What all that are connected know. Clients read by tcp whatever the layout is. */
    private Optional<Active> goal() {
        Stream<Version> ofClients = clients()
                .filter(any -> !view.options().ignoreClients())
                .map(client -> new Version(client.product(), client.wire(), ANY));
        return isWell() ? highest(Stream.concat(builds(), ofClients)) : Optional.empty();
    }

    /** The highest versions that these know, and no lower ones than now; empty when the pool is there. */
    private Optional<Active> highest(Stream<Version> builds) {
        Active now = members.leader().orElseThrow().builds().active();
        List<Version> all = builds.toList();
        int wire = highestCommon(all, Version::wire);
        int layout = highestCommon(all, Version::layout);
        if (now == null || wire < 0 || layout < 0) {
            return Optional.empty();
        }
        Active goal = new Active(Math.max(wire, now.wire()), Math.max(layout, now.layout()));
        return nodes().map(node -> node.build().active()).allMatch(active -> isAt(active, goal))
                ? Optional.empty()
                : Optional.of(goal);
    }

    private static boolean isAt(Active active, Active goal) {
        return active != null && active.wire() >= goal.wire() && active.layout() >= goal.layout();
    }

    /** All members run the one image, are ready, and say what they are. */
    private boolean isWell() {
        return members.led()
                && members.all().allMatch(it -> it.runs(view.images().stable()) && it.ready())
                && members.storage().stream().allMatch(it -> it.isSeen(Node::ready))
                && members.reports().size() == members.masters().size()
                && builds().allMatch(version -> version != null && version.isWhole());
    }

    /** Nodes that are there; embedded ones that have gone do not count. */
    private Stream<Node> nodes() {
        return members.nodes()
                .filter(node -> !node.isTransient() || node.build().version() != null);
    }

    private Stream<ClientVersion> clients() {
        return members.reports().stream()
                .flatMap(report -> report.builds().clientVersions().stream())
                .filter(client -> client.wire() != null);
    }

    private Stream<Version> builds() {
        return Stream.concat(
                members.reports().stream().map(PoolReport::version),
                nodes().map(node -> node.build().version()));
    }

    /** Below 0 when there is none, or one of them does not say. */
    private static int highestCommon(List<Version> builds, Function<Version, Range> which) {
        int min = 0;
        int max = builds.isEmpty() ? -1 : Integer.MAX_VALUE;
        for (Version build : builds) {
            Range range = build == null ? null : which.apply(build);
            if (range == null) {
                return -1;
            }
            min = Math.max(min, range.min());
            max = Math.min(max, range.max());
        }
        return max < min ? -1 : max;
    }
}
