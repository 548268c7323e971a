// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import java.util.List;
import java.util.Optional;

/**
 * The last step of an upgrade: {@code POST /api/v1/finalise?wire=N&layout=N} has the pool speak and write the versions that its new
 * builds know. It is for whoever has seen that every master is a new one; this master sees nodes and clients only. How far it
 * is {@code /api/v1/pool} says.
 */
final class FinaliseRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int VERSION_MAX = 0xfffe;

    private final MasterAdmin master;

    private FinaliseRoutes(MasterAdmin master) {
        this.master = master;
    }

    static List<Route> of(MasterAdmin master) {
        FinaliseRoutes routes = new FinaliseRoutes(master);
        return List.of(Route.post("/api/v1/finalise", Answers.ofLeader(master, routes::finalise)));
    }

    private Response finalise(Request request) {
        ActiveVersions target = new ActiveVersions(number(request, "wire"), number(request, "layout"));
        boolean ignoreClients = Answers.onOff(request, "ignore-clients");
        Optional<String> objection = Finalising.objection(
                        target, master.status().active(), master.versions(), master.peers(), ignoreClients)
                .or(() -> Answers.await(master.activate(target)));
        return objection
                .map(why -> Response.text(409, why + "\n"))
                .orElseGet(() -> Response.json(
                        202,
                        JSON.createObjectNode()
                                .put("wire", target.wire())
                                .put("layout", target.layout())
                                .toString()));
    }

    private static int number(Request request, String name) {
        String text = request.parameter(name).orElse("");
        try {
            int number = Integer.parseInt(text);
            if (number >= 1 && number <= VERSION_MAX) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below, with everything else that is none.
        }
        throw new IllegalArgumentException(name + " must be a version number, 1 to " + VERSION_MAX + ", not '" + text
                + "': /api/v1/finalise?wire=N&layout=N");
    }
}
