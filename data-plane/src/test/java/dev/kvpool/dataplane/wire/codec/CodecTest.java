// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.wire.PutOutcome;
import java.util.Arrays;
import java.util.List;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

class CodecTest {
    private final FullPeerEncoder peerEncoder = new FullPeerEncoder();
    private final MessageDecoder decoder = new MessageDecoder();

    @Test
    void whatPeersSendIsReadAsItWasMeant() throws Exception {
        for (Message message : SampleMessages.RECEIVED) {
            byte[] body = peerEncoder.encode(message);

            assertThat(decode(body)).isEqualTo(message);
        }
    }

    @Test
    void whatAMasterSendsIsReadAsItWasMeant() {
        for (Message message : SampleMessages.SENT) {
            ExpandableArrayBuffer buffer = new ExpandableArrayBuffer();
            int length = new MessageEncoder().encode(message, buffer);

            assertThat(new PeerDecoder().decode(Arrays.copyOf(buffer.byteArray(), length)))
                    .isEqualTo(message);
        }
    }

    @Test
    void everyTruncationIsMalformedAndNothingElse() {
        for (Message message : SampleMessages.RECEIVED) {
            byte[] body = peerEncoder.encode(message);
            for (int length = 0; length < body.length; length++) {
                byte[] cut = Arrays.copyOf(body, length);

                assertThatThrownBy(() -> decode(cut))
                        .as("%s cut to %d bytes", message, length)
                        .isInstanceOf(MalformedMessageException.class);
            }
        }
    }

    @Test
    void aLengthBeyondTheFrameIsRefusedWithoutReservingIt() {
        byte[] body = peerEncoder.encode(new LookupRequest(1, List.of(Key.of("k"))));
        new UnsafeBuffer(body).putInt(body.length - 5, Integer.MAX_VALUE);

        assertThatThrownBy(() -> decode(body)).isInstanceOf(MalformedMessageException.class);
    }

    @Test
    void messagesOfAnotherSchemaAndUnknownOnesAreNamed() {
        byte[] body = peerEncoder.encode(new Heartbeat());
        UnsafeBuffer view = new UnsafeBuffer(body);
        view.putShort(2, (short) 999);
        assertThatThrownBy(() -> decode(body)).hasMessageContaining("template 999");

        view.putShort(4, (short) 1);
        assertThatThrownBy(() -> decode(body)).hasMessageContaining("schema 1 is not 7205");
    }

    @Test
    void aBlockShorterThanItsFieldsIsRefused() {
        byte[] body = peerEncoder.encode(new SnapshotEnd(1, 2));
        new UnsafeBuffer(body).putShort(0, (short) 8);

        assertThatThrownBy(() -> decode(body)).hasMessageContaining("block of 8 bytes, less than 16");
    }

    /** Or a message of a few bytes would be 65535 lines, and one of a frame's length enough of them to take all memory. */
    @Test
    void linesOfAGroupShorterThanTheirFieldsAreRefused() {
        byte[] body = peerEncoder.encode(
                new PublishRequest(1, List.of(new Put(ObjectId.NONE, PutOutcome.WRITTEN, List.of(1L), Key.of("k")))));
        int replicas = body.length - 1 - Integer.BYTES - Long.BYTES - Integer.BYTES;
        UnsafeBuffer view = new UnsafeBuffer(body);
        assertThat(view.getShort(replicas)).isEqualTo((short) Long.BYTES);
        view.putShort(replicas, (short) 0);
        view.putShort(replicas + 2, (short) 0xFFFF);

        assertThatThrownBy(() -> decode(body))
                .isInstanceOf(MalformedMessageException.class)
                .cause()
                .hasMessageContaining("has 0 bytes, less than 8");
    }

    private Message decode(byte[] body) throws MalformedMessageException {
        return decoder.decode(new UnsafeBuffer(body), 0, body.length);
    }
}
