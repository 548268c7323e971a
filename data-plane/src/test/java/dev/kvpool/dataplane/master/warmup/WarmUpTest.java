// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.warmup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.cert.IssuedDirectory;
import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.peer.PoolTls;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManager;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The pool that a master practises on, and for how long it does. */
@Timeout(60)
class WarmUpTest {
    /** The pool keeps two copies; the scratch pool has one node and must do with one. */
    private static final CoreSettings RULES = PlainSettings.of("master-0", 10_000, 0.9, 0.85, 2, 30_000, 1L << 28);

    /** More objects than the scratch node has slots, so that each must be freed again. */
    private static final int ROUNDS = 200;

    @Test
    void aScratchPoolDoesWhatALeaderDoesAndKeepsNothing() {
        long objects = (long) ROUNDS * ScratchPool.BATCH;
        try (ScratchPool pool = new ScratchPool(RULES, WarmUpTest::clockMs)) {
            for (int i = 0; i < ROUNDS; i++) {
                pool.round();
            }

            PoolStatus status = pool.status();
            assertThat(status.state()).isEqualTo(PoolStatus.State.SERVING);
            assertThat(status.objects()).isZero();
            assertThat(status.grantsUnderWay()).isZero();
            assertThat(status.tombstones()).isZero();
            for (Count count : new Count[] {Count.PUTS, Count.LOOKUP_HITS, Count.EXISTS_HITS, Count.REMOVED}) {
                assertThat(status.counters().get(count)).as(count.name()).isEqualTo(objects);
            }
        }
    }

    @Test
    void aBudgetEndsIt() throws InterruptedException {
        WarmUp warmUp = WarmUp.start(
                RULES, WarmUpTest::clockMs, Duration.ofMillis(500), () -> false, () -> false, () -> 0, Optional::empty);

        end(warmUp);

        assertThat(warmUp.batches()).isPositive();
    }

    @Test
    void withoutABudgetThereIsNone() throws InterruptedException {
        WarmUp warmUp = WarmUp.start(
                RULES, WarmUpTest::clockMs, Duration.ZERO, () -> false, () -> false, () -> 0, Optional::empty);

        warmUp.await();

        assertThat(warmUp.batches()).isZero();
    }

    @Test
    void aMasterThatEndsEndsIt() throws InterruptedException {
        WarmUp warmUp = WarmUp.start(
                RULES, WarmUpTest::clockMs, Duration.ofHours(1), () -> false, () -> false, () -> 0, Optional::empty);

        warmUp.close();

        warmUp.await();
    }

    @Test
    void itWaitsWhileItsMasterIsBusy() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(3);
        WarmUp warmUp = WarmUp.start(
                RULES,
                WarmUpTest::clockMs,
                Duration.ofHours(1),
                () -> {
                    asked.countDown();
                    return true;
                },
                () -> false,
                () -> 0,
                Optional::empty);

        asked.await();
        warmUp.close();
        warmUp.await();

        assertThat(warmUp.batches()).isZero();
    }

    /** Their handshakes have Java take compiled code back, which a takeover would else have it compile. */
    @Test
    void whenManyPeersHaveComeItWarmsUpAgain() throws InterruptedException {
        AtomicLong opened = new AtomicLong();
        AtomicBoolean takesOver = new AtomicBoolean(true);
        WarmUp warmUp = WarmUp.start(
                RULES,
                WarmUpTest::clockMs,
                Duration.ofMillis(200),
                () -> false,
                takesOver::get,
                opened::get,
                Optional::empty);
        soon().until(() -> warmUp.times() == 1);

        opened.set(WarmUp.MANY - 1);
        soon().during(Duration.ofMillis(2 * WarmUp.LOOK_MS)).until(() -> warmUp.times() == 1);
        opened.set(WarmUp.MANY);
        soon().during(Duration.ofMillis(3 * WarmUp.LOOK_MS)).until(() -> warmUp.times() == 1);
        takesOver.set(false);
        soon().until(() -> warmUp.times() == 2);

        warmUp.close();
        warmUp.await();
    }

    @Test
    void withTlsItShakesHandsAsWell(@TempDir Path folder) throws Exception {
        Optional<TlsContext> tls = Optional.of(own(folder));
        try (ScratchHandshake handshake = new ScratchHandshake(tls.get())) {
            assertThat(handshake.run()).isEqualTo(ScratchHandshake.MESSAGES);
        }
        WarmUp warmUp = WarmUp.start(
                RULES, WarmUpTest::clockMs, Duration.ofMillis(500), () -> false, () -> false, () -> 0, () -> tls);

        end(warmUp);

        assertThat(warmUp.handshakes()).isPositive();
        assertThat(warmUp.handshakes()).isEqualTo(warmUp.batches());
    }

    /** Which is not the warm-up's to tell. */
    @Test
    void aCertificateThatIsNotGoodAtBothEndsIsTriedOnce(@TempDir Path folder) throws Exception {
        Optional<TlsContext> stranger = Optional.of(believingAnother(folder));
        try (ScratchHandshake handshake = new ScratchHandshake(stranger.get())) {
            assertThat(handshake.run()).isZero();
        }
        WarmUp warmUp = WarmUp.start(
                RULES, WarmUpTest::clockMs, Duration.ofMillis(500), () -> false, () -> false, () -> 0, () -> stranger);

        end(warmUp);

        assertThat(warmUp.handshakes()).isZero();
        assertThat(warmUp.batches()).isPositive();
    }

    private static ConditionFactory soon() {
        return await().atMost(Duration.ofSeconds(50));
    }

    private static void end(WarmUp warmUp) throws InterruptedException {
        soon().until(() -> warmUp.times() == 1);
        warmUp.close();
        warmUp.await();
    }

    private static TlsContext own(Path folder) throws Exception {
        CertificateAuthority authority = authority();
        return read(folder, authority, authority);
    }

    private static TlsContext believingAnother(Path folder) throws Exception {
        return read(folder, authority(), authority());
    }

    private static CertificateAuthority authority() {
        return CertificateAuthority.create(UUID.randomUUID(), Instant.now(), Duration.ofDays(1));
    }

    private static TlsContext read(Path folder, CertificateAuthority by, CertificateAuthority believed)
            throws Exception {
        IssuedDirectory.write(
                folder,
                by,
                by.issue(
                        PeerName.ofPath(by.poolId(), "master/master-0"),
                        List.of(),
                        Instant.now(),
                        Duration.ofHours(1)));
        TlsContext issued = TlsContext.read(folder, Instant.now());
        return new TlsContext(
                issued.credentials(),
                PoolTls.context(new KeyManager[] {issued.keys()}, PoolTls.trust(List.of(believed.certificate()))),
                issued.keys(),
                PoolTls.trust(List.of(believed.certificate())));
    }

    private static long clockMs() {
        return System.nanoTime() / 1_000_000;
    }
}
