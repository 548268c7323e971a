// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Who leads: giving the leadership away, and being told that the leader's process is gone. */
final class LeadershipRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern HOLDER = Pattern.compile("[^_]{1,253}_(?<nonce>[0-9a-f]{16})");
    private static final int OK = 200;
    private static final int ACCEPTED = 202;
    private static final int CONFLICT = 409;

    private final MasterAdmin master;

    private LeadershipRoutes(MasterAdmin master) {
        this.master = master;
    }

    static List<Route> of(MasterAdmin master) {
        LeadershipRoutes routes = new LeadershipRoutes(master);
        return List.of(
                Route.post("/api/v1/handover", request -> routes.handOver()),
                Route.post("/api/v1/leader_gone", routes::leaderGone));
    }

    private Response handOver() {
        OptionalLong ended = master.isLeader() ? master.handOver() : OptionalLong.empty();
        return ended.isEmpty()
                ? Answers.notLeader(master)
                : Response.json(
                        OK,
                        JSON.createObjectNode()
                                .put("from", master.name())
                                .put("epoch", ended.getAsLong())
                                .toString());
    }

    /** Answers at once; what came of the look is in the log, and in who leads. */
    private Response leaderGone(Request request) {
        Authority authority = new Authority(epoch(request), nonce(request));
        HostPort address = HostPort.parse(required(request, "address", "HOST:PORT of the leader"));
        if (master.isLeader()) {
            return Response.text(CONFLICT, "this master leads, so no other one does\n");
        }
        master.leaderGone(authority, address);
        return Response.json(
                ACCEPTED,
                JSON.createObjectNode()
                        .put("epoch", authority.epoch())
                        .put("address", address.toString())
                        .toString());
    }

    private static long nonce(Request request) {
        String holder = required(request, "holder", "the Lease's holderIdentity");
        Matcher parts = HOLDER.matcher(holder);
        if (!parts.matches()) {
            throw new IllegalArgumentException(
                    "holder must be as in the Lease, NAME_ and 16 hexadecimal digits, not " + holder);
        }
        return Long.parseUnsignedLong(parts.group("nonce"), 16);
    }

    private static long epoch(Request request) {
        String text = required(request, "epoch", "the Lease's leaseTransitions");
        if (!text.matches("[1-9][0-9]{0,9}")) {
            throw new IllegalArgumentException("epoch must be a positive number, not " + text);
        }
        return Long.parseLong(text);
    }

    private static String required(Request request, String name, String meaning) {
        return request.parameter(name)
                .filter(text -> !text.isEmpty())
                .orElseThrow(() -> new IllegalArgumentException("say " + name + ": " + meaning
                        + "; /api/v1/leader_gone?holder=NAME_NONCE&epoch=N&address=HOST:PORT"));
    }
}
