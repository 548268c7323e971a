// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.base.PendingReplies;
import dev.kvpool.dataplane.master.core.base.PendingReply;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Removals of many objects beside readers and writers. */
class SweepsTest {
    private static final int OBJECTS = 4 * Bounds.SWEPT_PER_TICK;
    private static final long LEASE_MS = 10_000;

    private final Index index = new Index(1, new Random(1));
    private final NodeView node = new NodeView("n");
    private final List<Long> visited = new ArrayList<>();
    private final PendingReplies replies = new PendingReplies(new Outbox(), new Clients());
    private final Sweeps sweeps = new Sweeps(index, new Visitor(), new Clients());
    private PendingReply reply;
    private final List<Runnable> afterwards = new ArrayList<>();
    private boolean removing;

    /** Removes nothing unless it is told to. */
    private final class Visitor implements Sweeps.Visitor {
        @Override
        public void visit(StoredObject object, Sweeps.Sweep sweep, long nowMs) {
            visited.add(object.id().counter());
            if (removing) {
                index.doom(object, Cause.REMOVED);
            }
        }

        @Override
        public List<Key> underWay() {
            return List.of();
        }

        @Override
        public boolean afterwards(Key key, Runnable task) {
            return afterwards.add(task);
        }

        @Override
        public void await(Key key, Sweeps.Sweep sweep) {}
    }

    @BeforeEach
    void manyObjects() {
        index.beginSnapshot(node);
        for (int i = 1; i <= OBJECTS; i++) {
            put(i);
        }
    }

    private void put(int number) {
        ObjectId id = new ObjectId(1, number);
        Key key = Key.of("k" + number);
        index.commit(
                node,
                DirectoryRecord.committed(new ExtentRef(0, number, 1), id, number * 4096L, 4096, 100, number, key));
        index.publish(index.object(id, key), 1);
        index.endPrompt();
    }

    private void use(int number, long nowMs) {
        index.used(index.published(Key.of("k" + number)), nowMs, LEASE_MS);
        index.endPrompt();
    }

    private void begin() {
        reply = replies.open(
                1, 1, Long.MAX_VALUE, results -> new RemoveAllReply(1, results.getFirst(), visited.size()));
        ObjectId below = new ObjectId(1, OBJECTS + 1);
        sweeps.begin(new Sweeps.Sweep(Tenant.DEFAULT, below, KeyPattern.EVERYTHING, false), reply);
    }

    @Test
    void theyEndHoweverMuchIsUsedMeanwhile() {
        begin();
        int ticks = 0;
        while (!reply.isOver()) {
            ticks++;
            sweeps.tick(ticks);
            for (int i = 1; i <= OBJECTS; i++) {
                use(i, ticks);
            }
            assertThat(ticks).isLessThan(OBJECTS);
        }
        Set<Long> once = new HashSet<>(visited);
        assertThat(once).hasSize(OBJECTS);
        assertThat(visited).hasSize(OBJECTS);
    }

    @Test
    void oneThatTakesTooLongEndsWhenItIsRepeated() {
        removing = true;
        int requests = 0;
        do {
            begin();
            sweeps.tick(1);
            if (!reply.isOver()) {
                replies.expire(Long.MAX_VALUE);
                sweeps.tick(2);
            }
            requests++;
        } while (index.publishedCount() > 0 && requests < OBJECTS);
        assertThat(requests).isLessThanOrEqualTo(OBJECTS / Bounds.SWEPT_PER_TICK + 1);
    }

    @Test
    void theyLeaveTheOrderOfEvictionAlone() {
        use(1, LEASE_MS);
        begin();
        sweeps.tick(1);
        put(OBJECTS + 1);
        use(2, LEASE_MS);
        assertThat(reply.isOver()).isFalse();
        List<Long> order = StreamSupport.stream(index.recency().spliterator(), false)
                .map(object -> object.id().counter())
                .toList();
        assertThat(order.subList(OBJECTS - 2, OBJECTS + 1)).containsExactly(OBJECTS + 1L, 1L, 2L);
    }

    @Test
    void whatIsThereAgainBehindOneIsComeToOnceMore() {
        reply = replies.open(1, 1, Long.MAX_VALUE, results -> new RemoveAllReply(1, results.getFirst(), 0));
        sweeps.begin(new Sweeps.Sweep(Tenant.DEFAULT, new ObjectId(1, 3), KeyPattern.EVERYTHING, false), reply);
        sweeps.tick(1);
        visited.clear();
        sweeps.takenBack(index.published(Key.of("k3")));
        sweeps.takenBack(index.published(Key.of("k2")));
        assertThat(afterwards).hasSize(1);
        assertThat(visited).isEmpty();
        afterwards.forEach(Runnable::run);
        assertThat(visited).containsExactly(2L);
    }

    @Test
    void oneThatHasComeToEverythingTakesNoPlace() {
        for (int i = 0; i < Bounds.SWEEPS_MAX; i++) {
            assertThat(sweeps.isFull(Tenant.DEFAULT)).isFalse();
            begin();
        }
        assertThat(sweeps.isFull(Tenant.DEFAULT)).isTrue();
        for (int tick = 0; !reply.isOver(); tick++) {
            sweeps.tick(tick);
        }
        assertThat(sweeps.isFull(Tenant.DEFAULT)).isFalse();
        begin();
        sweeps.clear();
        for (int i = 0; i < Bounds.SWEEPS_MAX; i++) {
            assertThat(sweeps.isFull(Tenant.DEFAULT)).isFalse();
            begin();
        }
    }
}
