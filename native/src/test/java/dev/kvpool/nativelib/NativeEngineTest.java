// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two transfer engines of the real library in this process, on loopback. */
class NativeEngineTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final EngineParameters LOCAL = EngineParameters.standard().listeningOn("127.0.0.1");

    private final Arena arena = Arena.ofShared();
    private final NativeEngine here = NativeEngine.start(LOCAL);
    private final NativeEngine there = NativeEngine.start(LOCAL);
    private final String peer = "127.0.0.1:" + there.stats().listenPort();

    @AfterEach
    void close() {
        here.close();
        there.close();
        arena.close();
    }

    @Test
    void writesAndReadsWhatIsRegistered() {
        MemorySegment remote = arena.allocate(1 << 20);
        MemorySegment sent = arena.allocate(1 << 20).fill((byte) 7);
        MemorySegment got = arena.allocate(1 << 20);
        there.register(List.of(remote));

        assertThat(here.write(List.of(new Transfer(peer, sent, remote.address())), TIMEOUT))
                .containsExactly(Status.OK);
        assertThat(here.read(List.of(new Transfer(peer, got, remote.address())), TIMEOUT))
                .containsExactly(Status.OK);

        assertThat(remote.mismatch(sent)).isEqualTo(-1);
        assertThat(got.mismatch(sent)).isEqualTo(-1);
        assertThat(here.stats().writeBytes()).isEqualTo(1 << 20);
        assertThat(there.stats().servedReadBytes()).isEqualTo(1 << 20);
        assertThat(here.stats().batches()).isEqualTo(2);
        assertThat(here.stats().batchTime()).isPositive();
    }

    @Test
    void eachLineHasItsOwnAnswer() {
        MemorySegment remote = arena.allocate(4096);
        MemorySegment local = arena.allocate(4096);
        there.register(List.of(remote));

        List<Status> statuses = here.write(
                List.of(
                        new Transfer(peer, local, remote.address()),
                        new Transfer(peer, local, remote.address() + 1),
                        new Transfer("127.0.0.1:1", local, remote.address()),
                        new Transfer("nonsense", local, remote.address())),
                TIMEOUT);

        assertThat(statuses)
                .containsExactly(Status.OK, Status.NOT_REGISTERED, Status.CONNECT_FAILED, Status.INVALID_ARGUMENT);
        assertThat(here.explain()).isNotEmpty();
    }

    @Test
    void whatIsUnregisteredIsRefused() {
        MemorySegment remote = arena.allocate(4096);
        MemorySegment local = arena.allocate(4096);
        there.register(List.of(remote));
        there.unregister(List.of(remote));

        assertThat(here.write(List.of(new Transfer(peer, local, remote.address())), TIMEOUT))
                .containsExactly(Status.NOT_REGISTERED);
        assertThatThrownBy(() -> there.unregister(List.of(remote)))
                .isInstanceOf(KvException.class)
                .hasMessageContaining("no registered region begins")
                .hasMessageContaining("KV_NOT_REGISTERED");
    }

    @Test
    void notificationsComeWithTheBytes() {
        MemorySegment remote = arena.allocate(4096);
        there.register(List.of(remote));
        Notification told = new Notification("request", "ready".getBytes(StandardCharsets.UTF_8));

        here.write(List.of(new Transfer(peer, arena.allocate(4096), remote.address())), told, TIMEOUT);

        assertThat(there.nextNotification()).contains(told);
        assertThat(there.nextNotification()).isEmpty();
    }

    @Test
    void probesAndTellsItsTransports() {
        assertThat(here.probe(peer, TIMEOUT)).isEqualTo(Status.OK);
        assertThat(here.probe("127.0.0.1:1", TIMEOUT)).isEqualTo(Status.CONNECT_FAILED);
        assertThat(here.transports()).isEqualTo("tcp: used");
    }

    @Test
    void aProtocolThatIsNotThereIsRefused() {
        EngineParameters rdma = new EngineParameters(null, "rdma", null, 15000, 17000, null, null, null);

        assertThatThrownBy(() -> NativeEngine.start(rdma))
                .isInstanceOf(KvException.class)
                .hasMessageContaining("rdma: not installed");
    }

    @Test
    void memoryOfTheHeapIsRefused() {
        MemorySegment heap = MemorySegment.ofArray(new byte[16]);

        assertThatThrownBy(() -> new Transfer(peer, heap, 1)).hasMessageContaining("on the heap");
        assertThatThrownBy(() -> here.register(List.of(heap))).hasMessageContaining("on the heap");
    }

    @Test
    void aBatchThatWasSubmittedIsAskedForUntilItIsOver() {
        MemorySegment remote = arena.allocate(1 << 20);
        MemorySegment sent = arena.allocate(1 << 20).fill((byte) 9);
        MemorySegment got = arena.allocate(1 << 20);
        there.register(List.of(remote));

        TransferBatch write = here.submitWrite(
                List.of(new Transfer(peer, sent, remote.address()), new Transfer(peer, sent, remote.address() + 1)),
                new Notification("batch", new byte[0]),
                TIMEOUT);
        while (write.statuses().isEmpty()) {
            Thread.onSpinWait();
        }
        assertThat(write.statuses()).hasValue(List.of(Status.OK, Status.NOT_REGISTERED));
        assertThat(write.await()).containsExactly(Status.OK, Status.NOT_REGISTERED);

        TransferBatch read = here.submitRead(List.of(new Transfer(peer, got, remote.address())), TIMEOUT);
        read.close();
        read.close();
        assertThat(read.statuses()).hasValue(List.of(Status.OK));
        assertThat(got.mismatch(sent)).isEqualTo(-1);
    }

    @Test
    void aBatchThatRunsIsOverWhenItsEngineIsClosed() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            MemorySegment local = arena.allocate(4096);
            Transfer nowhere = new Transfer("127.0.0.1:" + silent.getLocalPort(), local, 1);
            TransferBatch batch = here.submitRead(List.of(nowhere), Duration.ofMinutes(10));
            assertThat(batch.statuses()).isEmpty();

            CompletableFuture<List<Status>> waiting = CompletableFuture.supplyAsync(batch::await);
            here.close();

            assertThat(waiting.get()).containsExactly(Status.CLOSED);
            assertThat(batch.statuses()).hasValue(List.of(Status.CLOSED));
            batch.close();
            batch.close();
        }
    }

    @Test
    void aBatchOfNothingIsOverAndOneAfterClosingIsRefused() {
        assertThat(here.submitWrite(List.of(), TIMEOUT).await()).isEmpty();
        here.close();
        assertThatThrownBy(() -> here.submitWrite(List.of(), TIMEOUT))
                .isInstanceOf(KvException.class)
                .hasMessageContaining("is closed");
    }

    @Test
    void closingIsIdempotentAndLaterCallsThrow() {
        here.close();
        here.close();

        assertThatThrownBy(here::stats).isInstanceOf(KvException.class).hasMessageContaining("is closed");
        assertThatThrownBy(() -> here.probe(peer, TIMEOUT)).isInstanceOf(KvException.class);
    }
}
