// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.Key;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Copies variable-length fields out of a message; a length is checked against the bytes there are before it is used. */
final class VarData {
    private final UnsafeBuffer view = new UnsafeBuffer(0, 0);

    /** @param field the generated {@code wrapX} of the field, which checks its length against the buffer */
    byte[] bytes(Consumer<DirectBuffer> field) {
        field.accept(view);
        byte[] copy = new byte[view.capacity()];
        view.getBytes(0, copy);
        return copy;
    }

    Key key(Consumer<DirectBuffer> field) {
        return Key.of(bytes(field));
    }

    String text(Consumer<DirectBuffer> field) {
        return new String(bytes(field), StandardCharsets.UTF_8);
    }
}
