// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.dataplane.wire.message.NodeCommand.Purge;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.LeaderGone;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Departure;
import dev.kvpool.wire.Medium;
import dev.kvpool.wire.Role;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import javax.net.ssl.SSLContext;

/** A storage node without bytes over real sockets: it streams a directory to its masters and obeys them. */
final class SocketNode implements AutoCloseable {
    static final long INCARNATION = 4711;
    private static final long CAPACITY = 1 << 30;

    private final UUID pool;
    private final String id;
    private final Optional<SSLContext> tls;
    private final TreeMap<Long, DirectoryRecord> directory = new TreeMap<>();
    private final List<PeerSocket> masters = new ArrayList<>();
    private Authority seen = Authority.NONE;
    private long sequence;

    SocketNode(UUID pool, String id) {
        this(pool, id, Optional.empty());
    }

    /** @param tls with which masters are dialled; empty: plain */
    SocketNode(UUID pool, String id, Optional<SSLContext> tls) {
        this.pool = pool;
        this.id = id;
        this.tls = tls;
    }

    /** Connects, tells everything, and answers from a thread of its own until the connection ends. */
    synchronized SocketNode dial(int port) throws IOException {
        PeerSocket socket = tls.isPresent() ? PeerSocket.secure(port, tls.get()) : new PeerSocket(port);
        socket.send(PeerSocket.hello(Role.NODE, pool, id, INCARNATION));
        socket.receive(Welcome.class);
        Segment segment = new Segment(0, Medium.DRAM, CAPACITY, 1000);
        socket.send(new NodeInfo(
                seen,
                ObjectId.NONE,
                0,
                ObjectId.NONE,
                false,
                Restored.NOTHING,
                1,
                ActiveVersions.UNKNOWN,
                List.of(segment),
                "127.0.0.1:1",
                "",
                ""));
        socket.send(new SnapshotBegin(sequence));
        socket.send(new SnapshotRecords(List.copyOf(directory.values())));
        socket.send(new SnapshotEnd(directory.size(), sequence));
        masters.add(socket);
        Thread.ofVirtual().start(() -> obey(socket));
        Thread.ofVirtual().start(() -> beat(socket));
        return this;
    }

    /** What a write of a client does to the directory. */
    synchronized void commit(ObjectId objectId, String key, long payloadLength) {
        long slot = directory.size() + 1L;
        DirectoryRecord record = DirectoryRecord.committed(
                new ExtentRef(0, slot, slot), objectId, slot * 4096, 4096, payloadLength, 1, Key.of(key));
        directory.put(slot, record);
        change(record);
    }

    /** Says to every master that the holder of an authority has crashed. */
    synchronized void sayCrashed(Authority authority, String address) throws IOException {
        for (PeerSocket master : masters) {
            master.send(new LeaderGone(authority, Departure.CRASHED, address));
        }
    }

    synchronized int objects() {
        return directory.size();
    }

    private void change(DirectoryRecord record) {
        sequence++;
        masters.forEach(master -> tell(master, record));
    }

    private void tell(PeerSocket master, DirectoryRecord record) {
        try {
            master.send(new Changes(sequence, List.of(record)));
        } catch (IOException e) {
            // That master is gone; the others must hear of it all the same.
        }
    }

    private void obey(PeerSocket socket) {
        try {
            Optional<Message> command = socket.receive();
            while (command.isPresent()) {
                obey(socket, command.get());
                command = socket.receive();
            }
        } catch (IOException e) {
            // The connection ended, by this side or the other.
        }
    }

    private synchronized void obey(PeerSocket socket, Message command) throws IOException {
        if (command instanceof Fence fence) {
            boolean accepted = fence.authority().epoch() > seen.epoch()
                    || fence.authority().equals(seen);
            seen = accepted ? fence.authority() : seen;
            socket.send(new FenceAck(fence.requestId(), accepted, seen, INCARNATION, sequence, 0, ObjectId.NONE));
        } else if (command instanceof Purge purge) {
            for (DirectoryRecord gone : List.copyOf(directory.values())) {
                directory.remove(gone.extent().slot());
                change(DirectoryRecord.freed(gone.extent(), gone.objectId()));
            }
            socket.send(new CommandAck(purge.requestId(), true, seen, Status.OK));
        } else if (command instanceof Free free) {
            for (Extent extent : free.extents()) {
                DirectoryRecord gone = directory.remove(extent.extent().slot());
                change(DirectoryRecord.freed(gone.extent(), gone.objectId()));
            }
            socket.send(new CommandAck(free.requestId(), true, seen, Status.OK));
        }
    }

    private static void beat(PeerSocket socket) {
        try {
            while (true) {
                Thread.sleep(500);
                socket.send(new Heartbeat());
            }
        } catch (IOException | InterruptedException e) {
            // The connection ended, and with it the beat.
        }
    }

    @Override
    public synchronized void close() throws IOException {
        for (PeerSocket master : masters) {
            master.close();
        }
    }
}
