// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.PoisonedRecords;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.core.report.PoolStatus.NodeState;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeMessage;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.wire.Medium;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.AbstractList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A core that throws, and one that hangs, on a real event loop. */
@Timeout(60)
class CoreLoopTest {
    private final List<Authority> lostViews = new CopyOnWriteArrayList<>();
    private final CoreLoop.Leaders election = new CoreLoop.Leaders() {
        @Override
        public void raiseAbove(long epoch) {}

        @Override
        public void store(Authority leader, Register register) {}

        @Override
        public void lostView(Authority ours) {
            if (cannotLoseView != null) {
                throw cannotLoseView;
            }
            lostViews.add(ours);
        }

        @Override
        public void handsOver() {}

        @Override
        public void left() {}

        @Override
        public void crashed(Authority authority, String address) {}

        @Override
        public void silent(Action.LeaderSilent what) {}
    };

    private final EventLoop events = new DefaultEventLoop();
    private final List<Throwable> defects = new CopyOnWriteArrayList<>();
    private volatile RuntimeException cannotLoseView;
    private volatile Error planted;
    private final CoreLoop loop = new CoreLoop(
            new MasterCore(
                    PlainSettings.of("m", 10_000, 0.9, 0.8, 1, 30_000, 1 << 28),
                    Set.of(),
                    new Random(1),
                    new Random(1)),
            events,
            CoreLoopTest::clockMs,
            election,
            reply -> {},
            actions -> {
                if (planted != null) {
                    throw planted;
                }
            },
            new ConnectionCounts(),
            (what, cause) -> defects.add(cause));

    @AfterEach
    void end() {
        var _ = events.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    @Test
    void anErrorInATickIsADefectAndStampsNoBeat() {
        var _ = events.scheduleAtFixedRate(loop::tick, 1, 1, TimeUnit.MILLISECONDS);
        await().until(() -> loop.beat().ageMs() < 100);
        assertThat(defects).isEmpty();

        planted = new StackOverflowError("planted");

        await().until(() -> defects.contains(planted));
        await().until(() -> loop.beat().ageMs() > 500);
        assertThat(defects).as("told once").hasSize(1);
    }

    @Test
    void soIsOneInATaskFromAnotherThread() {
        Error error = new NoClassDefFoundError("planted");
        loop.submit(core -> {
            throw error;
        });
        await().until(() -> defects.contains(error));
    }

    @Test
    void soIsOneInAQuestion() {
        Error error = new NoClassDefFoundError("planted");
        CompletableFuture<String> answer = loop.ask(core -> {
            throw error;
        });
        await().until(() -> defects.contains(error));
        assertThat(answer).isNotDone();
    }

    @Test
    void nothingReachesACoreThatHasThrown() throws Exception {
        loop.submit(core -> {
            throw new IllegalStateException("planted");
        });
        await().until(() -> !defects.isEmpty());
        CompletableFuture<Boolean> reached = loop.ask(core -> true);
        events.submit(() -> {}).get();
        assertThat(reached).isNotDone();
    }

    @Test
    void aNodeThatTheCoreCannotBearCostsTheViewTheLeadershipAndNoProcess() throws Exception {
        EmbeddedChannel node = new EmbeddedChannel();
        EmbeddedChannel client = new EmbeddedChannel();
        Authority ours = new Authority(3, 3);
        long session = events.submit(() -> loop.open(node, true, "n", "n")).get();
        long other = events.submit(() -> loop.open(client, false, "c", "c")).get();
        loop.submit(core -> {
            core.lead(ours, clockMs() + 60_000, clockMs() + 5_000, Register.NONE, clockMs());
            core.clientConnected(other, clockMs());
            core.nodeConnected(session, new NodePeer("bad", 1, "0.1.0"), clockMs());
            List.of(info(), new SnapshotBegin(0), new SnapshotEnd(0, 0))
                    .forEach(message -> core.receive(session, message, clockMs()));
        });

        loop.submit(core -> core.receive(
                session,
                new Changes(
                        1,
                        PoisonedRecords.of(List.of(DirectoryRecord.freed(new ExtentRef(0, 1, 1), ObjectId.NONE)), 0)),
                clockMs()));

        await().until(() -> !node.isOpen() && !client.isOpen());
        assertThat(defects).isEmpty();
        assertThat(lostViews).containsExactly(ours);
        PoolStatus status = loop.ask(MasterCore::status).get();
        assertThat(status.nodes()).extracting(PoolStatus.Node::state).containsExactly(NodeState.SET_APART);
        assertThat(status.state()).isEqualTo(PoolStatus.State.STANDBY);
    }

    /** They came in one read: what a node says after it was refused would empty the view of the one whose name it has. */
    @Test
    void nothingOfASessionCountsAfterItWasClosed() throws Exception {
        DirectoryRecord record =
                DirectoryRecord.committed(new ExtentRef(0, 1, 1), new ObjectId(2, 1), 0, 192, 100, 0, Key.of("k"));
        loop.submit(core -> core.lead(new Authority(3, 3), clockMs() + 60_000, clockMs(), Register.NONE, clockMs()));
        long real =
                node("n", 1, info(), new SnapshotBegin(0), new SnapshotRecords(List.of(record)), new SnapshotEnd(1, 0));
        assertThat(loop.ask(core -> core.status().nodes().getFirst().objects()).get())
                .isEqualTo(1);
        events.submit(() -> loop.closed(real, "it stands still")).get();

        node("n", 2, info(new ObjectId(9, 1)), new SnapshotBegin(0), new SnapshotEnd(0, 0));

        assertThat(loop.ask(core -> core.status().nodes().getFirst().objects()).get())
                .isEqualTo(1);
    }

    /** A node connects, and says all of this in one go. */
    private long node(String id, long incarnation, NodeMessage... messages) throws Exception {
        return events.submit(() -> {
                    long session = loop.open(new EmbeddedChannel(), true, id, id);
                    loop.apply(core -> core.nodeConnected(session, new NodePeer(id, incarnation, "0.1.0"), clockMs()));
                    List.of(messages).forEach(message -> loop.receive(session, message));
                    return session;
                })
                .get();
    }

    @Test
    void aClientWhoseRequestTheCoreCannotBearIsSetApartToo() throws Exception {
        EmbeddedChannel client = new EmbeddedChannel();
        long session = events.submit(() -> loop.open(client, false, "tenant/a/rw", "tenant/a/rw/one"))
                .get();
        loop.submit(core -> core.clientConnected(session, clockMs()));
        List<Key> keys = new AbstractList<>() {
            @Override
            public Key get(int index) {
                throw new IllegalStateException("planted");
            }

            @Override
            public int size() {
                return 1;
            }
        };

        loop.submit(core -> {
            core.lead(new Authority(3, 3), clockMs() + 60_000, clockMs(), Register.NONE, clockMs());
            core.tick(clockMs());
            core.receive(session, new ExistsRequest(1, keys), clockMs());
        });

        await().until(() -> !client.isOpen());
        assertThat(defects).isEmpty();
        assertThat(events.submit(() -> loop.objection("tenant/a/rw", "tenant/a/rw/one"))
                        .get())
                .isPresent();
        assertThat(events.submit(() -> loop.objection("tenant/a/rw", "tenant/a/rw/two"))
                        .get())
                .as("another process with the same certificate")
                .isEmpty();
    }

    @Test
    void aRequestOverHttpThatTheCoreCannotBearFailsAndCostsTheViewOnly() {
        Authority ours = new Authority(3, 3);
        loop.submit(core -> core.lead(ours, clockMs() + 60_000, clockMs(), Register.NONE, clockMs()));
        CompletableFuture<String> answer = new CompletableFuture<>();
        loop.request("of tenant a", answer, core -> {
            throw new IllegalStateException("planted");
        });

        await().until(answer::isCompletedExceptionally);
        await().until(() -> lostViews.contains(ours));
        assertThat(defects).isEmpty();
        CompletableFuture<String> again = new CompletableFuture<>();
        loop.request("of tenant a", again, core -> again.complete("heard"));
        assertThat(again).failsWithin(10, TimeUnit.SECONDS).withThrowableThat().withMessageContaining("set apart");
        CompletableFuture<String> others = new CompletableFuture<>();
        loop.request("of tenant b", others, core -> others.complete("heard"));
        assertThat(others).succeedsWithin(10, TimeUnit.SECONDS);
    }

    @Test
    void aQuestionThatChangesNothingFailsAndCostsNothing() throws Exception {
        CompletableFuture<String> answer = loop.ask(core -> {
            throw new AssertionError("planted");
        });
        await().until(answer::isCompletedExceptionally);
        assertThat(loop.ask(core -> true).get()).isTrue();
        assertThat(lostViews).isEmpty();
        assertThat(defects).isEmpty();
    }

    /** What is thrown in place of the new core would else end the ticks and nothing more. */
    @Test
    void aCoreThatCannotBeReplacedIsADefect() {
        cannotLoseView = new IllegalStateException("planted");
        loop.submit(core -> core.lead(new Authority(3, 3), clockMs() + 60_000, clockMs(), Register.NONE, clockMs()));
        loop.request("of tenant a", new CompletableFuture<>(), core -> {
            throw new IllegalStateException("planted");
        });
        await().until(() -> defects.contains(cannotLoseView));
    }

    private static NodeInfo info() {
        return info(ObjectId.NONE);
    }

    private static NodeInfo info(ObjectId purgeId) {
        return new NodeInfo(
                Authority.NONE,
                purgeId,
                0,
                ObjectId.NONE,
                false,
                Restored.NOTHING,
                1,
                ActiveVersions.UNKNOWN,
                List.of(new Segment(0, Medium.DRAM, 1 << 20, 100)),
                "127.0.0.1:1",
                "",
                "");
    }

    @Test
    void theBeatOfACoreThatHangsGrowsOldAndSaysWhere() throws Exception {
        var _ = events.scheduleAtFixedRate(loop::tick, 1, 1, TimeUnit.MILLISECONDS);
        await().until(() -> loop.beat().position().length > 0);
        CountDownLatch hangs = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        loop.submit(core -> {
            hangs.countDown();
            try {
                goesOn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        hangs.await();

        await().until(() -> loop.beat().ageMs() > 500);
        assertThat(loop.beat().position())
                .as("where it hangs")
                .anyMatch(frame -> frame.getClassName().startsWith(CoreLoopTest.class.getName()));
        assertThat(defects).isEmpty();

        goesOn.countDown();
        await().until(() -> loop.beat().ageMs() < 100);
    }

    private static long clockMs() {
        return System.nanoTime() / 1_000_000;
    }
}
