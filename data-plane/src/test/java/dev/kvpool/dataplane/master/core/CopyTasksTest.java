// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.ClientReply.TaskReply;
import dev.kvpool.dataplane.wire.message.ClientReply.TaskReport;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.TaskQuery;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.TaskState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What a client wants copied or moved by name is, once, or the task says why not. */
class CopyTasksTest {
    private static final long MIB = 1 << 20;

    private final Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);

    private TaskReply ask(String key, String source, String... targets) {
        CopyRequest request = new CopyRequest(pool.nextRequest(), Key.of(key), source, List.of(targets));
        pool.send(request);
        return pool.reply(request.requestId(), TaskReply.class);
    }

    private TaskReply query(long task) {
        TaskQuery query = new TaskQuery(pool.nextRequest(), task);
        pool.send(query);
        return pool.reply(query.requestId(), TaskReply.class);
    }

    private TaskReport report(TaskReply begun) {
        assertThat(begun.status()).isEqualTo(Status.OK);
        TaskReply now = query(begun.report().task());
        assertThat(now.status()).isEqualTo(Status.OK);
        return now.report();
    }

    private SortedSet<String> holders(String key) {
        return new TreeSet<>(pool.talkedTo().core().holders(Key.of(key)));
    }

    /** Puts one copy; the nodes, the holder first. */
    private List<String> put(String key) {
        assertThat(pool.put(key, 1000)).isEqualTo(Status.OK);
        String holder = holders(key).getFirst();
        TreeSet<String> others = new TreeSet<>(List.of("a", "b", "c"));
        others.remove(holder);
        return List.of(holder, others.first(), others.last());
    }

    @Test
    void aCopyIsMadeAndStays() {
        List<String> nodes = put("k");
        TaskReply begun = ask("k", "", nodes.get(1), nodes.get(2));
        assertThat(begun.report().state()).isEqualTo(TaskState.PENDING);
        assertThat(begun.report().moves()).isFalse();
        pool.world.run(1_000);
        assertThat(report(begun).state()).isEqualTo(TaskState.SUCCESS);
        assertThat(holders("k")).containsExactly("a", "b", "c");

        pool.pass(2 * Bounds.REPAIR_REST_MS_MAX + Scenario.OBJECT_LEASE_MS);
        assertThat(holders("k")).containsExactly("a", "b", "c");
        assertThat(pool.talkedTo().status().overReplicatedObjects()).isZero();
        assertThat(report(begun).ageMs()).isGreaterThan(report(begun).restMs());
    }

    @Test
    void aMoveLeavesNothingAtItsSource() {
        List<String> nodes = put("k");
        TaskReply begun = ask("k", nodes.get(0), nodes.get(1));
        pool.world.run(1_000);
        assertThat(report(begun).state()).isEqualTo(TaskState.SUCCESS);
        assertThat(report(begun).moves()).isTrue();
        assertThat(holders("k")).containsExactly(nodes.get(1));
        assertThat(pool.present(nodes.get(0), "k", 1)
                        + pool.node(nodes.get(0)).directory().size())
                .isZero();
    }

    @Test
    void nodesAreNamedByWhereTheyServeAsWell() {
        List<String> nodes = put("k");
        String from = pool.node(nodes.get(0)).address();
        String to = pool.node(nodes.get(1)).address();
        assertThat(ask("k", from, from).status()).isEqualTo(Status.INVALID_ARGUMENT);
        assertThat(ask("k", "", to, nodes.get(1)).status()).isEqualTo(Status.INVALID_ARGUMENT);
        TaskReply begun = ask("k", from, to);
        pool.world.run(1_000);
        assertThat(report(begun).state()).isEqualTo(TaskState.SUCCESS);
        assertThat(holders("k")).containsExactly(nodes.get(1));
    }

    @Test
    void aMoveWaitsForReadersOfItsSource() {
        List<String> nodes = put("k");
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
        TaskReply begun = ask("k", nodes.get(0), nodes.get(1));
        pool.world.run(Scenario.OBJECT_LEASE_MS - 1_000);
        assertThat(report(begun).why()).isEqualTo(Status.HAS_LEASE);
        assertThat(holders("k")).containsExactlyInAnyOrder(nodes.get(0), nodes.get(1));
        pool.world.run(2_000);
        assertThat(report(begun).state()).isEqualTo(TaskState.SUCCESS);
        assertThat(holders("k")).containsExactly(nodes.get(1));
    }

    @Test
    void whatCannotBeIsRefusedAtOnce() {
        List<String> nodes = put("k");
        pool.transientNode("t", MIB).dial(pool.talkedTo());
        pool.world.run(1_000);
        String holder = nodes.get(0);
        String other = nodes.get(1);
        assertThat(ask("none", "", other).status()).isEqualTo(Status.NOT_FOUND);
        assertThat(ask("", "", other).status()).isEqualTo(Status.INVALID_KEY);
        assertThat(ask("k", "").status()).isEqualTo(Status.INVALID_ARGUMENT);
        assertThat(ask("k", "", "nobody").status()).isEqualTo(Status.INVALID_ARGUMENT);
        assertThat(ask("k", "", "t").status()).isEqualTo(Status.INVALID_ARGUMENT);
        assertThat(ask("k", "", other, other).status()).isEqualTo(Status.INVALID_ARGUMENT);
        assertThat(ask("k", holder, holder).status()).isEqualTo(Status.INVALID_ARGUMENT);
        assertThat(ask("k", other, nodes.get(2)).status()).isEqualTo(Status.INVALID_ARGUMENT);
        assertThat(ask("k", holder, other, nodes.get(2)).status()).isEqualTo(Status.INVALID_ARGUMENT);
        assertThat(query(0).status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void whoAsksTwiceIsToldOfTheSame() {
        List<String> nodes = put("k");
        long task = ask("k", "", nodes.get(1)).report().task();
        assertThat(ask("k", "", nodes.get(1)).report().task()).isEqualTo(task);
        assertThat(ask("k", "", nodes.get(2)).report().task()).isNotEqualTo(task);
    }

    @Test
    void theObjectIsRemovedMeanwhile() {
        List<String> nodes = put("k");
        TaskReply begun = ask("k", "", nodes.get(1));
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        pool.world.run(1_000);
        assertThat(report(begun).state()).isEqualTo(TaskState.FAILED);
        assertThat(report(begun).why()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void theTargetDies() {
        List<String> nodes = put("k");
        TaskReply begun = ask("k", nodes.get(0), nodes.get(1));
        pool.crash(nodes.get(1));
        pool.world.run(1_000);
        assertThat(report(begun).state()).isEqualTo(TaskState.FAILED);
        assertThat(report(begun).why()).isEqualTo(Status.UNAVAILABLE);
        assertThat(holders("k")).containsExactly(nodes.get(0));
    }

    @Test
    void theSourceIsAwayForTooLong() {
        List<String> nodes = put("k");
        TaskReply begun = ask("k", "", nodes.get(1));
        pool.crash(nodes.get(0));
        for (long ms = 0; ms < Bounds.TASK_MS_MAX; ms += 10_000) {
            pool.pass(10_000);
        }
        pool.pass(1_000);
        assertThat(report(begun).state()).isEqualTo(TaskState.FAILED);
        assertThat(report(begun).why()).isEqualTo(Status.UNAVAILABLE);
    }

    @Test
    void aNewLeaderKnowsNoTaskAndKeepsTheCopies() {
        List<String> nodes = put("k");
        TaskReply done = ask("k", "", nodes.get(1));
        pool.world.run(1_000);
        TaskReply open = ask("k", nodes.get(0), nodes.get(2));

        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);

        assertThat(query(done.report().task()).status()).isEqualTo(Status.NOT_FOUND);
        assertThat(query(open.report().task()).status()).isEqualTo(Status.NOT_FOUND);
        pool.pass(2 * Bounds.REPAIR_REST_MS_MAX + 2 * Scenario.OBJECT_LEASE_MS);
        assertThat(holders("k")).contains(nodes.get(0), nodes.get(1));
        assertThat(ask("k", "", nodes.get(2)).report().task())
                .isNotEqualTo(done.report().task());
    }

    /** In whatever order their targets are named, they are others. No time passes, so none ends. */
    @Test
    void thereAreNoMoreThanTheBound() {
        String[] ids = {"a", "b", "c", "d", "e", "f", "g", "h"};
        Scenario large = new Scenario().withNodes(MIB, ids).leading(7);
        assertThat(large.put("k", 10)).isEqualTo(Status.OK);
        Map<Status, Integer> answers = new EnumMap<>(Status.class);
        Random random = new Random(7);
        List<String> targets = new ArrayList<>(List.of(ids));
        Set<List<String>> asked = new HashSet<>();
        while (asked.size() <= Bounds.TASKS_MAX) {
            Collections.shuffle(targets, random);
            if (asked.add(List.copyOf(targets))) {
                CopyRequest request = new CopyRequest(large.nextRequest(), Key.of("k"), "", List.copyOf(targets));
                large.send(request);
                answers.merge(large.reply(request.requestId(), TaskReply.class).status(), 1, Integer::sum);
            }
        }
        assertThat(answers).containsOnly(entry(Status.OK, Bounds.TASKS_MAX), entry(Status.QUEUE_FULL, 1));
    }
}
