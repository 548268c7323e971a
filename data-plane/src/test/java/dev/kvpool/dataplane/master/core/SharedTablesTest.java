// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.TaskReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Hint;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** One tenant's clients take all that they can get of what a leader keeps for all; those of another one are served. GrantsTest has puts. */
class SharedTablesTest {
    private static final Tenant A = Tenant.of("a");
    private static final Tenant B = Tenant.of("b");
    private static final long EXTENT = 1088;

    private static Scenario pool(long capacityBytes, String... nodes) {
        return new Scenario().withNodes(capacityBytes, nodes).leading(7).as(A).as(B);
    }

    private static long quarters(int max) {
        return max / 4 * 3L;
    }

    @Test
    void repliesThatWait() {
        Scenario pool = pool(1L << 26, "n");
        List<Long> there = List.of(pool.node("n").incarnation());
        long last = 0;
        for (int i = 0; last == 0 || !pool.isAnswered(last); i++) {
            ObjectId id = pool.grant("k" + i, 100).grants().getFirst().objectId();
            for (int j = 0; j < 128 && (last == 0 || !pool.isAnswered(last)); j++) {
                last = pool.publish(id, "k" + i, there);
            }
        }
        assertThat(pool.reply(last, PublishReply.class).status()).isEqualTo(Status.QUEUE_FULL);
        assertThat(pool.as(A).remove("none", true)).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void connections() {
        MasterCore core = pool(1 << 20, "n").talkedTo().core();
        long session = 1L << 41;
        while (core.clientConnected(session, Optional.of(B), 0).isEmpty()) {
            session++;
        }
        assertThat(core.clientConnected(session, Optional.of(B), 0)
                        .orElseThrow()
                        .message())
                .contains("of tenant b are there");
        assertThat(session - (1L << 41)).isCloseTo(quarters(Bounds.CLIENTS_MAX), within(10L));
        assertThat(core.clientConnected(session, Optional.of(A), 0)).isEmpty();
        assertThat(core.clientConnected(session + 1, 0))
                .as("without a certificate")
                .isEmpty();
    }

    /** As long as none of another tenant has come, the default one has all. */
    @Test
    void connectionsOfTheDefaultTenantAreFewerOnceAnotherOneWasRefused() {
        MasterCore core =
                new Scenario().withNodes(1 << 20, "n").leading(7).talkedTo().core();
        long session = 1L << 41;
        while (core.clientConnected(session, 0).isEmpty()) {
            session++;
        }
        assertThat(session - (1L << 41)).isCloseTo(Bounds.CLIENTS_MAX, within(10L));
        assertThat(core.clientConnected(session, Optional.of(A), 0)).isPresent();
        core.closed(session - 1, "gone", 0);
        assertThat(core.clientConnected(session - 1, 0)).isPresent();
        core.closed(session - 2, "gone", 0);
        assertThat(core.clientConnected(session, Optional.of(A), 0)).isEmpty();
    }

    @Test
    void removalsOfEverything() {
        Scenario pool = pool(1 << 20, "n");
        for (int i = 0; i < quarters(Bounds.SWEEPS_MAX); i++) {
            pool.send(new RemoveAllRequest(pool.nextRequest(), false, ""));
        }
        assertThat(pool.removeAllAtOnce(false).status()).isEqualTo(Status.QUEUE_FULL);
        long request = pool.nextRequest();
        pool.as(A).send(new RemoveAllRequest(request, false, ""));
        assertThat(pool.isAnswered(request)).isFalse();
        pool.world.run(1_000);
        assertThat(pool.reply(request, RemoveAllReply.class).status()).isEqualTo(Status.OK);
        assertThat(pool.as(B).removeAll(false).status()).isEqualTo(Status.OK);
    }

    /** Half of the memory, ten objects, may be retained. */
    @Test
    void whatIsRetained() {
        Scenario pool = pool(20 * EXTENT, "n");
        pool.fill("b", 10);
        int retained = 0;
        while (pool.hint(Hint.RETAIN, 60_000, false, "b" + retained).status() == Status.OK) {
            retained++;
        }
        assertThat(retained).isEqualTo(7);
        pool.as(A).fill("a", 1);
        assertThat(pool.hint(Hint.RETAIN, 60_000, false, "a0").status()).isEqualTo(Status.OK);
    }

    @Test
    void copiesByName() {
        String[] ids = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};
        Scenario pool = pool(1 << 20, ids);
        assertThat(pool.put("k", 10)).isEqualTo(Status.OK);
        Random random = new Random(7);
        List<String> targets = new ArrayList<>(List.of(ids));
        Set<List<String>> asked = new HashSet<>();
        Status status = Status.OK;
        while (status == Status.OK) {
            Collections.shuffle(targets, random);
            if (asked.add(List.copyOf(targets))) {
                status = copy(pool, List.copyOf(targets));
            }
        }
        assertThat(status).isEqualTo(Status.QUEUE_FULL);
        assertThat(asked).hasSize((int) quarters(Bounds.TASKS_MAX) + 1);
        assertThat(pool.as(A).put("k", 10)).isEqualTo(Status.OK);
        assertThat(copy(pool, List.of(ids))).isEqualTo(Status.OK);
    }

    private static Status copy(Scenario pool, List<String> targets) {
        CopyRequest request = new CopyRequest(pool.nextRequest(), Key.of("k"), "", targets);
        pool.send(request);
        return pool.reply(request.requestId(), TaskReply.class).status();
    }
}
