// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemoryLayout.PathElement;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The typed API over a library whose answers the test chooses: codes become exceptions, closed stays closed. */
class NativeApiTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final FakeLibrary library = new FakeLibrary();

    @Test
    void aLibraryOfAnotherAbiIsRefusedNamingBoth() {
        library.abi = 7;

        assertThatThrownBy(() -> LoadedLibrary.requireOurAbi(library))
                .hasMessageContainingAll("/old/libkvpool.so", "ABI 7", "ABI 1", "jna.library.path")
                .extracting("status")
                .isEqualTo(Status.TOO_OLD);
    }

    @Test
    void aFailedStartGivesTheSentenceOfTheLibrary() {
        library.startStatus = Status.NO_SPACE.code();
        library.startError = "no room für 4 GiB in /dev/shm";

        assertThatThrownBy(() -> NativeNode.start(library, node()))
                .hasMessage("cannot start storage node demo-0: no room für 4 GiB in /dev/shm (KV_NO_SPACE)")
                .extracting("status")
                .isEqualTo(Status.NO_SPACE);
    }

    @Test
    void aFailureWithoutSentenceGivesTheTextOfItsStatus() {
        library.startStatus = Status.IO.code();

        assertThatThrownBy(() -> NativeNode.start(library, node()))
                .hasMessageContaining(Status.IO.text())
                .hasMessageContaining("KV_IO");
    }

    @Test
    void aStatusThisReleaseDoesNotKnowIsADefectThatNamesTheNumber() {
        library.startStatus = -777;

        assertThatThrownBy(() -> NativeNode.start(library, node()))
                .hasMessageContaining("unknown status -777")
                .extracting("status")
                .isEqualTo(Status.INTERNAL);
    }

    @Test
    void aClosedNodeThrowsInsteadOfTouchingFreedMemory() {
        NativeNode node = NativeNode.start(library, node());

        node.close();
        node.close();

        assertThat(library.destroyed).isEqualTo(1);
        assertClosed(node::stats, "storage node demo-0 is closed");
    }

    @Test
    void aClosedClientThrowsInsteadOfTouchingFreedMemory() {
        NativeClient client = NativeClient.connect(library, ClientParameters.of("localhost:50051"));

        client.close();
        client.close();

        assertThat(library.destroyed).isEqualTo(1);
        assertClosed(client::explain, "client is closed");
        assertClosed(() -> client.exists(List.of("key"), SECOND), "client is closed");
    }

    @Test
    void aRefusedBatchNamesItsSizeAndTheExplanation() {
        try (NativeClient client = NativeClient.connect(library, ClientParameters.of("localhost:50051"))) {
            assertThatThrownBy(() -> client.exists(List.of("a", "b"), SECOND))
                    .hasMessageContainingAll("batch of 2 keys", "node demo-0 said no", "KV_QUEUE_FULL");
        }
    }

    @Test
    void whatABatchAsksForReachesTheLibrary() {
        try (NativeClient client = NativeClient.connect(library, ClientParameters.of("localhost:50051"))) {
            assertThatThrownBy(() -> client.remove(List.of("a"), true, SECOND)).hasMessageContaining("KV_QUEUE_FULL");
        }

        ByteBuffer options = ByteBuffer.wrap(library.submittedOptions).order(ByteOrder.nativeOrder());
        assertThat(options.getInt(field("struct_size"))).isEqualTo(64);
        assertThat(options.getInt(field("flags"))).isEqualTo(OpCode.FLAG_FORCE);
        assertThat(options.getInt(field("timeout_ms"))).isEqualTo(1000);
    }

    private static int field(String name) {
        return (int) Layouts.BATCH_OPTIONS.byteOffset(PathElement.groupElement(name));
    }

    @Test
    void anEmptyBatchDoesNotReachTheLibrary() {
        try (NativeClient client = NativeClient.connect(library, ClientParameters.of("localhost:50051"))) {
            assertThat(client.exists(List.of(), SECOND)).isEmpty();
            assertThat(client.get(List.of(), SECOND)).isEmpty();
        }
    }

    @Test
    void whatWouldChangeItsMeaningInCIsRefused() {
        assertInvalid(new NodeChange().nodeId("demo\0-0"), "node id holds a NUL");
        assertInvalid(new NodeChange().listenPort(70000), "listen port", "70000");
        assertInvalid(new NodeChange().listenPort(-1), "listen port", "-1");
        assertInvalid(new NodeChange().segmentBytes(-1), "segment size is negative");
        assertInvalid(new NodeChange().transferTimeout(Duration.ZERO), "transfer timeout");
        assertInvalid(new NodeChange().transferTimeout(Duration.ofDays(365)), "transfer timeout", "ms");
        assertInvalid(new NodeChange().idleTimeout(Duration.ZERO), "idle timeout");
    }

    private void assertInvalid(NodeChange change, String... parts) {
        assertThatThrownBy(() -> NativeNode.start(library, change.parameters()))
                .hasMessageContainingAll(parts)
                .extracting("status")
                .isEqualTo(Status.INVALID_ARGUMENT);
    }

    private static void assertClosed(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .asInstanceOf(InstanceOfAssertFactories.type(KvException.class))
                .satisfies(e -> assertThat(e.status()).isEqualTo(Status.CLOSED))
                .satisfies(e -> assertThat(e).hasMessage(message));
    }

    private static NodeParameters node() {
        return new NodeChange().parameters();
    }

    /** Good parameters of a node with some of them changed. */
    private static final class NodeChange {
        private String nodeId = "demo-0";
        private int listenPort;
        private long segmentBytes = 64L << 20;
        private Duration transferTimeout = SECOND;
        private Duration idleTimeout = SECOND;

        NodeChange nodeId(String value) {
            nodeId = value;
            return this;
        }

        NodeChange listenPort(int value) {
            listenPort = value;
            return this;
        }

        NodeChange segmentBytes(long value) {
            segmentBytes = value;
            return this;
        }

        NodeChange transferTimeout(Duration value) {
            transferTimeout = value;
            return this;
        }

        NodeChange idleTimeout(Duration value) {
            idleTimeout = value;
            return this;
        }

        NodeParameters parameters() {
            return new NodeParameters(
                    new UUID(1, 2),
                    nodeId,
                    "localhost:50051",
                    null,
                    listenPort,
                    "localhost",
                    Path.of("/tmp"),
                    segmentBytes,
                    Set.of(),
                    SECOND,
                    transferTimeout,
                    idleTimeout,
                    "0.1.0",
                    "zone-a",
                    1 << 20,
                    "interleave",
                    false,
                    true,
                    "/mnt/ssd",
                    1L << 30,
                    "",
                    1L << 28,
                    "/etc/key",
                    new TlsParameters("/etc/tls", TlsParameters.Mode.PERMISSIVE),
                    Payloads.AUTHENTICATED,
                    true);
        }
    }
}
