// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.metrics.MasterMetrics;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/** The paths of a master's admin endpoint, but for those that only programs made for Mooncake ask for. */
public final class MasterRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int KEYS_MAX = 10_000;
    private static final long REMOVE_ALL_SECONDS_MAX = 35;

    private final MasterAdmin master;

    private MasterRoutes(MasterAdmin master) {
        this.master = master;
    }

    public static List<Route> of(MasterAdmin master, MasterMetrics metrics) {
        MasterRoutes routes = new MasterRoutes(master);
        List<Route> all = new ArrayList<>(List.of(
                Route.get("/healthz", request -> routes.healthz()),
                Route.get("/readyz", request -> routes.readyz()),
                Route.get("/role", request -> Response.text(200, master.isLeader() ? "leader" : "standby")),
                Route.get("/metrics", request -> Response.metrics(metrics.scrape())),
                Route.get(
                        "/version",
                        request -> Response.json(200, master.versions().json())),
                Route.get("/api/v1/pool", request -> Response.json(200, PoolDocument.of(master))),
                Route.get("/get_all_keys", Answers.ofLeader(master, routes::keys)),
                Route.get("/query_key", Answers.ofLeader(master, routes::queryKey)),
                Route.post("/api/v1/remove_all", routes::removeAll)));
        all.addAll(KeyRoutes.of(master, InstantSource.system()));
        all.addAll(HintRoutes.of(master));
        all.addAll(EventRoutes.of(master));
        all.addAll(LeadershipRoutes.of(master));
        all.addAll(FinaliseRoutes.of(master));
        all.addAll(DrainRoutes.of(master, InstantSource.system()));
        return all;
    }

    private Response healthz() {
        return master.illness().map(illness -> Response.text(503, illness)).orElseGet(() -> Response.text(200, "ok"));
    }

    private Response readyz() {
        // The status of a core that hangs is an old one.
        String reason = master.illness().orElseGet(() -> master.status().notReady());
        return reason.isEmpty() ? Response.text(200, "ready") : Response.text(503, reason);
    }

    private Response keys(Request request) {
        Tenant tenant = Answers.tenant(request);
        List<String> keys = Answers.await(master.keys(tenant, KEYS_MAX));
        StringBuilder lines = new StringBuilder();
        keys.forEach(key -> lines.append(key).append('\n'));
        long objects = master.status().objects();
        if (keys.size() == KEYS_MAX && objects > KEYS_MAX) {
            lines.append("... ").append(KEYS_MAX).append(" of ").append(objects).append(" keys shown\n");
        }
        return Response.text(200, lines.toString());
    }

    private Response queryKey(Request request) {
        String key = request.parameter("key")
                .filter(text -> !text.isEmpty())
                .orElseThrow(() -> new IllegalArgumentException("name a key: /query_key?key=KEY"));
        List<String> holders = Answers.await(master.holders(Answers.qualified(request, key)));
        ObjectNode root = JSON.createObjectNode().put("key", key);
        holders.forEach(root.putArray("nodes")::add);
        return Response.json(holders.isEmpty() ? 404 : 200, root.toString());
    }

    private Response removeAll(Request request) {
        boolean force = Answers.onOff(request, "force");
        String pattern = request.parameter("pattern").orElse("");
        RemoveAllReply reply =
                Answers.await(master.removeAll(Answers.named(request), force, pattern), REMOVE_ALL_SECONDS_MAX);
        if (reply.status() == Status.INVALID_ARGUMENT) {
            throw new IllegalArgumentException(
                    "pattern must be a regular expression of RE2's syntax, of at most 1024 bytes and with at most 256 parts,"
                            + " repeated ones counted as often as they repeat, not " + pattern);
        }
        if (reply.status() == Status.NOT_LEADER || reply.status() == Status.RECOVERING) {
            return Answers.notLeader(master);
        }
        ObjectNode root = JSON.createObjectNode().put("removed", reply.removed());
        if (reply.status() != Status.OK) {
            root.put("status", reply.status().nativeName());
        }
        return Response.json(reply.status() == Status.OK ? 200 : 504, root.toString());
    }
}
