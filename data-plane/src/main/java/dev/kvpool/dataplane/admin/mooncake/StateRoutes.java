// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.admin.MasterAdmin;
import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.metrics.EventNumbers;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What this master does, who leads, and a summary of its numbers. Every master answers, leader or standby. */
final class StateRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final MasterAdmin master;

    private StateRoutes(MasterAdmin master) {
        this.master = master;
    }

    static List<Route> of(MasterAdmin master) {
        StateRoutes routes = new StateRoutes(master);
        return List.of(
                Route.get("/health", request -> routes.health()),
                Route.get("/ha_status", request -> Response.text(200, routes.state())),
                Route.get("/leader", request -> routes.leader()),
                Route.get("/metrics/summary", request -> routes.summary()),
                Route.get("/kv_events/status", request -> routes.events()));
    }

    /** Open to all, so it does not say who leads. */
    private Response health() {
        Optional<String> illness = master.illness();
        ObjectNode root = JSON.createObjectNode()
                .put("status", illness.orElse("ok"))
                .put("role", role())
                .put("ha_state", state())
                .put("service_ready", master.isLeader());
        return Response.json(illness.isEmpty() ? 200 : 503, root.toString());
    }

    private Response leader() {
        Optional<LeaseRecord> held = master.lease().filter(LeaseRecord::isHeld);
        ObjectNode root = JSON.createObjectNode().put("present", held.isPresent());
        held.ifPresent(
                lease -> root.put("leader_address", lease.holderName()).put("view_version", lease.transitions()));
        return Response.json(200, root.toString());
    }

    private Response summary() {
        PoolStatus status = master.status();
        Counters counters = status.counters();
        String numbers = ("Mem Storage: %d / %d bytes (%.1f%%) | Keys: %d | Clients: %d | Nodes: %d / %d ready"
                        + " | Puts: %d published | Evicted: %d keys, %d bytes")
                .formatted(
                        status.usedBytes(),
                        status.capacityBytes(),
                        100.0 * status.usedBytes() / Math.max(1, status.capacityBytes()),
                        status.objects(),
                        status.clients(),
                        status.readyNodes(),
                        status.expectedNodes(),
                        counters.get(Count.PUTS),
                        counters.get(Count.EVICTED),
                        counters.get(Count.EVICTED_BYTES));
        return Response.text(
                200,
                "role=%s, state=%s, service_ready=%s, master={%s}, ha={Epoch: %d | Takeovers: %d | Last takeover: %d ms}\n"
                        .formatted(
                                role(),
                                state(),
                                master.isLeader(),
                                numbers,
                                status.epoch(),
                                counters.get(Count.TAKEOVERS),
                                status.lastTakeoverMs()));
    }

    /** Nothing is dropped and no key is left out: a subscriber that is too slow is cut off, and goes on where it was. */
    private Response events() {
        EventNumbers events = master.events();
        return Response.json(
                200,
                JSON.createObjectNode()
                        .put("enabled", master.isLeader())
                        .put("dropped_events", 0)
                        .put("skipped_unparsed_keys", 0)
                        .put("subscribers", events.subscribers())
                        .put("snapshots", events.snapshots())
                        .put("cut", events.cut())
                        .toString());
    }

    private String role() {
        return master.isLeader() ? "leader" : "standby";
    }

    private String state() {
        return master.state().name().toLowerCase(Locale.ROOT);
    }
}
