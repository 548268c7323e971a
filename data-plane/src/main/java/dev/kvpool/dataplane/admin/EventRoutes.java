// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.master.events.EventStream;
import dev.kvpool.dataplane.master.events.EventStreams;
import dev.kvpool.dataplane.master.events.Position;
import dev.kvpool.dataplane.master.events.Subscriber;
import java.util.List;
import java.util.Optional;

/** What changes for readers, as lines of JSON for as long as the subscriber stays. The leader alone knows. */
final class EventRoutes {
    private static final int RETRY_SECONDS = 1;

    private final MasterAdmin master;

    private EventRoutes(MasterAdmin master) {
        this.master = master;
    }

    static List<Route> of(MasterAdmin master) {
        return List.of(Route.get("/api/v1/events", new EventRoutes(master)::follow));
    }

    private Response follow(Request request) {
        Optional<Position> after = request.parameter("after").map(Position::parse);
        Subscriber subscriber = new Subscriber(
                Answers.ownTenant(request.caller().name()),
                Answers.named(request),
                request.caller().until());
        // Only now: a subscriber that asks all masters ends when none of them would ever answer.
        if (!master.isLeader()) {
            return Answers.notLeader(master);
        }
        if (master.events().isFull(subscriber)) {
            return Response.busy(EventStreams.FULL + "\n", RETRY_SECONDS);
        }
        return Answers.await(master.events().open(subscriber, after))
                .map(stream -> stream.mustWait()
                        ? Response.busy(EventStream.SNAPSHOT_UNDER_WAY + "\n", RETRY_SECONDS)
                        : Response.jsonLines(stream::writeTo))
                .orElseGet(() -> Answers.notLeader(master));
    }
}
