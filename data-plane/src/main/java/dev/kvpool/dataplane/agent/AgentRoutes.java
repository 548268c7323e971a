// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.dataplane.version.Versions;
import java.util.List;

/**
 * The admin HTTP of an agent. {@code /health} and {@code /metrics/summary} are what probes and scripts of Mooncake ask of its
 * client.
 */
final class AgentRoutes {
    private AgentRoutes() {}

    static List<Route> of(AgentView view, PoolSecurity security) {
        AgentMetrics metrics = new AgentMetrics(security);
        return List.of(
                Route.get("/healthz", request -> healthz(view)),
                Route.get("/readyz", request -> readyz(view.whyNotReady())),
                Route.get("/health", request -> health(view)),
                Route.get("/metrics/summary", request -> summary(view)),
                Route.get("/api/v1/agent", request -> agent(view)),
                Route.get("/metrics", request -> Response.metrics(metrics.scrape(view.stats()))),
                Route.get(
                        "/version",
                        request -> Response.json(200, Versions.ofThisBuild().json())));
    }

    /** Asks the library for its numbers, so that one that hangs does not answer and is restarted. */
    private static Response healthz(AgentView view) {
        if (view.failed()) {
            return Response.text(500, "the agent has ended, its log says why; restart this process");
        }
        return Response.text(200, "ok");
    }

    /** As health_check() of a client there: 503 also while no leader serves. */
    private static Response health(AgentView view) {
        return view.failed() ? healthz(view) : readyz(view.whyNotReady());
    }

    private static Response summary(AgentView view) {
        return view.stats()
                .map(stats -> Response.text(200, AgentDocument.summary(stats)))
                .orElseGet(() -> readyz("stopping"));
    }

    private static Response readyz(String whyNot) {
        return whyNot.isEmpty() ? Response.text(200, "ready") : Response.text(503, whyNot);
    }

    private static Response agent(AgentView view) {
        return view.stats()
                .map(stats -> Response.json(200, AgentDocument.of(view.socket(), stats)))
                .orElseGet(() -> readyz("stopping"));
    }
}
