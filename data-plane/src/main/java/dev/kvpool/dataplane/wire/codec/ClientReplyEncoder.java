// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.ClientReply;
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
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.ExistsReplyEncoder;
import dev.kvpool.wire.Flag;
import dev.kvpool.wire.GrantReplyEncoder;
import dev.kvpool.wire.HintReplyEncoder;
import dev.kvpool.wire.LookupReplyEncoder;
import dev.kvpool.wire.MessageHeaderEncoder;
import dev.kvpool.wire.PublishReplyEncoder;
import dev.kvpool.wire.RemoveAllReplyEncoder;
import dev.kvpool.wire.RemoveReplyEncoder;
import dev.kvpool.wire.TaskReplyEncoder;
import org.agrona.MutableDirectBuffer;

/** Writes {@link ClientReply}s. */
final class ClientReplyEncoder {
    private final MessageHeaderEncoder header = new MessageHeaderEncoder();
    private final GrantReplyEncoder grant = new GrantReplyEncoder();
    private final PublishReplyEncoder publish = new PublishReplyEncoder();
    private final LookupReplyEncoder lookup = new LookupReplyEncoder();
    private final ExistsReplyEncoder exists = new ExistsReplyEncoder();
    private final RemoveReplyEncoder remove = new RemoveReplyEncoder();
    private final RemoveAllReplyEncoder removeAll = new RemoveAllReplyEncoder();
    private final HintReplyEncoder hint = new HintReplyEncoder();
    private final TaskReplyEncoder task = new TaskReplyEncoder();

    int encode(ClientReply reply, MutableDirectBuffer buffer) {
        return switch (reply) {
            case GrantReply it -> grant(it, buffer);
            case PublishReply it -> publish(it, buffer);
            case LookupReply it -> lookup(it, buffer);
            case ExistsReply it -> exists(it, buffer);
            case RemoveReply it -> remove(it, buffer);
            case RemoveAllReply it -> removeAll(it, buffer);
            case HintReply it -> hint(it, buffer);
            case TaskReply it -> task(it, buffer);
        };
    }

    private int grant(GrantReply it, MutableDirectBuffer buffer) {
        grant.wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId())
                .status(it.status().code());
        grant.authority().epoch(it.authority().epoch()).nonce(it.authority().nonce());
        grant.deadlineMs(it.deadlineMs());
        GrantReplyEncoder.NodesEncoder nodes = grant.nodesCount(it.nodes().size());
        for (NodeRef node : it.nodes()) {
            nodes.next()
                    .incarnation(node.incarnation())
                    .isTransient(node.isTransient() ? Flag.YES : Flag.NO)
                    .nodeId(node.nodeId())
                    .tcp(node.tcp())
                    .shm(node.shm());
        }
        GrantReplyEncoder.GrantsEncoder grants = grant.grantsCount(it.grants().size());
        for (GrantLine one : it.grants()) {
            Retention retention = one.retention();
            grants.next().status(one.status().code()).roomMs(one.roomMs()).softPinMs(retention.softMs());
            grants.pins().clear().soft(retention.soft()).hard(retention.hard());
            grants.objectId()
                    .epoch(one.objectId().epoch())
                    .counter(one.objectId().counter());
            GrantReplyEncoder.GrantsEncoder.TargetsEncoder targets =
                    grants.targetsCount(one.targets().size());
            for (GrantTarget target : one.targets()) {
                targets.next()
                        .node(target.node())
                        .mac()
                        .first(target.mac().first())
                        .second(target.mac().second());
            }
        }
        return grant.unknownNodes(it.unknownNodes()).limit();
    }

    private int publish(PublishReply it, MutableDirectBuffer buffer) {
        publish.wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId())
                .status(it.status().code());
        PublishReplyEncoder.ResultsEncoder results =
                publish.resultsCount(it.results().size());
        for (Status result : it.results()) {
            results.next().status(result.code());
        }
        return publish.limit();
    }

    private int lookup(LookupReply it, MutableDirectBuffer buffer) {
        lookup.wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId())
                .status(it.status().code());
        lookup.authority().epoch(it.authority().epoch()).nonce(it.authority().nonce());
        lookup.leaseMs(it.leaseMs());
        LookupReplyEncoder.NodesEncoder nodes = lookup.nodesCount(it.nodes().size());
        for (NodeRef node : it.nodes()) {
            nodes.next()
                    .incarnation(node.incarnation())
                    .isTransient(node.isTransient() ? Flag.YES : Flag.NO)
                    .nodeId(node.nodeId())
                    .tcp(node.tcp())
                    .shm(node.shm());
        }
        LookupReplyEncoder.ObjectsEncoder objects =
                lookup.objectsCount(it.objects().size());
        for (Found found : it.objects()) {
            objects.next().status(found.status().code());
            objects.objectId()
                    .epoch(found.objectId().epoch())
                    .counter(found.objectId().counter());
            objects.payloadLength(found.payloadLength()).payloadCrc(Integer.toUnsignedLong(found.payloadCrc()));
            replicas(objects, found);
        }
        return lookup.limit();
    }

    private static void replicas(LookupReplyEncoder.ObjectsEncoder objects, Found found) {
        LookupReplyEncoder.ObjectsEncoder.ReplicasEncoder replicas =
                objects.replicasCount(found.replicas().size());
        for (ReplicaRef replica : found.replicas()) {
            replicas.next().node(replica.node()).offset(replica.offset());
            replicas.extent()
                    .segment(replica.extent().segment())
                    .slot(replica.extent().slot())
                    .generation(replica.extent().generation());
        }
    }

    private int exists(ExistsReply it, MutableDirectBuffer buffer) {
        exists.wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId())
                .status(it.status().code());
        ExistsReplyEncoder.ResultsEncoder results =
                exists.resultsCount(it.results().size());
        for (Existence result : it.results()) {
            results.next().status(result.status().code()).payloadLength(result.payloadLength());
        }
        return exists.limit();
    }

    private int remove(RemoveReply it, MutableDirectBuffer buffer) {
        remove.wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId())
                .status(it.status().code());
        RemoveReplyEncoder.ResultsEncoder results =
                remove.resultsCount(it.results().size());
        for (Status result : it.results()) {
            results.next().status(result.code());
        }
        return remove.limit();
    }

    private int removeAll(RemoveAllReply it, MutableDirectBuffer buffer) {
        return removeAll
                .wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId())
                .status(it.status().code())
                .removed(it.removed())
                .limit();
    }

    private int hint(HintReply it, MutableDirectBuffer buffer) {
        hint.wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId())
                .status(it.status().code());
        HintReplyEncoder.ResultsEncoder results = hint.resultsCount(it.results().size());
        for (Hinted result : it.results()) {
            results.next().status(result.status().code()).objects(result.objects());
        }
        return hint.limit();
    }

    private int task(TaskReply it, MutableDirectBuffer buffer) {
        TaskReport report = it.report();
        task.wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId())
                .status(it.status().code())
                .task(report.task())
                .moves(report.moves() ? Flag.YES : Flag.NO)
                .state(report.state())
                .why(report.why().code())
                .ageMs(report.ageMs())
                .restMs(report.restMs());
        return task.limit();
    }
}
