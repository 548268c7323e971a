// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.fuzz.FuzzRuns;
import dev.kvpool.dataplane.wire.codec.FullPeerEncoder;
import dev.kvpool.dataplane.wire.codec.MalformedMessageException;
import dev.kvpool.dataplane.wire.codec.SampleMessages;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Streams of bytes as strangers may send them, cut anywhere; as {@link FuzzRuns} says. */
class FrameFuzzTest {
    /** What the fuzzer of the library's own decoder begins with: a byte, and a stream. */
    private static final Path CORPUS = Path.of("../native/test/fuzz/corpus/frame_decoder");

    private static final int FRAME_BYTES_MIN = Frame.HEADER_BYTES + 8;

    /** What came out of a stream, up to where it was refused. */
    private record Read(List<Object> messages, boolean refused) {}

    @Test
    void streamsAreReadOrRefusedHoweverTheyAreCut() throws IOException {
        List<byte[]> samples = new ArrayList<>(streams());
        try (DirectoryStream<Path> files = Files.newDirectoryStream(CORPUS)) {
            files.forEach(file -> samples.add(stream(file)));
        }

        int count = new FuzzRuns(samples, MalformedMessageException.class)
                .oneOf(4)
                .allocating(256)
                .run(input -> {
                    Read whole = read(input, input.length, true);
                    Read cut = read(input, 1 + new SplittableRandom(Arrays.hashCode(input)).nextInt(64), true);
                    Read early = read(input, input.length, false);

                    if (!whole.equals(cut)) {
                        throw new AssertionError("cut, it is read as " + cut + " instead of " + whole);
                    }
                    if (early.messages().size() > whole.messages().size()) {
                        throw new AssertionError("more is read before the Hello than after it");
                    }
                    if ((long) whole.messages().size() * FRAME_BYTES_MIN > input.length) {
                        throw new AssertionError("more messages than there are bytes for");
                    }
                    if (whole.refused()) {
                        throw new MalformedMessageException("as it should be");
                    }
                });

        assertThat(count).isPositive();
    }

    /** A checksum of random bytes never fits: the frame is right, and what is in it is not. */
    @Test
    void wrongBodiesInRightFramesAreReadOrRefused() {
        List<byte[]> samples = SampleMessages.RECEIVED.stream()
                .map(message -> new FullPeerEncoder().encode(message))
                .toList();

        int count = new FuzzRuns(samples, MalformedMessageException.class)
                .oneOf(4)
                .allocating(128)
                .run(body -> {
                    byte[] frame = PeerSocket.frame(body);
                    Read read = read(joined(List.of(frame, frame)), 1 << 10, true);

                    if (read.refused()) {
                        if (!read.messages().isEmpty()) {
                            throw new AssertionError("the same frame was read and then refused");
                        }
                        throw new MalformedMessageException("as it should be");
                    }
                    assertThat(read.messages()).hasSize(2);
                });

        assertThat(count).isPositive();
    }

    @Test
    void whatAnswersAHelloIsReadOrRefused() {
        List<byte[]> samples = SampleMessages.SENT.subList(0, 2).stream()
                .map(message -> PeerSocket.frame(new FullPeerEncoder().encode(message)))
                .toList();

        new FuzzRuns(samples, IOException.class)
                .oneOf(2)
                .run(input -> Introduction.exchange(
                        new ByteArrayInputStream(input), OutputStream.nullOutputStream(), SampleMessages.HELLO));
    }

    private static Read read(byte[] input, int pieceBytes, boolean welcome) {
        FrameDecoder decoder = new FrameDecoder();
        if (welcome) {
            decoder.welcome();
        }
        EmbeddedChannel channel = new EmbeddedChannel(decoder);
        boolean refused = false;
        try {
            for (int at = 0; at < input.length; at += pieceBytes) {
                int length = Math.min(pieceBytes, input.length - at);
                refused |= !write(channel, Unpooled.copiedBuffer(input, at, length));
            }
            List<Object> messages = new ArrayList<>();
            for (Object message = channel.readInbound(); message != null; message = channel.readInbound()) {
                messages.add(message);
            }
            return new Read(messages, refused);
        } finally {
            channel.finishAndReleaseAll();
        }
    }

    private static boolean write(EmbeddedChannel channel, Object bytes) {
        try {
            channel.writeInbound(bytes);
            return true;
        } catch (DecoderException e) {
            if (e.getCause() instanceof MalformedMessageException) {
                return false;
            }
            throw e;
        }
    }

    private static List<byte[]> streams() {
        List<byte[]> frames = SampleMessages.RECEIVED.stream()
                .map(message -> PeerSocket.frame(new FullPeerEncoder().encode(message)))
                .toList();
        List<byte[]> streams = new ArrayList<>(frames);
        streams.add(joined(frames));
        return streams;
    }

    private static byte[] stream(Path file) {
        try {
            byte[] bytes = Files.readAllBytes(file);
            return Arrays.copyOfRange(bytes, Math.min(1, bytes.length), bytes.length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] joined(List<byte[]> parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        parts.forEach(out::writeBytes);
        return out.toByteArray();
    }
}
