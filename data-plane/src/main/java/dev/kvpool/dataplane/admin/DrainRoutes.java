// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.config.Durations;
import dev.kvpool.dataplane.config.Format;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

/** Emptying nodes: begin, cancel, and how far it is. The leader alone answers. */
final class DrainRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Format<Duration> TIMEOUTS = Durations.between(Duration.ofSeconds(1), Duration.ofHours(24));
    private static final Duration TIMEOUT_DEFAULT = Duration.ofMinutes(10);

    private final MasterAdmin master;
    private final InstantSource clock;

    private DrainRoutes(MasterAdmin master, InstantSource clock) {
        this.master = master;
        this.clock = clock;
    }

    static List<Route> of(MasterAdmin master, InstantSource clock) {
        DrainRoutes routes = new DrainRoutes(master, clock);
        return List.of(
                Route.post("/api/v1/drain", Answers.ofLeader(master, routes::start)),
                Route.delete("/api/v1/drain", Answers.ofLeader(master, routes::cancel)),
                Route.post("/api/v1/forget", Answers.ofLeader(master, routes::forget)),
                Route.get("/api/v1/drains", Answers.ofLeader(master, request -> routes.list())));
    }

    private Response start(Request request) {
        String node = node(request);
        Duration timeout =
                request.parameter("timeout").map(DrainRoutes::timeout).orElse(TIMEOUT_DEFAULT);
        boolean clears = Answers.onOff(request, "clear");
        return Answers.await(master.drain(node, clears, timeout, clock.instant()))
                .map(DrainRoutes::refused)
                .orElseGet(() -> of(node, 202));
    }

    private Response cancel(Request request) {
        String node = node(request);
        return Answers.await(master.cancelDrain(node))
                ? of(node, 200)
                : Response.text(404, "node " + node + " is not being drained here\n");
    }

    /** A node that will not come back is waited for no more; should it come, it drops what it holds. */
    private Response forget(Request request) {
        String node = node(request);
        return Answers.await(master.forget(node)).map(DrainRoutes::refused).orElseGet(() -> of(node, 200));
    }

    private static Response refused(String why) {
        return Response.text(409, why + "\n");
    }

    private static Response of(String node, int status) {
        return Response.json(status, JSON.createObjectNode().put("node", node).toString());
    }

    private Response list() {
        ArrayNode list = JSON.createArrayNode();
        for (DrainStatus drain : master.status().drains()) {
            describe(drain, list.addObject());
        }
        return Response.json(200, list.toString());
    }

    private static void describe(DrainStatus drain, ObjectNode object) {
        object.put("node", drain.node());
        object.put("state", name(drain.state()));
        object.put("startedMs", drain.startedAtMs());
        object.put("objectsLeft", drain.objectsLeft());
        object.put("bytesLeft", drain.bytesLeft());
        object.put("objectsMoved", drain.objectsMoved());
        object.put("bytesMoved", drain.bytesMoved());
        leftovers(drain, object.putArray("leftovers"));
    }

    /** What has not been moved, as one entry for each tier and reason. */
    static void leftovers(DrainStatus drain, ArrayNode list) {
        for (DrainStatus.Leftover left : drain.leftovers()) {
            list.addObject()
                    .put("tier", left.tier())
                    .put("objects", left.objects())
                    .put("bytes", left.bytes())
                    .put("reason", left.reason());
        }
    }

    private static String name(DrainStatus.State state) {
        return switch (state) {
            case DRAINING -> "draining";
            case DRAINED -> "drained";
            case CANCELLED -> "cancelled";
            case TIMED_OUT -> "timedOut";
        };
    }

    private static String node(Request request) {
        return request.parameter("node")
                .filter(id -> !id.isEmpty())
                .orElseThrow(() -> new IllegalArgumentException("name a node: /api/v1/drain?node=ID"));
    }

    private static Duration timeout(String text) {
        try {
            return TIMEOUTS.parser().apply(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("timeout must be " + TIMEOUTS.allowed() + ", not " + text, e);
        }
    }
}
