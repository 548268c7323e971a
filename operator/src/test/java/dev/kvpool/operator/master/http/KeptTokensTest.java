// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeptTokensTest {
    private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration LIFE = Duration.ofMinutes(100);
    private static final int ASKERS = 8;

    private final AtomicInteger made = new AtomicInteger();
    private Instant now = BEGIN;
    private boolean refuses;

    private TokenIssuer.Issued issue(String audience) throws IOException {
        int number = made.incrementAndGet();
        if (refuses) {
            throw new IOException("no token for " + audience);
        }
        return new TokenIssuer.Issued(audience + "-" + number, now.plus(LIFE));
    }

    private KeptTokens tokens() {
        return new KeptTokens(this::issue, () -> now);
    }

    @Test
    void eachAudienceHasOneThatIsUsedUntilItIsOld() throws IOException {
        KeptTokens tokens = tokens();
        assertThat(tokens.token("one")).isEqualTo("one-1");
        assertThat(tokens.token("two")).isEqualTo("two-2");
        now = BEGIN.plus(Duration.ofMinutes(69));
        assertThat(tokens.token("one")).isEqualTo("one-1");
        now = BEGIN.plus(Duration.ofMinutes(80));
        assertThat(tokens.token("one")).isEqualTo("one-3");
    }

    @Test
    void thoseOfManyPoolsAreNotMadeAgainAtOneTime() throws IOException {
        KeptTokens tokens = tokens();
        for (int pool = 0; pool < 1000; pool++) {
            tokens.token("pool-" + pool);
        }
        List<Integer> aMinute = new ArrayList<>();
        for (int minute = 70; minute <= 80; minute++) {
            now = BEGIN.plus(Duration.ofMinutes(minute));
            int before = made.get();
            for (int pool = 0; pool < 1000; pool++) {
                tokens.token("pool-" + pool);
            }
            aMinute.add(made.get() - before);
        }
        assertThat(aMinute).allSatisfy(tokensMade -> assertThat(tokensMade).isBetween(1, 300));
        assertThat(made.get()).isEqualTo(2000);
    }

    @ParameterizedTest
    @CsvSource({"90, one-1", "99, one-1", "100, -"})
    void whileNoneCanBeHadTheLastOneIsGoodUntilItsEnd(int minutes, String token) throws IOException {
        KeptTokens tokens = tokens();
        tokens.token("one");
        now = BEGIN.plus(Duration.ofMinutes(minutes));
        refuses = true;

        if (token.equals("-")) {
            assertThatThrownBy(() -> tokens.token("one"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("no token for one");
        } else {
            assertThat(tokens.token("one")).isEqualTo(token);
        }
        assertThat(made).as("each look asks for one again").hasValue(2);
        refuses = false;
        assertThat(tokens.token("one")).isEqualTo("one-3");
    }

    @Test
    void oneThatAMasterRefusedIsNotShownAgain() throws IOException {
        KeptTokens tokens = tokens();
        tokens.token("one");
        tokens.token("two");
        tokens.refused("one-1");
        tokens.refused("one-0");

        assertThat(tokens.token("one")).isEqualTo("one-3");
        assertThat(tokens.token("two")).isEqualTo("two-2");
    }

    @Test
    void allWhoAskAtOnceGetTheSame() {
        CyclicBarrier all = new CyclicBarrier(ASKERS);
        KeptTokens tokens = tokens();
        List<Future<String>> got = atOnce(() -> {
            all.await();
            return tokens.token("shared");
        });

        assertThat(got.stream().map(Future::resultNow)).containsOnly("shared-1");
        assertThat(made).hasValue(1);
    }

    @Test
    void aFailureIsThatOfAllWhoWaitForIt() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch may = new CountDownLatch(1);
        KeptTokens tokens = new KeptTokens(
                audience -> {
                    made.incrementAndGet();
                    asked.countDown();
                    awaitOrFail(may);
                    throw new IOException("the API server is busy");
                },
                () -> now,
                Duration.ofMinutes(1));
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<String> first = threads.submit(() -> tokens.token("one"));
            asked.await();
            Thread other = Thread.ofPlatform()
                    .start(() -> assertThatThrownBy(() -> tokens.token("one")).hasMessage("the API server is busy"));
            while (other.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            may.countDown();
            other.join();
            assertThatThrownBy(first::get).hasRootCauseMessage("the API server is busy");
        }
        assertThat(made).hasValue(1);
    }

    @Test
    void oneThatIsMadeForAnotherIsNotWaitedForWithoutEnd() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch may = new CountDownLatch(1);
        KeptTokens tokens = new KeptTokens(
                audience -> {
                    asked.countDown();
                    awaitOrFail(may);
                    return issue(audience);
                },
                () -> now,
                Duration.ofMillis(20));
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<String> first = threads.submit(() -> tokens.token("one"));
            asked.await();
            assertThatThrownBy(() -> tokens.token("one"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("the API server has given no token within 20 ms");
            may.countDown();
            assertThat(first.get()).isEqualTo("one-1");
        }
    }

    private static void awaitOrFail(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static List<Future<String>> atOnce(Callable<String> question) {
        try (ExecutorService threads = Executors.newFixedThreadPool(ASKERS)) {
            return IntStream.range(0, ASKERS)
                    .mapToObj(asker -> threads.submit(question))
                    .toList();
        }
    }
}
