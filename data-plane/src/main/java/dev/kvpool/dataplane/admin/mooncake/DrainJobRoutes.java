// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.admin.Answers;
import dev.kvpool.dataplane.admin.MasterAdmin;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Emptying several storage nodes as one job. The leader alone answers. */
final class DrainJobRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PATH = "/api/v1/drain_jobs";

    /** Mooncake's jobs have no time; the longest that a drain may have comes closest. */
    private static final Duration TIMEOUT = Duration.ofHours(24);

    private final MasterAdmin master;
    private final InstantSource clock;
    private long lastStartMs;

    private DrainJobRoutes(MasterAdmin master, InstantSource clock) {
        this.master = master;
        this.clock = clock;
    }

    static List<Route> of(MasterAdmin master, InstantSource clock) {
        DrainJobRoutes routes = new DrainJobRoutes(master, clock);
        return List.of(
                Route.post(PATH, ErrorCode.ofLeader(master, routes::create)),
                Route.get(PATH + "/query", ErrorCode.ofLeader(master, routes::query)),
                Route.post(PATH + "/cancel", ErrorCode.ofLeader(master, routes::cancel)));
    }

    private Response create(Request request) {
        List<String> nodes = DrainJobRequest.parse(request.body().read(DrainJobRequest.BODY_BYTES_MAX))
                .segments();
        Optional<Response> refusal = refusal(nodes);
        if (refusal.isPresent()) {
            return refusal.get();
        }
        Instant start = start(drains());
        Optional<String> objection;
        try {
            objection = Answers.await(master.drainAll(nodes, TIMEOUT, start, drains -> objection(nodes, drains)));
        } catch (IllegalStateException late) {
            // It may have begun all the same. Is not waited for: the answer is a refusal anyhow.
            CompletableFuture<Boolean> _ = master.cancelDrains(start);
            return ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS.answer(late.getMessage() + "; no node is drained");
        }
        if (objection.isPresent()) {
            return ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS.answer(objection.get());
        }
        return Response.json(
                200,
                succeeded(DrainJob.id(master.poolId(), start.toEpochMilli()))
                        .put("status", "CREATED")
                        .toString());
    }

    private Optional<Response> refusal(List<String> nodes) {
        for (String node : nodes) {
            Optional<PoolStatus.Node> there = master.status().nodes().stream()
                    .filter(each -> each.id().equals(node))
                    .findFirst();
            if (there.isEmpty()) {
                return Optional.of(ErrorCode.SEGMENT_NOT_FOUND.answer(SegmentRoutes.unknown(node)));
            }
            if (there.get().isTransient()) {
                return Optional.of(ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS.answer(
                        "node %s is memory of a process, which goes with it: only storage nodes are drained"
                                .formatted(node)));
            }
        }
        return Optional.empty();
    }

    /** A job neither begins it again nor takes it back: who asked for that drain waits for it, or has the empty node go. */
    private Optional<String> objection(List<String> nodes, List<DrainStatus> drains) {
        for (DrainStatus drain : drains) {
            boolean isOver =
                    DrainJob.find(drains, drain.startedAtMs()).orElseThrow().status() != DrainJob.Status.RUNNING;
            if (nodes.contains(drain.node()) && (!isOver || drain.state() == DrainStatus.State.DRAINED)) {
                return Optional.of("node %s is %s: %s/query?job_id=%s tells how far it is"
                        .formatted(
                                drain.node(),
                                switch (drain.state()) {
                                    case DRAINING -> "being drained already";
                                    case DRAINED -> "drained already";
                                    case CANCELLED, TIMED_OUT -> "of a job that has not ended";
                                },
                                PATH,
                                DrainJob.id(master.poolId(), drain.startedAtMs())));
            }
        }
        return Optional.empty();
    }

    /** The time is what the job is known by, so no two may have the same. */
    private synchronized Instant start(List<DrainStatus> known) {
        lastStartMs = Math.max(lastStartMs + 1, clock.millis());
        while (DrainJob.find(known, lastStartMs).isPresent()) {
            lastStartMs++;
        }
        return Instant.ofEpochMilli(lastStartMs);
    }

    private Response query(Request request) {
        String id = id(request, "/query");
        return find(id).map(job -> describe(id, job)).orElseGet(() -> unknown(id));
    }

    private Response describe(String id, DrainJob job) {
        ObjectNode root = JSON.createObjectNode()
                .put("success", true)
                .put("job_id", id)
                .put("type", 0)
                .put("type_name", "DRAIN")
                .put("status", job.status().number())
                .put("status_name", job.status().name())
                .put("created_at_ms_epoch", job.startedAt().toEpochMilli())
                .put("last_updated_at_ms_epoch", clock.millis());
        job.segments().forEach(root.putArray("segments")::add);
        root.put("succeeded_units", job.movedObjects())
                .put("failed_units", job.leftObjects(DrainStatus.State.TIMED_OUT))
                .put("blocked_units", 0)
                .put("active_units", job.leftObjects(DrainStatus.State.DRAINING))
                .put("migrated_bytes", job.movedBytes())
                .put("message", job.message())
                .put("error_code", 0)
                .put("error_message", "");
        return Response.json(200, root.toString());
    }

    private Response cancel(Request request) {
        String id = id(request, "/cancel");
        Optional<DrainJob> job = find(id);
        if (job.isEmpty()) {
            return unknown(id);
        }
        if (job.get().status() != DrainJob.Status.RUNNING) {
            return ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS.answer(
                    "the job has ended, %s; DELETE /api/v1/drain?node=NODE has a drained node take objects again"
                            .formatted(job.get().status()));
        }
        try {
            Answers.await(master.cancelDrains(job.get().startedAt()));
        } catch (IllegalStateException late) {
            return ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS.answer(
                    late.getMessage() + "; the next leader may go on with the job: ask again");
        }
        return Response.json(200, succeeded(id).put("status", "CANCELED").toString());
    }

    private List<DrainStatus> drains() {
        return Answers.await(master.drains());
    }

    private Optional<DrainJob> find(String id) {
        return DrainJob.startedAtMs(master.poolId(), id).flatMap(startedAtMs -> DrainJob.find(drains(), startedAtMs));
    }

    private static Response unknown(String id) {
        return ErrorCode.JOB_NOT_FOUND.answer(
                "no drain of this pool belongs to a job " + id + ", or its nodes have left: /api/v1/drains lists all");
    }

    private static ObjectNode succeeded(String id) {
        return JSON.createObjectNode()
                .put("success", true)
                .put("job_id", id)
                .put("error_code", 0)
                .put("error_message", "");
    }

    private static String id(Request request, String of) {
        return request.parameter("job_id")
                .filter(id -> id.length() == 36)
                .orElseThrow(() -> new IllegalArgumentException(
                        "name a job by the id that POST " + PATH + " has answered: " + PATH + of + "?job_id=ID"));
    }
}
