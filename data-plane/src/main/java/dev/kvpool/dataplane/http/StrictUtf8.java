// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Text of callers. What is no UTF-8 is told, never replaced: a replaced byte would name another key. */
final class StrictUtf8 {
    private StrictUtf8() {}

    /** The text; empty when the bytes are none. */
    static Optional<String> decode(byte[] bytes) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder() // reports what is malformed
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException _) {
            return Optional.empty();
        }
    }
}
