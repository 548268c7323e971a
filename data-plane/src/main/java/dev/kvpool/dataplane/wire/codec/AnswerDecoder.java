// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Answer;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.MessageHeaderDecoder;
import dev.kvpool.wire.RefusedDecoder;
import dev.kvpool.wire.VersionRangeDecoder;
import dev.kvpool.wire.WelcomeDecoder;
import java.util.UUID;
import org.agrona.DirectBuffer;

/** Reads what a Hello is answered with, for those who dial. */
public final class AnswerDecoder {
    private static final int SHORTEST = MessageHeaderDecoder.ENCODED_LENGTH + RefusedDecoder.BLOCK_LENGTH;

    private final VarData data = new VarData();

    /**
     * Reads one whole message.
     *
     * @throws MalformedMessageException when it is no whole Welcome or Refused
     */
    public Answer decode(DirectBuffer body) throws MalformedMessageException {
        if (body.capacity() < SHORTEST) {
            throw new MalformedMessageException(body.capacity() + " bytes are no answer to a Hello");
        }
        MessageHeaderDecoder header = new MessageHeaderDecoder().wrap(body, 0);
        try {
            return switch (header.templateId()) {
                case WelcomeDecoder.TEMPLATE_ID -> welcome(new WelcomeDecoder().wrapAndApplyHeader(body, 0, header));
                case RefusedDecoder.TEMPLATE_ID -> refused(new RefusedDecoder().wrapAndApplyHeader(body, 0, header));
                default -> throw new MalformedMessageException("template " + header.templateId() + " answers no Hello");
            };
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new MalformedMessageException("an answer to a Hello is cut short or wrong: " + e.getMessage(), e);
        }
    }

    private Welcome welcome(WelcomeDecoder it) {
        UUID pool = new UUID(it.poolId().high(), it.poolId().low());
        VersionRange wire = range(it.wire());
        VersionRange layout = range(it.layout());
        VersionRange abi = range(it.abi());
        String name = data.text(it::wrapName);
        String product = data.text(it::wrapProduct);
        Versions versions = new Versions(product, wire, layout, abi);
        return new Welcome(it.role(), pool, it.incarnation(), versions, it.wireChosen(), name);
    }

    private Refused refused(RefusedDecoder it) {
        return new Refused(it.code(), range(it.wire()), data.text(it::wrapMessage));
    }

    private static VersionRange range(VersionRangeDecoder range) {
        return new VersionRange(range.min(), range.max());
    }
}
