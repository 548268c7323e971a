// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.master.core.CoreSettings;
import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
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
    private static final CoreLoop.Leaders NO_ELECTION = new CoreLoop.Leaders() {
        @Override
        public void raiseAbove(long epoch) {}

        @Override
        public void store(Authority leader, Register register) {}

        @Override
        public void left() {}

        @Override
        public void crashed(Authority authority, String address) {}
    };

    private final EventLoop events = new DefaultEventLoop();
    private final List<Throwable> defects = new CopyOnWriteArrayList<>();
    private volatile Error planted;
    private final CoreLoop loop = new CoreLoop(
            new MasterCore(new CoreSettings("m", 10_000, 0.9, 0.8, 1, 5_000, 30_000, 1 << 28), Set.of(), new Random(1)),
            events,
            CoreLoopTest::clockMs,
            NO_ELECTION,
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
        AssertionError error = new AssertionError("planted");
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
    void theBeatOfACoreThatHangsGrowsOldAndSaysWhere() throws Exception {
        var _ = events.scheduleAtFixedRate(loop::tick, 1, 1, TimeUnit.MILLISECONDS);
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
