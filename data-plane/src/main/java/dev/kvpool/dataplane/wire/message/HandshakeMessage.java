// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;

/** The start of every connection, and the sign of life later. */
public sealed interface HandshakeMessage extends Message {
    /** "KVPOOL1" and a zero byte, little endian. */
    long MAGIC = 0x0031_4C4F_4F50_564BL;

    /** The pool id of a dialer that does not know its pool yet. */
    UUID ANY_POOL = new UUID(0, 0);

    /**
     * First frame of the dialer.
     *
     * @param magic {@link #MAGIC}
     * @param expectedPeer incarnation the dialer wants to reach; 0 = any
     * @param name node id or client host name
     */
    record Hello(
            long magic, Role role, UUID poolId, long incarnation, long expectedPeer, Versions versions, String name)
            implements HandshakeMessage {}

    /** What a Hello is answered with. */
    sealed interface Answer extends HandshakeMessage permits Welcome, Refused {}

    /** The Hello fits; {@code wireChosen} is the wire version of this connection. */
    record Welcome(Role role, UUID poolId, long incarnation, Versions versions, int wireChosen, String name)
            implements Answer {}

    /** The Hello does not fit, or a bound was reached; the connection ends after this. */
    record Refused(RefusalCode code, VersionRange wire, String message) implements Answer {}

    /**
     * A sign of life.
     *
     * @param beat of a master to a node: what the node answers with; 0 when it need not answer
     * @param oldestGrant of a leader to a node: its grants with lower ids are over; {@link ObjectId#NONE} of others
     */
    record Heartbeat(long beat, ObjectId oldestGrant) implements HandshakeMessage {
        /** One of which nothing follows for grants. */
        public Heartbeat(long beat) {
            this(beat, ObjectId.NONE);
        }

        /** One that need not be answered. */
        public Heartbeat() {
            this(0);
        }
    }

    /** What the ends of a connection with TLS say of their newer certificates. */
    sealed interface AboutCertificates extends HandshakeMessage permits CertificateProof, CertificateProven {}

    /**
     * The sender holds this certificate, and the connection is to stand by it.
     *
     * @param chain in DER, the sender's own first
     * @param signature by its key
     */
    record CertificateProof(List<ByteBuffer> chain, ByteBuffer signature) implements AboutCertificates {
        /** Of certificates in one proof, and of their bytes. */
        public static final int CERTIFICATES_MAX = 8;

        public static final int BYTES_MAX = 16 << 10;

        public CertificateProof {
            chain = List.copyOf(chain);
        }
    }

    /**
     * The answer.
     *
     * @param problem why the connection does not stand by that certificate; empty when it does
     */
    record CertificateProven(String problem) implements AboutCertificates {}
}
