// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.fuzz.FuzzRuns;
import dev.kvpool.dataplane.wire.message.Message;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Bodies of frames as strangers may send them; as {@link FuzzRuns} says. */
class DecoderFuzzTest {
    /** A field has at least one byte; the flags in one byte are read one by one. */
    private static final long READS_PER_BYTE = 4;

    private static final long READS_ANYWAY = 64;

    @Test
    void whatPeersSendIsReadOrRefused() {
        CountedView view = new CountedView();
        MessageDecoder decoder = new MessageDecoder(view);
        Set<Class<?>> read = new HashSet<>();
        List<byte[]> samples = encoded(SampleMessages.RECEIVED);

        int count = new FuzzRuns(samples, MalformedMessageException.class).run(input -> {
            view.allow(READS_ANYWAY + READS_PER_BYTE * input.length);
            read.add(decoder.decode(new UnsafeBuffer(input), 0, input.length).getClass());
        });

        assertThat(count).isPositive();
        SampleMessages.RECEIVED.forEach(message -> assertThat(read).contains(message.getClass()));
    }

    @Test
    void answersToAHelloAreReadOrRefused() {
        List<byte[]> samples = encoded(SampleMessages.SENT);
        samples.addAll(encoded(SampleMessages.RECEIVED.subList(0, 1)));
        AnswerDecoder decoder = new AnswerDecoder();

        // Mutations of what is no answer at all are refused by their template.
        int count = new FuzzRuns(samples.subList(0, 2), MalformedMessageException.class)
                .run(input -> decoder.decode(new UnsafeBuffer(input)));
        new FuzzRuns(samples, MalformedMessageException.class)
                .oneOf(4)
                .run(input -> decoder.decode(new UnsafeBuffer(input)));

        assertThat(count).isPositive();
    }

    private static List<byte[]> encoded(List<Message> messages) {
        List<byte[]> bodies = new ArrayList<>();
        for (Message message : messages) {
            bodies.add(
                    SampleMessages.RECEIVED.contains(message) ? new FullPeerEncoder().encode(message) : sent(message));
        }
        return bodies;
    }

    private static byte[] sent(Message message) {
        ExpandableArrayBuffer buffer = new ExpandableArrayBuffer();
        int length = new MessageEncoder().encode(message, buffer);
        return Arrays.copyOf(buffer.byteArray(), length);
    }
}
