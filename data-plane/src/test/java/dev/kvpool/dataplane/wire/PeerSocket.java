// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire;

import dev.kvpool.dataplane.secure.ConnectionProof;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.codec.FullPeerEncoder;
import dev.kvpool.dataplane.wire.codec.PeerDecoder;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.Role;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.util.Optional;
import java.util.UUID;
import java.util.zip.CRC32C;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** A peer of a master over a plain blocking socket: frames by hand, so that they can also be wrong. */
public final class PeerSocket implements AutoCloseable {
    private static final int ANSWER_MS_MAX = 20_000;

    /** What this build speaks, without asking libkvpool. */
    public static final Versions VERSIONS =
            new Versions("0.1.0", new VersionRange(1, 1), new VersionRange(1, 1), new VersionRange(1, 1));

    private final Socket socket;
    private final DataInputStream in;
    private final FullPeerEncoder encoder = new FullPeerEncoder();

    public PeerSocket(int port) throws IOException {
        this(connect(port));
    }

    private PeerSocket(Socket socket) throws IOException {
        this.socket = socket;
        in = new DataInputStream(socket.getInputStream());
    }

    /** Over TLS; any peer is believed that these credentials believe. */
    public static PeerSocket secure(int port, SSLContext tls) throws IOException {
        return secure(connect(port), port, tls);
    }

    /** As {@link #secure(int, SSLContext)}, from another address of the loopback network. */
    public static PeerSocket secure(InetAddress from, int port, SSLContext tls) throws IOException {
        return secure(connect(from, port), port, tls);
    }

    private static PeerSocket secure(Socket plain, int port, SSLContext tls) throws IOException {
        SSLSocket socket = (SSLSocket) tls.getSocketFactory().createSocket(plain, null, port, true);
        socket.startHandshake();
        return new PeerSocket(socket);
    }

    private static Socket connect(int port) throws IOException {
        return connect(InetAddress.getLoopbackAddress(), port);
    }

    private static Socket connect(InetAddress from, int port) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(from, 0));
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), ANSWER_MS_MAX);
        socket.setSoTimeout(ANSWER_MS_MAX);
        socket.setTcpNoDelay(true);
        return socket;
    }

    public static Hello hello(Role role, UUID pool, String name, long incarnation) {
        return new Hello(HandshakeMessage.MAGIC, role, pool, incarnation, 0, VERSIONS, name);
    }

    /** What proves, over this connection, that its dialer holds other certificates. */
    public ConnectionProof proofs() throws GeneralSecurityException {
        return ConnectionProof.of(((SSLSocket) socket).getSession());
    }

    public synchronized void send(Message message) throws IOException {
        sendRaw(frame(encoder.encode(message)));
    }

    public void sendRaw(byte... bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
    }

    /** A frame around a body, as it should be. */
    public static byte[] frame(byte... body) {
        CRC32C crc = new CRC32C();
        crc.update(body);
        return frame(body.length, (int) crc.getValue(), body);
    }

    public static byte[] frame(int length, int crc, byte... body) {
        return ByteBuffer.allocate(Frame.HEADER_BYTES + body.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(length)
                .putInt(crc)
                .put(body)
                .array();
    }

    /** The next message that is no heartbeat; empty when the master ended the connection. */
    public Optional<Message> receive() throws IOException {
        while (true) {
            try {
                byte[] head = new byte[Frame.HEADER_BYTES];
                in.readFully(head);
                byte[] body = new byte
                        [ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getInt()];
                in.readFully(body);
                Message message = new PeerDecoder().decode(body);
                if (!(message instanceof Heartbeat)) {
                    return Optional.of(message);
                }
            } catch (EOFException | SocketException e) {
                return Optional.empty();
            }
        }
    }

    /** The next message, which must be of this type. */
    public <M extends Message> M receive(Class<M> type) throws IOException {
        Message message = receive().orElseThrow(() -> new AssertionError("the master ended the connection"));
        if (!type.isInstance(message)) {
            throw new AssertionError("expected " + type.getSimpleName() + ", got " + message);
        }
        return type.cast(message);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
