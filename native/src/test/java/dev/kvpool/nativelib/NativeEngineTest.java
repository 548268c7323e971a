// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
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
    void closingIsIdempotentAndLaterCallsThrow() {
        here.close();
        here.close();

        assertThatThrownBy(here::stats).isInstanceOf(KvException.class).hasMessageContaining("is closed");
        assertThatThrownBy(() -> here.probe(peer, TIMEOUT)).isInstanceOf(KvException.class);
    }
}
