// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.Existence;
import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantLine;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantTarget;
import dev.kvpool.dataplane.wire.message.ClientReply.HintReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Hinted;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.NodeRef;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientReply.ReplicaRef;
import dev.kvpool.dataplane.wire.message.ClientReply.TaskReply;
import dev.kvpool.dataplane.wire.message.ClientReply.TaskReport;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.HintRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.TaskQuery;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.GrantMac;
import dev.kvpool.dataplane.wire.message.GrantSecret;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProof;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProven;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand.Activate;
import dev.kvpool.dataplane.wire.message.NodeCommand.Copy;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.dataplane.wire.message.NodeCommand.KeepTombstones;
import dev.kvpool.dataplane.wire.message.NodeCommand.LeaderLeaves;
import dev.kvpool.dataplane.wire.message.NodeCommand.Purge;
import dev.kvpool.dataplane.wire.message.NodeCommand.Tombstone;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.LeaderGone;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeLeaves;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeStats;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.dataplane.wire.message.NodeMessage.Ssd;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.Departure;
import dev.kvpool.wire.Hint;
import dev.kvpool.wire.Medium;
import dev.kvpool.wire.PutOutcome;
import dev.kvpool.wire.RecordState;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import dev.kvpool.wire.TaskState;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

/** Messages with something in every field, for tests of what reads and writes them. */
public final class SampleMessages {
    private static final Versions VERSIONS =
            new Versions("1.2.3", new VersionRange(1, 2), new VersionRange(1, 1), new VersionRange(3, 4));
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Authority AUTHORITY = new Authority(7, -8);
    private static final ObjectId ID = new ObjectId(7, 1L << 40);
    private static final ExtentRef EXTENT = new ExtentRef(65_535, 0xFFFF_FFFEL, 9);
    private static final DirectoryRecord RECORD =
            DirectoryRecord.committed(EXTENT, ID, 4096, 8192, 5000, -1, Key.of("ключ"));
    private static final GrantSecret SECRET =
            GrantSecret.of("a secret of thirty-two bytes ...".getBytes(StandardCharsets.UTF_8));
    private static final Retention KEPT = new Retention(true, false, 1_800_000, -5);
    private static final DirectoryRecord PINNED =
            new DirectoryRecord(RecordState.COMMITTED, EXTENT, ID, 4096, 8192, 5000, -1, KEPT, Key.of("k"));
    private static final DirectoryRecord TOMBSTONE =
            new DirectoryRecord(RecordState.TOMBSTONE, EXTENT, ID, 0, 64, 0, 0, Retention.NONE, Key.of("gone"));
    private static final DirectoryRecord FREED = DirectoryRecord.freed(EXTENT, ID);
    private static final List<NodeRef> NODES =
            List.of(new NodeRef(1, "a", false, "[::1]:50061", "boot:/x"), new NodeRef(2, "b", true, "b:1", ""));

    public static final Hello HELLO = new Hello(HandshakeMessage.MAGIC, Role.NODE, POOL, 5, 6, VERSIONS, "node-0");

    private static final CertificateProof PROOF = new CertificateProof(
            List.of(ByteBuffer.wrap(new byte[] {1, 2, 3}), ByteBuffer.wrap(new byte[] {4})),
            ByteBuffer.wrap(new byte[] {5, 6}));

    /** What nodes and clients send to a master: each message at least once. */
    public static final List<Message> RECEIVED = List.of(
            HELLO,
            new Heartbeat(9, new ObjectId(7, 1L << 40)),
            PROOF,
            new CertificateProven("почему"),
            new NodeInfo(
                    AUTHORITY,
                    ID,
                    10_000,
                    ID,
                    true,
                    new Restored(3, -4, 5),
                    -6,
                    0xFFFF_FFFEL,
                    new ActiveVersions(2, 0xffff - 1),
                    List.of(new Segment(0, Medium.DRAM, 1L << 40, 0xFFFF_FFFEL), new Segment(1, Medium.NPU, 5, 6)),
                    "h:1",
                    "s",
                    "zone-1"),
            new SnapshotBegin(4),
            new SnapshotRecords(List.of(RECORD, PINNED, TOMBSTONE)),
            new SnapshotRecords(List.of()),
            new Changes(5, List.of(RECORD, FREED)),
            new SnapshotEnd(2, 6),
            new NodeStats(1, 2, 3, 4, 5, 6, -7, 8, 9, new ActiveVersions(2, 3), new Ssd(10, 11, "the disk is full")),
            new LeaderGone(AUTHORITY, Departure.CRASHED, "m-0:50051"),
            new LeaderGone(AUTHORITY, Departure.SILENT, 1_500, 7, "m-0:50051"),
            new NodeLeaves(),
            new FenceAck(1, true, AUTHORITY, 3, 4, 5, ID),
            new CommandAck(1, false, AUTHORITY, Status.NO_SPACE),
            new GrantRequest(
                    1,
                    2,
                    3_000,
                    true,
                    List.of(
                            new GrantKey(Key.of("k"), 5),
                            new GrantKey(Key.of(""), 0),
                            new GrantKey(Key.of("l"), 6, KEPT, false),
                            new GrantKey(Key.of("m"), 7, Retention.NONE, true)),
                    "a,b"),
            new PublishRequest(
                    1,
                    List.of(
                            new Put(ID, PutOutcome.WRITTEN, List.of(1L, -2L), Key.of("k")),
                            new Put(ID, PutOutcome.FAILED, List.of(), Key.of("l")))),
            new LookupRequest(1, List.of(Key.of("k"), Key.of("l"))),
            new ExistsRequest(1, List.of(Key.of("k"))),
            new RemoveRequest(1, true, List.of(Key.of("k"))),
            new RemoveAllRequest(1, false, ""),
            new RemoveRequest(2, false, true, List.of(Key.of("a session"))),
            new RemoveRequest(3, false, false, List.of(Key.of("k"), Key.of("")), "10.0.0.1:50061"),
            new RemoveAllRequest(2, true, "^☂/"),
            new HintRequest(1, Hint.RETAIN, 60_000, false, List.of(Key.of("k"), Key.of("☂"))),
            new HintRequest(2, Hint.PREFETCH, 0, true, List.of(Key.of("a session"))),
            new CopyRequest(1, Key.of("k"), "", List.of("a", "b-☂")),
            new CopyRequest(2, Key.of("k"), "a", List.of("b")),
            new TaskQuery(3, 7_000_000_001L));

    /** What a master sends: each message at least once. */
    public static final List<Message> SENT = List.of(
            new Welcome(Role.MASTER, POOL, 5, VERSIONS, 1, "m-0"),
            new Refused(RefusalCode.WIRE_VERSION, new VersionRange(1, 2), "no: ☂"),
            new Heartbeat(9, new ObjectId(7, 1L << 40)),
            new Fence(1, AUTHORITY, 10_000, ID, SECRET),
            new Purge(1, AUTHORITY, ID),
            new KeepTombstones(
                    1, AUTHORITY, List.of(new Tombstone(ID, Key.of("gone")), new Tombstone(ID, Key.of("ключ")))),
            new Copy(1, AUTHORITY, ID, 5000, -1, KEPT, -6, EXTENT, Medium.SSD, Key.of("k"), "n:50061", "n", true),
            new LeaderLeaves(AUTHORITY),
            new Activate(1, AUTHORITY, new ActiveVersions(2, 3)),
            new Free(1, AUTHORITY, List.of(new Extent(EXTENT, ID), new Extent(ExtentRef.NONE, ObjectId.NONE))),
            new GrantReply(
                    1,
                    Status.OK,
                    AUTHORITY,
                    30_000,
                    NODES,
                    List.of(
                            new GrantLine(
                                    Status.OK,
                                    ID,
                                    List.of(
                                            new GrantTarget(0, new GrantMac(-1, 2)),
                                            new GrantTarget(1, new GrantMac(3, Long.MIN_VALUE))),
                                    0,
                                    Retention.of(true, true, 90_000, 0)),
                            new GrantLine(Status.NO_SPACE, 0xffff_ffffL)),
                    "b"),
            new PublishReply(1, Status.OK, List.of(Status.OK, Status.EXISTS)),
            new LookupReply(
                    1,
                    Status.OK,
                    AUTHORITY,
                    10_000,
                    NODES,
                    List.of(
                            new Found(Status.OK, ID, 5, -1, List.of(new ReplicaRef(1, EXTENT, 4096))),
                            new Found(Status.NOT_FOUND, ObjectId.NONE, 0, 0, List.of()))),
            new ExistsReply(1, Status.OK, List.of(new Existence(Status.OK, 5))),
            new RemoveReply(1, Status.NOT_LEADER, List.of()),
            new RemoveAllReply(1, Status.OK, 17),
            new HintReply(1, Status.OK, List.of(new Hinted(Status.OK, 1), new Hinted(Status.NO_SPACE, 0))),
            new TaskReply(1, Status.OK, new TaskReport(7_000_000_001L, true, TaskState.FAILED, Status.NO_SPACE, 9, 4)),
            new TaskReply(2, Status.NOT_FOUND, TaskReport.NONE));

    private SampleMessages() {}
}
