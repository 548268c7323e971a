// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProof;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProven;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.CertificateProofDecoder;
import dev.kvpool.wire.CertificateProvenDecoder;
import dev.kvpool.wire.HeartbeatDecoder;
import dev.kvpool.wire.HelloDecoder;
import dev.kvpool.wire.MessageHeaderDecoder;
import dev.kvpool.wire.VersionRangeDecoder;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.DirectBuffer;

/** Reads {@link HandshakeMessage}s that dialers send. */
final class HandshakeDecoder {
    private final HeartbeatDecoder heartbeat = new HeartbeatDecoder();
    private final CertificateProofDecoder proof = new CertificateProofDecoder();
    private final CertificateProvenDecoder proven = new CertificateProvenDecoder();
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

    CertificateProof proof(DirectBuffer body, MessageHeaderDecoder header) throws MalformedMessageException {
        proof.wrapAndApplyHeader(body, 0, header);
        CertificateProofDecoder.ChainDecoder lines = proof.chain();
        if (lines.count() > CertificateProof.CERTIFICATES_MAX) {
            throw new MalformedMessageException(
                    "a proof has " + lines.count() + " certificates, more than " + CertificateProof.CERTIFICATES_MAX);
        }
        List<ByteBuffer> chain = new ArrayList<>();
        int bytes = 0;
        while (lines.hasNext()) {
            lines.next();
            bytes += lines.certificateLength();
            bounded(bytes);
            chain.add(ByteBuffer.wrap(data.bytes(lines::wrapCertificate)));
        }
        bounded(proof.signatureLength());
        return new CertificateProof(chain, ByteBuffer.wrap(data.bytes(proof::wrapSignature)));
    }

    private static void bounded(int bytes) throws MalformedMessageException {
        if (bytes < 0 || bytes > CertificateProof.BYTES_MAX) {
            throw new MalformedMessageException(
                    "a proof of a certificate has more than " + CertificateProof.BYTES_MAX + " bytes");
        }
    }

    CertificateProven proven(DirectBuffer body, MessageHeaderDecoder header) {
        proven.wrapAndApplyHeader(body, 0, header);
        return new CertificateProven(data.text(proven::wrapProblem));
    }

    private static VersionRange range(VersionRangeDecoder range) {
        return new VersionRange(range.min(), range.max());
    }
}
