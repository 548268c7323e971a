// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.HeartbeatDecoder;
import dev.kvpool.wire.HelloDecoder;
import dev.kvpool.wire.MessageHeaderDecoder;
import dev.kvpool.wire.VersionRangeDecoder;
import java.util.UUID;
import org.agrona.DirectBuffer;

/** Reads {@link HandshakeMessage}s that dialers send. */
final class HandshakeDecoder {
    private final HeartbeatDecoder heartbeat = new HeartbeatDecoder();
    private final HelloDecoder hello = new HelloDecoder();
    private final VarData data = new VarData();

    Hello hello(DirectBuffer body, MessageHeaderDecoder header) {
        hello.wrapAndApplyHeader(body, 0, header);
        UUID pool = new UUID(hello.poolId().high(), hello.poolId().low());
        VersionRange wire = range(hello.wire());
        VersionRange layout = range(hello.layout());
        VersionRange abi = range(hello.abi());
        String name = data.text(hello::wrapName);
        String product = data.text(hello::wrapProduct);
        return new Hello(
                hello.magic(),
                hello.role(),
                pool,
                hello.incarnation(),
                hello.expectedPeer(),
                new Versions(product, wire, layout, abi),
                name);
    }

    HandshakeMessage heartbeat(DirectBuffer body, MessageHeaderDecoder header) {
        heartbeat.wrapAndApplyHeader(body, 0, header);
        ObjectId oldestGrant = new ObjectId(
                heartbeat.oldestGrant().epoch(), heartbeat.oldestGrant().counter());
        return new HandshakeMessage.Heartbeat(heartbeat.beat(), oldestGrant);
    }

    private static VersionRange range(VersionRangeDecoder range) {
        return new VersionRange(range.min(), range.max());
    }
}
