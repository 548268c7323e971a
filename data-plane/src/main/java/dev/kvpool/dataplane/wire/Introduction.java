// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire;

import dev.kvpool.dataplane.wire.codec.AnswerDecoder;
import dev.kvpool.dataplane.wire.codec.MalformedMessageException;
import dev.kvpool.dataplane.wire.codec.MessageEncoder;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Answer;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** A Hello over a plain socket, for those who only want to know who is there. Blocks as long as its streams do. */
public final class Introduction {
    private Introduction() {}

    /**
     * Says who we are, and reads who answers.
     *
     * @throws EOFException when the other side closes before it answered
     * @throws IOException when the connection fails, or the answer is none of kvpool's
     */
    public static Answer exchange(InputStream from, OutputStream to, Hello hello) throws IOException {
        to.write(frame(hello));
        DataInputStream in = new DataInputStream(from);
        int length = Integer.reverseBytes(in.readInt());
        int checksum = Integer.reverseBytes(in.readInt());
        if (length < 0 || length > Frame.HELLO_BYTES_MAX) {
            throw new IOException("the answer is not from kvpool: a first frame of " + Integer.toUnsignedString(length)
                    + " bytes, at most " + Frame.HELLO_BYTES_MAX + " may be");
        }
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException("the answer ends after " + body.length + " of " + length + " bytes");
        }
        if (checksum(body, length) != checksum) {
            throw new IOException("the answer is not from kvpool: its checksum is wrong");
        }
        try {
            return new AnswerDecoder().decode(new UnsafeBuffer(body));
        } catch (MalformedMessageException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static byte[] frame(Hello hello) {
        ExpandableArrayBuffer body = new ExpandableArrayBuffer();
        int length = new MessageEncoder().encode(hello, body);
        return ByteBuffer.allocate(Frame.HEADER_BYTES + length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(length)
                .putInt(checksum(body.byteArray(), length))
                .put(body.byteArray(), 0, length)
                .array();
    }

    private static int checksum(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }
}
