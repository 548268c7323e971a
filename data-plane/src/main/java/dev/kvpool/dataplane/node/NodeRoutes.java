// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.dataplane.version.Versions;
import java.util.List;

/** The admin HTTP of a storage node. */
final class NodeRoutes {
    private NodeRoutes() {}

    static List<Route> of(NodeLifecycle view, PoolSecurity security) {
        NodeMetrics metrics = new NodeMetrics(security);
        return List.of(
                Route.get("/healthz", request -> healthz(view)),
                Route.get("/readyz", request -> readyz(view.readiness())),
                Route.get("/api/v1/node", request -> node(view)),
                Route.get("/metrics", request -> Response.metrics(metrics.scrape(view.stats()))),
                Route.get(
                        "/version",
                        request -> Response.json(200, Versions.ofThisBuild().json())));
    }

    /** Asks the library for its numbers, so that one that hangs does not answer and is restarted. */
    private static Response healthz(NodeLifecycle view) {
        if (view.failed()) {
            return Response.text(500, "the storage node has ended, its log says why; restart this process");
        }
        return Response.text(200, "ok");
    }

    private static Response node(NodeLifecycle view) {
        return view.stats()
                .map(stats -> Response.json(200, NodeDocument.of(view.nodeId(), stats, view.explanation())))
                .orElseGet(() -> readyz(view.readiness()));
    }

    private static Response readyz(Readiness readiness) {
        return Response.text(readiness.ready() ? 200 : 503, readiness.reason());
    }
}
