// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.config.Durations;
import dev.kvpool.dataplane.config.Format;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.ClientReply.HintReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Hinted;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Hint;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What will become of one object, or of all of a group: retained, released, prefetched or removed. The leader alone answers. */
final class HintRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Format<Duration> TIMES =
            Durations.between(Duration.ofMillis(1), Duration.ofMillis(Bounds.RETAIN_MS_MAX));
    private static final Map<String, Hint> HINTS =
            Map.of("retain", Hint.RETAIN, "release", Hint.RELEASE, "prefetch", Hint.PREFETCH);
    private static final long REMOVE_SECONDS_MAX = 35;

    private final MasterAdmin master;

    private HintRoutes(MasterAdmin master) {
        this.master = master;
    }

    static List<Route> of(MasterAdmin master) {
        HintRoutes routes = new HintRoutes(master);
        return List.of(
                Route.post("/api/v1/hint", routes::hint), Route.post("/api/v1/remove_group", routes::removeGroup));
    }

    private Response hint(Request request) {
        Hint hint = request.parameter("hint")
                .map(HINTS::get)
                .orElseThrow(() -> new IllegalArgumentException(
                        "hint must be retain, release or prefetch: /api/v1/hint?hint=retain&key=KEY&for=10m"));
        Optional<Key> key = name(request, "key");
        Optional<Key> group = name(request, "group");
        if (key.isPresent() == group.isPresent()) {
            throw new IllegalArgumentException("name a key or a group, of 1 to %d bytes".formatted(Key.BYTES_MAX));
        }
        Duration time = time(request, hint);
        HintReply reply = Answers.await(master.hint(
                Answers.tenant(request),
                hint,
                time,
                group.isPresent(),
                key.or(() -> group).orElseThrow()));
        return reply.status() == Status.OK ? answer(hint, reply.results().getFirst()) : Answers.notLeader(master);
    }

    private static Response answer(Hint hint, Hinted result) {
        if (result.status() != Status.OK) {
            return refused(result.status(), sentence(hint, result.status()));
        }
        String counted = hint == Hint.PREFETCH ? "onTheirWay" : "objects";
        return Response.json(
                200, JSON.createObjectNode().put(counted, result.objects()).toString());
    }

    private static String sentence(Hint hint, Status status) {
        return switch (status) {
            case NOT_FOUND -> "there is no such object";
            case NO_SPACE ->
                hint == Hint.RETAIN
                        ? "clients retain as much as they may: %.0f %% of the memory of the storage nodes that are there"
                                .formatted(100 * Bounds.RETAINED_PART_MAX)
                        : "there is no room in memory now";
            case QUEUE_FULL ->
                hint == Hint.RETAIN
                        ? "clients retain as many objects as they may: " + Bounds.RETAINED_OBJECTS_MAX
                        : Bounds.PROMOTIONS_WAITING_MAX + " objects are waited for already";
            case TOO_LARGE -> "the group has more than " + Bounds.GROUP_OBJECTS_MAX + " objects";
            default -> "it is " + status.nativeName();
        };
    }

    private static Response refused(Status status, String sentence) {
        return Response.text(status == Status.NOT_FOUND ? 404 : 409, sentence + "\n");
    }

    private Response removeGroup(Request request) {
        Key group = name(request, "group")
                .orElseThrow(() -> new IllegalArgumentException(
                        "name a group of 1 to %d bytes: /api/v1/remove_group?group=NAME".formatted(Key.BYTES_MAX)));
        boolean force = Answers.onOff(request, "force");
        RemoveReply reply =
                Answers.await(master.removeGroup(Answers.tenant(request), group, force), REMOVE_SECONDS_MAX);
        if (reply.status() != Status.OK) {
            return Answers.notLeader(master);
        }
        Status result = reply.results().getFirst();
        return switch (result) {
            case OK -> Response.json(200, JSON.createObjectNode().toString());
            case NOT_FOUND -> refused(result, "there is no object of this group");
            case HAS_LEASE -> refused(result, "readers may still use some of it; force=true removes that too");
            default -> refused(result, sentence(Hint.RELEASE, result));
        };
    }

    private static Optional<Key> name(Request request, String parameter) {
        return request.parameter(parameter).map(Key::of).filter(Key::isValid).filter(key -> !Tenant.isQualified(key));
    }

    private static Duration time(Request request, Hint hint) {
        Optional<String> text = request.parameter("for");
        if (hint != Hint.RETAIN) {
            if (text.isPresent()) {
                throw new IllegalArgumentException("for is of hint=retain");
            }
            return Duration.ZERO;
        }
        try {
            return TIMES.parser().apply(text.orElse(""));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("for must be " + TIMES.allowed() + ", not " + text.orElse("missing"), e);
        }
    }
}
