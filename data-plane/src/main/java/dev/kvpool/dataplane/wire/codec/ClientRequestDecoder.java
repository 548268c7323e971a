// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.ClientRequest;
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
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.wire.CopyRequestDecoder;
import dev.kvpool.wire.ExistsRequestDecoder;
import dev.kvpool.wire.Flag;
import dev.kvpool.wire.GrantRequestDecoder;
import dev.kvpool.wire.Hint;
import dev.kvpool.wire.HintRequestDecoder;
import dev.kvpool.wire.LookupRequestDecoder;
import dev.kvpool.wire.MessageHeaderDecoder;
import dev.kvpool.wire.PinsDecoder;
import dev.kvpool.wire.PublishRequestDecoder;
import dev.kvpool.wire.PublishRequestDecoder.ObjectsDecoder;
import dev.kvpool.wire.PublishRequestDecoder.ObjectsDecoder.ReplicasDecoder;
import dev.kvpool.wire.PutOutcome;
import dev.kvpool.wire.RemoveAllRequestDecoder;
import dev.kvpool.wire.RemoveRequestDecoder;
import dev.kvpool.wire.TaskQueryDecoder;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;

/** Reads {@link ClientRequest}s. */
final class ClientRequestDecoder {
    private final GrantRequestDecoder grant = new GrantRequestDecoder();
    private final PublishRequestDecoder publish = new PublishRequestDecoder();
    private final LookupRequestDecoder lookup = new LookupRequestDecoder();
    private final ExistsRequestDecoder exists = new ExistsRequestDecoder();
    private final RemoveRequestDecoder remove = new RemoveRequestDecoder();
    private final RemoveAllRequestDecoder removeAll = new RemoveAllRequestDecoder();
    private final HintRequestDecoder hint = new HintRequestDecoder();
    private final CopyRequestDecoder copy = new CopyRequestDecoder();
    private final TaskQueryDecoder query = new TaskQueryDecoder();
    private final VarData data = new VarData();

    ClientRequest grant(DirectBuffer body, MessageHeaderDecoder header) {
        grant.wrapAndApplyHeader(body, 0, header);
        long requestId = grant.requestId();
        int replicas = grant.replicas();
        long deadlineMs = grant.deadlineMs();
        boolean replace = grant.replace() == Flag.YES;
        List<GrantKey> keys = new ArrayList<>();
        GrantRequestDecoder.KeysDecoder lines = grant.keys();
        GroupLines.check(lines.actingBlockLength(), GrantRequestDecoder.KeysDecoder.sbeBlockLength());
        for (GrantRequestDecoder.KeysDecoder key : lines) {
            long payloadLength = key.payloadLength();
            PinsDecoder pins = key.pins();
            boolean keepsSoftPin = pins.keepSoft();
            Retention retention = Retention.of(pins.soft(), pins.hard(), key.softPinMs(), key.group());
            keys.add(new GrantKey(data.key(key::wrapKey), payloadLength, retention, keepsSoftPin));
        }
        return new GrantRequest(requestId, replicas, deadlineMs, replace, keys, data.text(grant::wrapPreferredNodes));
    }

    ClientRequest publish(DirectBuffer body, MessageHeaderDecoder header) {
        publish.wrapAndApplyHeader(body, 0, header);
        long requestId = publish.requestId();
        List<Put> puts = new ArrayList<>();
        ObjectsDecoder lines = publish.objects();
        GroupLines.check(lines.actingBlockLength(), ObjectsDecoder.sbeBlockLength());
        for (ObjectsDecoder object : lines) {
            ObjectId id =
                    new ObjectId(object.objectId().epoch(), object.objectId().counter());
            PutOutcome outcome = object.outcome();
            if (outcome == PutOutcome.NULL_VAL) {
                throw new IllegalArgumentException("put without an outcome");
            }
            List<Long> incarnations = new ArrayList<>();
            ReplicasDecoder replicas = object.replicas();
            GroupLines.check(replicas.actingBlockLength(), ReplicasDecoder.sbeBlockLength());
            for (ReplicasDecoder replica : replicas) {
                incarnations.add(replica.incarnation());
            }
            puts.add(new Put(id, outcome, incarnations, data.key(object::wrapKey)));
        }
        return new PublishRequest(requestId, puts);
    }

    ClientRequest lookup(DirectBuffer body, MessageHeaderDecoder header) {
        lookup.wrapAndApplyHeader(body, 0, header);
        List<Key> keys = new ArrayList<>();
        for (LookupRequestDecoder.KeysDecoder key : lookup.keys()) {
            keys.add(data.key(key::wrapKey));
        }
        return new LookupRequest(lookup.requestId(), keys);
    }

    ClientRequest exists(DirectBuffer body, MessageHeaderDecoder header) {
        exists.wrapAndApplyHeader(body, 0, header);
        List<Key> keys = new ArrayList<>();
        for (ExistsRequestDecoder.KeysDecoder key : exists.keys()) {
            keys.add(data.key(key::wrapKey));
        }
        return new ExistsRequest(exists.requestId(), keys);
    }

    ClientRequest remove(DirectBuffer body, MessageHeaderDecoder header) {
        remove.wrapAndApplyHeader(body, 0, header);
        List<Key> keys = new ArrayList<>();
        for (RemoveRequestDecoder.KeysDecoder key : remove.keys()) {
            keys.add(data.key(key::wrapKey));
        }
        boolean force = remove.force() == Flag.YES;
        boolean ofGroup = remove.ofGroup() == Flag.YES;
        return new RemoveRequest(remove.requestId(), force, ofGroup, keys, data.text(remove::wrapNode));
    }

    ClientRequest removeAll(DirectBuffer body, MessageHeaderDecoder header) {
        removeAll.wrapAndApplyHeader(body, 0, header);
        boolean force = removeAll.force() == Flag.YES;
        return new RemoveAllRequest(removeAll.requestId(), force, data.text(removeAll::wrapPattern));
    }

    ClientRequest hint(DirectBuffer body, MessageHeaderDecoder header) {
        hint.wrapAndApplyHeader(body, 0, header);
        Hint what = hint.hint();
        if (what == Hint.NULL_VAL) {
            throw new IllegalArgumentException("unknown hint");
        }
        List<Key> keys = new ArrayList<>();
        for (HintRequestDecoder.KeysDecoder key : hint.keys()) {
            keys.add(data.key(key::wrapKey));
        }
        return new HintRequest(hint.requestId(), what, hint.forMs(), hint.ofGroup() == Flag.YES, keys);
    }

    ClientRequest copy(DirectBuffer body, MessageHeaderDecoder header) {
        copy.wrapAndApplyHeader(body, 0, header);
        long requestId = copy.requestId();
        List<String> targets = new ArrayList<>();
        for (CopyRequestDecoder.TargetsDecoder target : copy.targets()) {
            targets.add(data.text(target::wrapNodeId));
        }
        Key key = data.key(copy::wrapKey);
        return new CopyRequest(requestId, key, data.text(copy::wrapSource), targets);
    }

    ClientRequest query(DirectBuffer body, MessageHeaderDecoder header) {
        query.wrapAndApplyHeader(body, 0, header);
        return new TaskQuery(query.requestId(), query.task());
    }
}
