// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.wire.codec.MalformedMessageException;
import dev.kvpool.dataplane.wire.codec.MessageDecoder;
import dev.kvpool.dataplane.wire.codec.MessageEncoder;
import dev.kvpool.dataplane.wire.message.Message;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** The production codecs, over arrays. */
final class MessageBytes {
    private final MessageDecoder decoder = new MessageDecoder();
    private final MessageEncoder encoder = new MessageEncoder();
    private final ExpandableArrayBuffer out = new ExpandableArrayBuffer();

    Message decode(byte[] body, String reader) {
        try {
            return decoder.decode(new UnsafeBuffer(body), 0, body.length);
        } catch (MalformedMessageException e) {
            throw new AssertionError("a production core sent what " + reader + " cannot read", e);
        }
    }

    byte[] encode(Message message) {
        byte[] body = new byte[encoder.encode(message, out)];
        out.getBytes(0, body);
        return body;
    }
}
