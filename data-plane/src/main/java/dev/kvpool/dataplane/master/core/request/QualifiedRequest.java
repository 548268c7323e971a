// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.request;

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
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.List;
import java.util.function.Function;

/** A client's request with the keys by which the pool knows its objects: behind it no request can name another tenant's. */
public final class QualifiedRequest {
    private QualifiedRequest() {}

    /** A request that is qualified. It is the same where nothing in it changes, as for all keys that clients of {@link Tenant#DEFAULT} should send. */
    public static ClientRequest of(Tenant tenant, ClientRequest request) {
        return switch (request) {
            case GrantRequest it ->
                isSame(tenant, it.keys(), GrantKey::key)
                        ? it
                        : new GrantRequest(
                                it.requestId(),
                                it.replicas(),
                                it.deadlineMs(),
                                it.replace(),
                                it.keys().stream()
                                        .map(key -> new GrantKey(
                                                tenant.qualify(key.key()),
                                                key.payloadLength(),
                                                key.retention(),
                                                key.keepsSoftPin()))
                                        .toList(),
                                it.preferredNodes());
            case PublishRequest it ->
                isSame(tenant, it.puts(), Put::key)
                        ? it
                        : new PublishRequest(
                                it.requestId(),
                                it.puts().stream()
                                        .map(put -> new Put(
                                                put.objectId(),
                                                put.outcome(),
                                                put.incarnations(),
                                                tenant.qualify(put.key())))
                                        .toList());
            case LookupRequest it ->
                isSame(tenant, it.keys()) ? it : new LookupRequest(it.requestId(), keys(tenant, it.keys()));
            case ExistsRequest it ->
                isSame(tenant, it.keys()) ? it : new ExistsRequest(it.requestId(), keys(tenant, it.keys()));
            case RemoveRequest it ->
                isSame(tenant, it.keys())
                        ? it
                        : new RemoveRequest(
                                it.requestId(), it.force(), it.ofGroup(), keys(tenant, it.keys()), it.node());
            case HintRequest it ->
                isSame(tenant, it.keys())
                        ? it
                        : new HintRequest(it.requestId(), it.hint(), it.forMs(), it.ofGroup(), keys(tenant, it.keys()));
            case CopyRequest it -> new CopyRequest(it.requestId(), tenant.qualify(it.key()), it.source(), it.targets());
            case RemoveAllRequest it -> it; // its pattern is of keys as clients know them
            case TaskQuery it -> it;
        };
    }

    private static List<Key> keys(Tenant tenant, List<Key> keys) {
        return keys.stream().map(tenant::qualify).toList();
    }

    private static boolean isSame(Tenant tenant, List<Key> keys) {
        return isSame(tenant, keys, Function.identity());
    }

    private static <T> boolean isSame(Tenant tenant, List<T> lines, Function<T, Key> keyOf) {
        if (!tenant.isDefault()) {
            return false;
        }
        for (T line : lines) {
            if (Tenant.isQualified(keyOf.apply(line))) {
                return false;
            }
        }
        return true;
    }
}
