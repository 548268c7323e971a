// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

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
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.GrantMac;
import dev.kvpool.dataplane.wire.message.GrantSecret;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
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
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.ActivateDecoder;
import dev.kvpool.wire.AuthorityDecoder;
import dev.kvpool.wire.CertificateProofDecoder;
import dev.kvpool.wire.CertificateProvenDecoder;
import dev.kvpool.wire.CopyDecoder;
import dev.kvpool.wire.ExistsReplyDecoder;
import dev.kvpool.wire.ExtentRefDecoder;
import dev.kvpool.wire.FenceDecoder;
import dev.kvpool.wire.Flag;
import dev.kvpool.wire.FreeDecoder;
import dev.kvpool.wire.GrantReplyDecoder;
import dev.kvpool.wire.HeartbeatDecoder;
import dev.kvpool.wire.HintReplyDecoder;
import dev.kvpool.wire.KeepTombstonesDecoder;
import dev.kvpool.wire.LeaderLeavesDecoder;
import dev.kvpool.wire.LookupReplyDecoder;
import dev.kvpool.wire.MessageHeaderDecoder;
import dev.kvpool.wire.ObjectIdDecoder;
import dev.kvpool.wire.PublishReplyDecoder;
import dev.kvpool.wire.PurgeDecoder;
import dev.kvpool.wire.RefusedDecoder;
import dev.kvpool.wire.RemoveAllReplyDecoder;
import dev.kvpool.wire.RemoveReplyDecoder;
import dev.kvpool.wire.TaskReplyDecoder;
import dev.kvpool.wire.WelcomeDecoder;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/** Reads what a master sends: the other side of {@link MessageEncoder}, for tests. */
public final class PeerDecoder {
    private final MessageHeaderDecoder header = new MessageHeaderDecoder();
    private UnsafeBuffer body;

    public Message decode(byte[] bytes) {
        body = new UnsafeBuffer(bytes);
        header.wrap(body, 0);
        return switch (header.templateId()) {
            case WelcomeDecoder.TEMPLATE_ID, RefusedDecoder.TEMPLATE_ID -> answer();
            case CertificateProofDecoder.TEMPLATE_ID, CertificateProvenDecoder.TEMPLATE_ID -> aboutCertificates();
            case HeartbeatDecoder.TEMPLATE_ID -> heartbeat(new HeartbeatDecoder().wrapAndApplyHeader(body, 0, header));
            case FenceDecoder.TEMPLATE_ID -> fence(new FenceDecoder().wrapAndApplyHeader(body, 0, header));
            case PurgeDecoder.TEMPLATE_ID -> purge(new PurgeDecoder().wrapAndApplyHeader(body, 0, header));
            case KeepTombstonesDecoder.TEMPLATE_ID ->
                writeTombstone(new KeepTombstonesDecoder().wrapAndApplyHeader(body, 0, header));
            case CopyDecoder.TEMPLATE_ID -> copy(new CopyDecoder().wrapAndApplyHeader(body, 0, header));
            case ActivateDecoder.TEMPLATE_ID -> activate(new ActivateDecoder().wrapAndApplyHeader(body, 0, header));
            case LeaderLeavesDecoder.TEMPLATE_ID ->
                new LeaderLeaves(authority(new LeaderLeavesDecoder()
                        .wrapAndApplyHeader(body, 0, header)
                        .authority()));
            case FreeDecoder.TEMPLATE_ID -> free(new FreeDecoder().wrapAndApplyHeader(body, 0, header));
            case GrantReplyDecoder.TEMPLATE_ID -> grant(new GrantReplyDecoder().wrapAndApplyHeader(body, 0, header));
            case PublishReplyDecoder.TEMPLATE_ID ->
                publish(new PublishReplyDecoder().wrapAndApplyHeader(body, 0, header));
            case LookupReplyDecoder.TEMPLATE_ID -> lookup(new LookupReplyDecoder().wrapAndApplyHeader(body, 0, header));
            case ExistsReplyDecoder.TEMPLATE_ID -> exists(new ExistsReplyDecoder().wrapAndApplyHeader(body, 0, header));
            case RemoveReplyDecoder.TEMPLATE_ID -> remove(new RemoveReplyDecoder().wrapAndApplyHeader(body, 0, header));
            case RemoveAllReplyDecoder.TEMPLATE_ID ->
                removeAll(new RemoveAllReplyDecoder().wrapAndApplyHeader(body, 0, header));
            case HintReplyDecoder.TEMPLATE_ID -> hint(new HintReplyDecoder().wrapAndApplyHeader(body, 0, header));
            case TaskReplyDecoder.TEMPLATE_ID -> task(new TaskReplyDecoder().wrapAndApplyHeader(body, 0, header));
            default -> throw new AssertionError("a master sent template " + header.templateId());
        };
    }

    private Message activate(ActivateDecoder it) {
        return new Activate(it.requestId(), authority(it.authority()), new ActiveVersions(it.wire(), it.layout()));
    }

    private static Message heartbeat(HeartbeatDecoder it) {
        return new Heartbeat(
                it.beat(),
                new ObjectId(it.oldestGrant().epoch(), it.oldestGrant().counter()));
    }

    private Message answer() {
        try {
            return new AnswerDecoder().decode(body);
        } catch (MalformedMessageException e) {
            throw new AssertionError(e);
        }
    }

    private Message aboutCertificates() {
        try {
            HandshakeDecoder decoder = new HandshakeDecoder();
            return header.templateId() == CertificateProofDecoder.TEMPLATE_ID
                    ? decoder.proof(body, header)
                    : decoder.proven(body, header);
        } catch (MalformedMessageException e) {
            throw new AssertionError(e);
        }
    }

    private static Fence fence(FenceDecoder it) {
        Authority authority =
                new Authority(it.authority().epoch(), it.authority().nonce());
        byte[] secret = new byte[GrantSecret.BYTES];
        it.grantSecret().buffer().getBytes(it.grantSecret().offset(), secret);
        return new Fence(it.requestId(), authority, it.objectLeaseMs(), id(it.purgeId()), GrantSecret.of(secret));
    }

    private static Free free(FreeDecoder it) {
        Authority authority =
                new Authority(it.authority().epoch(), it.authority().nonce());
        List<Extent> extents = new ArrayList<>();
        it.extents()
                .forEach(extent -> extents.add(new Extent(
                        extent(extent.extent()),
                        new ObjectId(
                                extent.objectId().epoch(), extent.objectId().counter()))));
        return new Free(it.requestId(), authority, extents);
    }

    private static GrantReply grant(GrantReplyDecoder it) {
        Authority authority =
                new Authority(it.authority().epoch(), it.authority().nonce());
        List<NodeRef> nodes = new ArrayList<>();
        it.nodes()
                .forEach(node -> nodes.add(new NodeRef(
                        node.incarnation(), node.nodeId(), node.isTransient() == Flag.YES, node.tcp(), node.shm())));
        List<GrantLine> grants = new ArrayList<>();
        it.grants().forEach(line -> {
            ObjectId id = new ObjectId(line.objectId().epoch(), line.objectId().counter());
            List<GrantTarget> targets = new ArrayList<>();
            Status status = Status.of(line.status());
            line.targets()
                    .forEach(target -> targets.add(new GrantTarget(
                            target.node(),
                            new GrantMac(target.mac().first(), target.mac().second()))));
            Retention retention = Retention.of(line.pins().soft(), line.pins().hard(), line.softPinMs(), 0);
            grants.add(new GrantLine(status, id, targets, line.roomMs(), retention));
        });
        return new GrantReply(
                it.requestId(), Status.of(it.status()), authority, it.deadlineMs(), nodes, grants, it.unknownNodes());
    }

    private static PublishReply publish(PublishReplyDecoder it) {
        List<Status> results = new ArrayList<>();
        it.results().forEach(result -> results.add(Status.of(result.status())));
        return new PublishReply(it.requestId(), Status.of(it.status()), results);
    }

    private static LookupReply lookup(LookupReplyDecoder it) {
        Authority authority =
                new Authority(it.authority().epoch(), it.authority().nonce());
        List<NodeRef> nodes = new ArrayList<>();
        it.nodes()
                .forEach(node -> nodes.add(new NodeRef(
                        node.incarnation(), node.nodeId(), node.isTransient() == Flag.YES, node.tcp(), node.shm())));
        List<Found> objects = new ArrayList<>();
        it.objects().forEach(line -> {
            ObjectId id = new ObjectId(line.objectId().epoch(), line.objectId().counter());
            Status status = Status.of(line.status());
            long length = line.payloadLength();
            int crc = (int) line.payloadCrc();
            List<ReplicaRef> replicas = new ArrayList<>();
            line.replicas()
                    .forEach(replica ->
                            replicas.add(new ReplicaRef(replica.node(), extent(replica.extent()), replica.offset())));
            objects.add(new Found(status, id, length, crc, replicas));
        });
        return new LookupReply(it.requestId(), Status.of(it.status()), authority, it.leaseMs(), nodes, objects);
    }

    private static ExistsReply exists(ExistsReplyDecoder it) {
        List<Existence> results = new ArrayList<>();
        it.results().forEach(line -> results.add(new Existence(Status.of(line.status()), line.payloadLength())));
        return new ExistsReply(it.requestId(), Status.of(it.status()), results);
    }

    private static RemoveReply remove(RemoveReplyDecoder it) {
        List<Status> results = new ArrayList<>();
        it.results().forEach(line -> results.add(Status.of(line.status())));
        return new RemoveReply(it.requestId(), Status.of(it.status()), results);
    }

    private static RemoveAllReply removeAll(RemoveAllReplyDecoder it) {
        return new RemoveAllReply(it.requestId(), Status.of(it.status()), it.removed());
    }

    private static TaskReply task(TaskReplyDecoder it) {
        boolean moves = it.moves() == Flag.YES;
        TaskReport report = new TaskReport(it.task(), moves, it.state(), Status.of(it.why()), it.ageMs(), it.restMs());
        return new TaskReply(it.requestId(), Status.of(it.status()), report);
    }

    private static HintReply hint(HintReplyDecoder it) {
        List<Hinted> results = new ArrayList<>();
        it.results().forEach(line -> results.add(new Hinted(Status.of(line.status()), line.objects())));
        return new HintReply(it.requestId(), Status.of(it.status()), results);
    }

    private static Purge purge(PurgeDecoder it) {
        return new Purge(it.requestId(), authority(it.authority()), id(it.purgeId()));
    }

    private static KeepTombstones writeTombstone(KeepTombstonesDecoder it) {
        Authority authority = authority(it.authority());
        List<Tombstone> tombstones = new ArrayList<>();
        for (KeepTombstonesDecoder.TombstonesDecoder line : it.tombstones()) {
            ObjectId id = id(line.objectId());
            byte[] key = new byte[line.keyLength()];
            line.getKey(key, 0, key.length);
            tombstones.add(new Tombstone(id, Key.of(key)));
        }
        return new KeepTombstones(it.requestId(), authority, tombstones);
    }

    private static Copy copy(CopyDecoder it) {
        Retention retention = Retention.of(it.pins().soft(), it.pins().hard(), it.softPinMs(), it.group());
        byte[] key = new byte[it.keyLength()];
        it.getKey(key, 0, key.length);
        return new Copy(
                it.requestId(),
                authority(it.authority()),
                id(it.objectId()),
                it.payloadLength(),
                (int) it.payloadCrc(),
                retention,
                it.sourceIncarnation(),
                extent(it.sourceExtent()),
                it.medium(),
                Key.of(key),
                it.sourceTcp(),
                it.sourceNode(),
                it.sourceIsTransient() == Flag.YES);
    }

    private static Authority authority(AuthorityDecoder authority) {
        return new Authority(authority.epoch(), authority.nonce());
    }

    private static ObjectId id(ObjectIdDecoder id) {
        return new ObjectId(id.epoch(), id.counter());
    }

    private static ExtentRef extent(ExtentRefDecoder extent) {
        return new ExtentRef(extent.segment(), extent.slot(), extent.generation());
    }
}
