// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.master.core.report.KeyStatus;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;

/** Whether a key is in the pool, where, and if not, why. The leader alone answers; it is no read, and promises nothing. */
final class KeyRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final MasterAdmin master;
    private final InstantSource clock;

    private KeyRoutes(MasterAdmin master, InstantSource clock) {
        this.master = master;
        this.clock = clock;
    }

    static List<Route> of(MasterAdmin master, InstantSource clock) {
        KeyRoutes routes = new KeyRoutes(master, clock);
        return List.of(Route.get("/api/v1/key", Answers.ofLeader(master, routes::explain)));
    }

    private Response explain(Request request) {
        String text = request.parameter("key").orElse("");
        Key key = Answers.qualified(request, text);
        if (!key.isValid()) {
            throw new IllegalArgumentException(
                    "name a key of 1 to %d bytes: /api/v1/key?key=KEY&tenant=NAME".formatted(Key.BYTES_MAX));
        }
        boolean ofPool = Answers.ownTenant(request.caller().name()).isEmpty();
        return Answers.await(master.explain(key))
                .map(status -> Response.json(200, document(key, status, ofPool).toString()))
                .orElseGet(() -> Answers.notLeader(master));
    }

    /**
     * The core knows how long ago; people want to know when, by this master's clock.
     *
     * @param ofPool with what shows of the objects and engines of all tenants
     */
    private ObjectNode document(Key key, KeyStatus status, boolean ofPool) {
        ObjectNode root = JSON.createObjectNode()
                .put("key", Tenant.unqualified(key).toString())
                .put("tenant", Tenant.of(key).name())
                .put("master", master.name())
                .put("state", word(status.state()));
        if (status.cause() != KeyStatus.Cause.NONE) {
            root.put("cause", word(status.cause()));
        }
        status.goneForMs().ifPresent(ms -> root.put("goneSince", ago(ms)));
        status.bytes().ifPresent(bytes -> root.put("bytes", bytes).put("leased", status.leased()));
        ArrayNode replicas = root.putArray("replicas");
        for (KeyStatus.Holder holder : status.holders()) {
            replicas.addObject()
                    .put("node", holder.node())
                    .put("medium", holder.inMemory() ? "memory" : "ssd")
                    .put("reachable", holder.reachable())
                    .put("behind", holder.behind())
                    .put("draining", holder.leaving());
        }
        if (!ofPool) {
            return root;
        }
        status.unheard().forEach(root.putArray("unheard")::add);
        status.purgedForMs().ifPresent(ms -> root.put("allRemovedAt", ago(ms)));
        return root.put("remembersSince", ago(status.remembersForMs()));
    }

    private String ago(long ms) {
        Instant then = clock.instant().minusMillis(ms);
        return then.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
