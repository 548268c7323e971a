// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.HintRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.TaskQuery;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Which verb a route of admin HTTP and a request of a client is. {@link Verb} says who may. */
public final class Rights {
    private static final Map<String, Verb> ROUTES = Map.ofEntries(
            Map.entry("GET /healthz", Verb.HEALTH),
            Map.entry("GET /readyz", Verb.HEALTH),
            Map.entry("GET /health", Verb.HEALTH),
            Map.entry("GET /version", Verb.HEALTH),
            Map.entry("POST /api/v1/enrol", Verb.ENROL),
            Map.entry("POST /api/v1/trust", Verb.ENROL),
            Map.entry("GET /metrics", Verb.METRICS),
            Map.entry("GET /metrics/summary", Verb.METRICS),
            Map.entry("GET /role", Verb.OBSERVE),
            Map.entry("GET /ha_status", Verb.OBSERVE),
            Map.entry("GET /leader", Verb.OBSERVE),
            Map.entry("GET /kv_events/status", Verb.OBSERVE),
            Map.entry("GET /api/v1/pool", Verb.OBSERVE),
            Map.entry("GET /api/v1/node", Verb.OBSERVE),
            Map.entry("GET /api/v1/agent", Verb.OBSERVE),
            Map.entry("GET /api/v1/drains", Verb.OBSERVE),
            Map.entry("GET /get_all_segments", Verb.OBSERVE),
            Map.entry("GET /get_segments_detail", Verb.OBSERVE),
            Map.entry("GET /query_segment", Verb.OBSERVE),
            Map.entry("GET /api/v1/segments/status", Verb.OBSERVE),
            Map.entry("GET /api/v1/drain_jobs/query", Verb.OBSERVE),
            Map.entry("GET /get_all_keys", Verb.LIST_KEYS),
            Map.entry("GET /query_key", Verb.SEE_OBJECTS),
            Map.entry("GET /batch_query_keys", Verb.SEE_OBJECTS),
            Map.entry("GET /api/v1/key", Verb.SEE_OBJECTS),
            Map.entry("GET /api/v1/events", Verb.SEE_OBJECTS),
            Map.entry("GET /api/v1/tenant_quotas", Verb.SEE_QUOTAS),
            Map.entry("PUT /api/v1/tenant_quotas", Verb.CHANGE_OBJECTS),
            Map.entry("DELETE /api/v1/tenant_quotas", Verb.CHANGE_OBJECTS),
            Map.entry("POST /api/v1/drain", Verb.STEER),
            Map.entry("DELETE /api/v1/drain", Verb.STEER),
            Map.entry("POST /api/v1/drain_jobs", Verb.STEER),
            Map.entry("POST /api/v1/drain_jobs/cancel", Verb.STEER),
            Map.entry("POST /api/v1/forget", Verb.STEER),
            Map.entry("POST /api/v1/handover", Verb.STEER),
            Map.entry("POST /api/v1/leader_gone", Verb.STEER),
            Map.entry("POST /api/v1/finalise", Verb.STEER),
            Map.entry("POST /api/v1/hint", Verb.CHANGE_OBJECTS),
            Map.entry("POST /api/v1/remove_group", Verb.CHANGE_OBJECTS),
            Map.entry("POST /api/v1/remove_all", Verb.CHANGE_OBJECTS));

    private Rights() {}

    /** The verb of a route; a route without one may be used by no peer. */
    public static Optional<Verb> ofRoute(String method, String path) {
        return Optional.ofNullable(ROUTES.get(method + " " + path));
    }

    /** Every route that has a verb, as {@code METHOD /path}. */
    public static Set<String> routes() {
        return ROUTES.keySet();
    }

    /** The verb of a client's request. */
    public static Verb of(ClientRequest request) {
        return switch (request) {
            case LookupRequest _, ExistsRequest _, TaskQuery _ -> Verb.LOOK_UP;
            case GrantRequest _, PublishRequest _, RemoveRequest _, RemoveAllRequest _, HintRequest _, CopyRequest _ ->
                Verb.WRITE;
        };
    }
}
