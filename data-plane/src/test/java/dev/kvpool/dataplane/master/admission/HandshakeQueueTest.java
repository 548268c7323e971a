// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In which order handshakes are worked on when more wait than can be served. */
@Timeout(60)
class HandshakeQueueTest {
    private final BlockingQueue<String> done = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> defects = new LinkedBlockingQueue<>();
    private final CountDownLatch go = new CountDownLatch(1);

    @Test
    void whatHasBegunGoesOnAndTheNewestBegins() throws InterruptedException {
        try (HandshakeQueue queue = new HandshakeQueue(1, (what, cause) -> defects.add(cause))) {
            Executor old = blocked(queue);
            queue.of(new EmbeddedChannel(), false).execute(step("second"));
            queue.of(new EmbeddedChannel(), false).execute(step("third"));
            old.execute(step("the first goes on"));
            queue.of(new EmbeddedChannel(), false).execute(step("fourth"));
            go.countDown();

            assertThat(done(4)).containsExactly("the first goes on", "fourth", "third", "second");
        }
    }

    @Test
    void addressesThatWereAuthenticatedBeforeComeFirst() throws InterruptedException {
        try (HandshakeQueue queue = new HandshakeQueue(1, (what, cause) -> defects.add(cause))) {
            Executor old = blocked(queue);
            queue.of(new EmbeddedChannel(), true).execute(step("known"));
            queue.of(new EmbeddedChannel(), false).execute(step("stranger"));
            old.execute(step("the first goes on"));
            go.countDown();

            assertThat(done(3)).containsExactly("the first goes on", "known", "stranger");
        }
    }

    /** Any certificate makes its address a known one, so those that come again and again must leave room for new processes. */
    @Test
    void knownAddressesAndStrangersTakeTurns() throws InterruptedException {
        try (HandshakeQueue queue = new HandshakeQueue(1, (what, cause) -> defects.add(cause))) {
            blocked(queue);
            for (int i = 3; i >= 1; i--) {
                queue.of(new EmbeddedChannel(), true).execute(step("known " + i));
                queue.of(new EmbeddedChannel(), false).execute(step("stranger " + i));
            }
            queue.of(new EmbeddedChannel(), true).execute(step("known 0"));
            go.countDown();

            assertThat(done(7))
                    .containsExactly(
                            "known 0", "stranger 1", "known 1", "stranger 2", "known 2", "stranger 3", "known 3");
        }
    }

    /** Neither a flood of proofs nor one of handshakes stops the other. */
    @Test
    void proofsAndHandshakesTakeTurns() throws InterruptedException {
        try (HandshakeQueue queue = new HandshakeQueue(1, (what, cause) -> defects.add(cause))) {
            Executor old = blocked(queue);
            for (int i = 1; i <= 3; i++) {
                queue.ofProofs(new EmbeddedChannel()).execute(step("proof " + i));
            }
            old.execute(step("the first goes on"));
            queue.of(new EmbeddedChannel(), false).execute(step("second"));
            go.countDown();

            assertThat(done(5)).containsExactly("proof 1", "the first goes on", "proof 2", "second", "proof 3");
        }
    }

    @Test
    void connectionsThatAreGoneCostNothing() throws InterruptedException {
        try (HandshakeQueue queue = new HandshakeQueue(1, (what, cause) -> defects.add(cause))) {
            blocked(queue);
            EmbeddedChannel gone = new EmbeddedChannel();
            queue.of(new EmbeddedChannel(), false).execute(step("stays"));
            queue.of(gone, false).execute(step("gone"));
            assertThat(gone.close().isDone()).isTrue();
            go.countDown();
            assertThat(done(1)).containsExactly("stays");

            queue.of(new EmbeddedChannel(), false).execute(step("later"));
            assertThat(done(1)).containsExactly("later");
        }
    }

    @Test
    void connectionsThatAreGoneDoNotPileUpBehindThoseThatCome() throws InterruptedException {
        try (HandshakeQueue queue = new HandshakeQueue(1, (what, cause) -> defects.add(cause))) {
            blocked(queue);
            for (int i = 0; i < 10 * HandshakeQueue.OPEN_MAX; i++) {
                EmbeddedChannel connection = new EmbeddedChannel();
                queue.of(connection, false).execute(step("gone"));
                assertThat(connection.close().isDone()).isTrue();
            }
            assertThat(queue.size()).isLessThanOrEqualTo(HandshakeQueue.OPEN_MAX);
            queue.of(new EmbeddedChannel(), false).execute(step("stays"));
            go.countDown();
            assertThat(done(1)).containsExactly("stays");
        }
    }

    @Test
    void aStepThatFailsEndsNoThread() throws InterruptedException {
        try (HandshakeQueue queue = new HandshakeQueue(1, (what, cause) -> defects.add(cause))) {
            queue.of(new EmbeddedChannel(), false).execute(() -> {
                throw new IllegalStateException("not expected");
            });
            queue.of(new EmbeddedChannel(), false).execute(step("next"));
            assertThat(done(1)).containsExactly("next");
        }
    }

    @Test
    void anErrorIsADefectAndEndsNoThreadEither() throws InterruptedException {
        try (HandshakeQueue queue = new HandshakeQueue(1, (what, cause) -> defects.add(cause))) {
            Error error = new StackOverflowError("planted");
            queue.of(new EmbeddedChannel(), false).execute(() -> {
                throw error;
            });
            queue.of(new EmbeddedChannel(), false).execute(step("next"));
            assertThat(done(1)).containsExactly("next");
            assertThat(defects).containsExactly(error);
        }
    }

    /** A handshake whose first step holds the only thread until {@link #go}. */
    private Executor blocked(HandshakeQueue queue) throws InterruptedException {
        CountDownLatch runs = new CountDownLatch(1);
        Executor first = queue.of(new EmbeddedChannel(), false);
        first.execute(() -> {
            runs.countDown();
            try {
                go.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        runs.await();
        return first;
    }

    private Runnable step(String name) {
        return () -> done.add(name);
    }

    private List<String> done(int count) throws InterruptedException {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add(done.take());
        }
        return names;
    }
}
