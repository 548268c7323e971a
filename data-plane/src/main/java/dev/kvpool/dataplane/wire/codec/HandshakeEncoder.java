// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProof;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProven;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.CertificateProofEncoder;
import dev.kvpool.wire.CertificateProvenEncoder;
import dev.kvpool.wire.HeartbeatEncoder;
import dev.kvpool.wire.HelloEncoder;
import dev.kvpool.wire.MessageHeaderEncoder;
import dev.kvpool.wire.RefusedEncoder;
import dev.kvpool.wire.VersionRangeEncoder;
import dev.kvpool.wire.WelcomeEncoder;
import java.nio.ByteBuffer;
import org.agrona.MutableDirectBuffer;

/** Writes {@link HandshakeMessage}s. */
final class HandshakeEncoder {
    private final MessageHeaderEncoder header = new MessageHeaderEncoder();
    private final HelloEncoder hello = new HelloEncoder();
    private final WelcomeEncoder welcome = new WelcomeEncoder();
    private final RefusedEncoder refused = new RefusedEncoder();
    private final CertificateProofEncoder proof = new CertificateProofEncoder();
    private final CertificateProvenEncoder proven = new CertificateProvenEncoder();
    private final HeartbeatEncoder heartbeat = new HeartbeatEncoder();

    int encode(HandshakeMessage message, MutableDirectBuffer buffer) {
        return switch (message) {
            case Hello it -> hello(it, buffer);
            case Welcome it -> welcome(it, buffer);
            case Refused it -> refused(it, buffer);
            case Heartbeat it -> heartbeat(it, buffer);
            case CertificateProof it -> proof(it, buffer);
            case CertificateProven it ->
                proven.wrapAndApplyHeader(buffer, 0, header)
                        .problem(it.problem())
                        .limit();
        };
    }

    private int heartbeat(Heartbeat it, MutableDirectBuffer buffer) {
        heartbeat.wrapAndApplyHeader(buffer, 0, header).beat(it.beat());
        heartbeat
                .oldestGrant()
                .epoch(it.oldestGrant().epoch())
                .counter(it.oldestGrant().counter());
        return heartbeat.limit();
    }

    private int proof(CertificateProof it, MutableDirectBuffer buffer) {
        CertificateProofEncoder.ChainEncoder chain = proof.wrapAndApplyHeader(buffer, 0, header)
                .chainCount(it.chain().size());
        for (ByteBuffer certificate : it.chain()) {
            byte[] der = bytes(certificate);
            chain.next().putCertificate(der, 0, der.length);
        }
        byte[] signature = bytes(it.signature());
        return proof.putSignature(signature, 0, signature.length).limit();
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] copy = new byte[buffer.remaining()];
        buffer.get(buffer.position(), copy);
        return copy;
    }

    private int hello(Hello it, MutableDirectBuffer buffer) {
        hello.wrapAndApplyHeader(buffer, 0, header).magic(it.magic()).role(it.role());
        hello.poolId()
                .high(it.poolId().getMostSignificantBits())
                .low(it.poolId().getLeastSignificantBits());
        hello.incarnation(it.incarnation()).expectedPeer(it.expectedPeer());
        range(hello.wire(), it.versions().wire());
        range(hello.layout(), it.versions().layout());
        range(hello.abi(), it.versions().abi());
        return hello.name(it.name()).product(it.versions().product()).limit();
    }

    private int welcome(Welcome it, MutableDirectBuffer buffer) {
        welcome.wrapAndApplyHeader(buffer, 0, header).role(it.role());
        welcome.poolId()
                .high(it.poolId().getMostSignificantBits())
                .low(it.poolId().getLeastSignificantBits());
        welcome.incarnation(it.incarnation());
        range(welcome.wire(), it.versions().wire());
        range(welcome.layout(), it.versions().layout());
        range(welcome.abi(), it.versions().abi());
        return welcome.wireChosen(it.wireChosen())
                .name(it.name())
                .product(it.versions().product())
                .limit();
    }

    private int refused(Refused it, MutableDirectBuffer buffer) {
        refused.wrapAndApplyHeader(buffer, 0, header).code(it.code());
        range(refused.wire(), it.wire());
        return refused.message(it.message()).limit();
    }

    private static void range(VersionRangeEncoder encoder, VersionRange range) {
        encoder.min(range.min()).max(range.max());
    }
}
