// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.admin.mooncake.MooncakeRoutes;
import dev.kvpool.dataplane.http.Caller;
import dev.kvpool.dataplane.http.NotPermittedException;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.nativelib.Status;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Mooncake's paths, asked of a core that has nodes and objects. */
class MooncakePathsTest {
    private static final long MIB = 1 << 20;
    private static final long DRAIN_MS = Scenario.OBJECT_LEASE_MS + 5_000;
    private static final Instant NOW = Instant.parse("2026-11-29T18:00:00Z");
    private static final String NO_JOB = "00000000-0000-0001-0000-000000000002";

    private final Scenario pool =
            new Scenario().withNodes(4 * MIB, "a", "b", "c").leading(7);
    private final AskedCore master = new AskedCore(pool);
    private final List<Route> routes = MooncakeRoutes.of(master, () -> NOW);
    private String caller = "";

    private Response ask(String method, String path, Map<String, String> query, String body) {
        Route route = routes.stream()
                .filter(each -> each.method().equals(method) && each.path().equals(path))
                .findFirst()
                .orElseThrow();
        Optional<PeerName> name =
                Optional.of(caller).filter(it -> !it.isEmpty()).map(it -> PeerName.ofPath(new UUID(1, 1), it));
        return route.answer()
                .apply(new Request(
                        query,
                        Optional.empty(),
                        new Caller(name, "", InetAddress.ofLiteral("127.0.0.1")),
                        bytesMax -> body));
    }

    private Response get(String path, String... query) {
        Map<String, String> parameters = new HashMap<>();
        for (int i = 0; i < query.length; i += 2) {
            parameters.put(query[i], query[i + 1]);
        }
        return ask("GET", path, parameters, "");
    }

    private static JsonNode json(Response answer, int status) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(status);
        try {
            return new ObjectMapper().readTree(answer.body());
        } catch (IOException e) {
            throw new AssertionError(answer.body(), e);
        }
    }

    private static void assertRefused(Response answer, int status, int code, String... words) {
        JsonNode error = json(answer, status);
        assertThat(error.path("success").asBoolean(true)).isFalse();
        assertThat(error.path("error_code").asInt()).isEqualTo(code);
        assertThat(error.path("error_message").asText()).contains(words);
    }

    private String drainJob(String body) {
        JsonNode created = json(ask("POST", "/api/v1/drain_jobs", Map.of(), body), 200);
        assertThat(created.path("success").asBoolean()).isTrue();
        assertThat(created.path("status").asText()).isEqualTo("CREATED");
        return created.path("job_id").asText();
    }

    private JsonNode job(String id) {
        return json(get("/api/v1/drain_jobs/query", "job_id", id), 200);
    }

    @Test
    void aLeaderIsHealthyAndServes() {
        assertThat(get("/health").body())
                .isEqualTo("{\"status\":\"ok\",\"role\":\"leader\",\"ha_state\":\"serving\",\"service_ready\":true}");
        assertThat(get("/ha_status").body()).isEqualTo("serving");
        assertThat(get("/leader").body()).isEqualTo("{\"present\":true,\"leader_address\":\"m-0\",\"view_version\":7}");
        assertThat(json(get("/kv_events/status"), 200).path("enabled").asBoolean())
                .isTrue();
    }

    @Test
    void aStandbyIsHealthyAndDoesNotServe() {
        pool.standBy();

        assertThat(get("/health").body())
                .isEqualTo("{\"status\":\"ok\",\"role\":\"standby\",\"ha_state\":\"standby\",\"service_ready\":false}");
        assertThat(get("/ha_status").body()).isEqualTo("standby");
        assertThat(json(get("/kv_events/status"), 200).path("enabled").asBoolean())
                .isFalse();
        assertThat(get("/get_all_segments").body()).isEqualTo("a\nb\nc\n");
    }

    @Test
    void aHangingMasterIsNotHealthy() {
        master.illness = Optional.of("the core of this master hangs");

        assertThat(json(get("/health"), 503).path("status").asText()).isEqualTo("the core of this master hangs");
    }

    @Test
    void aStandbySendsToTheLeader() {
        pool.standBy();

        for (Response answer : List.of(
                get("/get_segments_detail"),
                get("/api/v1/segments/status", "segment", "a"),
                get("/batch_query_keys", "keys", "k"),
                ask("POST", "/api/v1/drain_jobs", Map.of(), "{\"segments\":[\"a\"]}"),
                get("/api/v1/drain_jobs/query", "job_id", NO_JOB),
                ask("POST", "/api/v1/drain_jobs/cancel", Map.of("job_id", NO_JOB), ""))) {
            assertRefused(answer, 503, -1011, "does not serve as leader", "held by m-0");
        }
        assertThat(get("/query_segment", "segment", "a").status()).isEqualTo(503);
    }

    @Test
    void theSummaryHasTheNumbersOfThePool() {
        pool.fill("k", 5);

        assertThat(get("/metrics/summary").body())
                .startsWith("role=leader, state=serving, service_ready=true, master={Mem Storage: "
                        + pool.talkedTo().core().status().usedBytes() + " / ")
                .contains("| Keys: 5 | Clients: 1 | Nodes: 3 / 3 ready | Puts: 5 published | Evicted: 0 keys, 0 bytes}")
                .endsWith("\n");
    }

    @Test
    void aStorageNodeIsASegment() {
        pool.fill("k", 9);

        JsonNode detail = json(get("/get_segments_detail"), 200);

        assertThat(detail.path("total_segments").asInt()).isEqualTo(3);
        JsonNode a = detail.path("segments").path(0);
        assertThat(a.path("segment_name").asText()).isEqualTo("a");
        assertThat(a.path("status").asText()).isEqualTo("OK");
        assertThat(a.path("allocator_capacity_bytes").asLong())
                .isEqualTo(a.path("size_bytes").asLong())
                .isPositive();
        long used = a.path("allocator_used_bytes").asLong();
        assertThat(a.path("allocator_usage_percent").asDouble())
                .isEqualTo(100.0 * used / a.path("size_bytes").asLong());
        assertThat(get("/query_segment", "segment", "a").body())
                .isEqualTo("a\nUsed(bytes): %d\nCapacity(bytes) : %d\n"
                        .formatted(used, a.path("size_bytes").asLong()));
        assertThat(get("/api/v1/segments/status", "segment", "a").body())
                .isEqualTo("{\"success\":true,\"segment\":\"a\",\"status\":1,\"status_name\":\"OK\",\"error_code\":0,"
                        + "\"error_message\":\"\"}");
    }

    @Test
    void aNodeThatIsAwayIsNoSegmentAndItsStatusSaysWhy() {
        pool.crash("b");

        assertThat(get("/get_all_segments").body()).isEqualTo("a\nc\n");
        assertThat(json(get("/get_segments_detail"), 200).path("total_segments").asInt())
                .isEqualTo(2);
        JsonNode status = json(get("/api/v1/segments/status", "segment", "b"), 200);
        assertThat(status.path("status").asInt()).isZero();
        assertThat(status.path("status_name").asText()).isEqualTo("UNDEFINED");
        assertThat(status.path("error_message").asText()).isNotEmpty();
    }

    @Test
    void aSegmentThatIsNoneIsNamed() {
        assertRefused(get("/api/v1/segments/status"), 400, -600, "name a segment", "?segment=NODE");
        assertRefused(get("/api/v1/segments/status", "segment", ""), 400, -600, "name a segment");
        assertRefused(
                get("/api/v1/segments/status", "segment", "x".repeat(100_000)),
                404,
                -101,
                "x".repeat(64) + "...",
                "/get_all_segments");
        assertThat(get("/query_segment", "segment", "d").status()).isEqualTo(404);
        assertThatThrownBy(() -> get("/query_segment")).hasMessage("name a segment: /query_segment?segment=NODE");
    }

    @Test
    void keysAreFoundWithoutALease() {
        pool.fill("k", 1);

        JsonNode data =
                json(get("/batch_query_keys", "keys", "k0,none,k0"), 200).path("data");

        assertThat(data.size()).isEqualTo(2);
        JsonNode there = data.path("k0");
        assertThat(there.path("ok").asBoolean()).isTrue();
        assertThat(there.path("values")).hasSize(1);
        assertThat(there.path("values").path(0).path("size_").asLong()).isEqualTo(1000);
        String node = there.path("values").path(0).path("segment").asText();
        assertThat(pool.present(node, "k", 1)).isEqualTo(1);
        assertThat(data.path("none").toString()).isEqualTo("{\"ok\":false,\"error\":\"OBJECT_NOT_FOUND: unknown\"}");
        assertThat(pool.remove("k0", false)).as("no lease stands in the way").isEqualTo(Status.OK);
    }

    @Test
    void whatKeysAreNotIsSaid() {
        String tooMany = String.join(
                ",", IntStream.range(0, 1_001).mapToObj(i -> "k" + i).toList());

        assertRefused(get("/batch_query_keys"), 400, -600, "name keys", "?keys=KEY,KEY");
        assertRefused(get("/batch_query_keys", "keys", ""), 400, -600, "name keys");
        assertRefused(get("/batch_query_keys", "keys", "a,,b"), 400, -600, "name keys");
        assertRefused(
                get("/batch_query_keys", "keys", tooMany), 400, -600, "1000 keys at most, not 1001", "several times");
        assertRefused(get("/batch_query_keys", "keys", "k".repeat(4_097)), 400, -600, "1 to 4096 bytes");
        assertRefused(get("/batch_query_keys", "keys", "\0one\0k"), 400, -600, "zero");
    }

    @Test
    void aTenantFindsItsOwnKeysOnly() {
        pool.as(Tenant.of("one")).fill("mine", 1);
        pool.as(Tenant.of("two")).fill("theirs", 1);
        caller = "tenant/one/ro/x";

        JsonNode data =
                json(get("/batch_query_keys", "keys", "mine0,theirs0"), 200).path("data");

        assertThat(data.path("mine0").path("ok").asBoolean()).isTrue();
        assertThat(data.path("theirs0").toString()).isEqualTo("{\"ok\":false,\"error\":\"OBJECT_NOT_FOUND: unknown\"}");
        assertThatThrownBy(() -> get("/batch_query_keys", "keys", "theirs0", "tenant", "two"))
                .isInstanceOf(NotPermittedException.class);
        caller = "admin/x";
        assertThat(json(get("/batch_query_keys", "keys", "theirs0", "tenant", "two"), 200)
                        .path("data")
                        .path("theirs0")
                        .path("ok")
                        .asBoolean())
                .isTrue();
    }

    @Test
    void aDrainJobEmptiesItsNodesAndIsKnownByItsId() {
        pool.fill("k", 30);
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);

        String id = drainJob("{\"segments\": [\"a\", \"b\"], \"max_concurrency\": 4, \"target_segments\": []}");

        JsonNode running = job(id);
        assertThat(running.path("status").asInt()).isEqualTo(2);
        assertThat(running.path("status_name").asText()).isEqualTo("RUNNING");
        assertThat(running.path("type_name").asText()).isEqualTo("DRAIN");
        assertThat(running.path("segments").toString()).isEqualTo("[\"a\",\"b\"]");
        assertThat(json(get("/api/v1/segments/status", "segment", "a"), 200)
                        .path("status_name")
                        .asText())
                .isEqualTo("DRAINING");

        pool.world.run(2 * DRAIN_MS);

        JsonNode done = job(id);
        assertThat(done.path("status").asInt()).isEqualTo(3);
        assertThat(done.path("status_name").asText()).isEqualTo("SUCCEEDED");
        assertThat(done.path("succeeded_units").asLong()).isPositive();
        assertThat(done.path("migrated_bytes").asLong()).isPositive();
        assertThat(done.path("failed_units").asLong()).isZero();
        assertThat(pool.present("c", "k", 30)).isEqualTo(30);
        assertThat(json(get("/api/v1/segments/status", "segment", "b"), 200)
                        .path("status_name")
                        .asText())
                .isEqualTo("DRAINED");
        assertRefused(cancel(id), 409, -1010, "SUCCEEDED", "DELETE /api/v1/drain");
    }

    private Response cancel(String id) {
        return ask("POST", "/api/v1/drain_jobs/cancel", Map.of("job_id", id), "");
    }

    @Test
    void aCancelledJobLeavesItsNodesInThePool() {
        pool.fill("k", 30);
        String id = drainJob("{\"segments\":[\"a\"]}");

        assertThat(json(cancel(id), 200).path("status").asText()).isEqualTo("CANCELED");

        assertThat(job(id).path("status_name").asText()).isEqualTo("CANCELED");
        assertThat(json(get("/api/v1/segments/status", "segment", "a"), 200)
                        .path("status")
                        .asInt())
                .isEqualTo(1);
        assertRefused(cancel(id), 409, -1010, "CANCELED");
    }

    @Test
    void twoJobsAtOnceAreTwo() {
        pool.fill("k", 3);
        String one = drainJob("{\"segments\":[\"a\"]}");
        String other = drainJob("{\"segments\":[\"b\"]}");

        assertThat(one).isNotEqualTo(other);
        assertThat(job(one).path("segments").toString()).isEqualTo("[\"a\"]");
        assertThat(job(other).path("segments").toString()).isEqualTo("[\"b\"]");
    }

    /** Such as the leader before began, by a clock of its own. */
    @Test
    void aDrainOfTheSameTimeIsNotOfTheJob() {
        assertThat(pool.talkedTo().core().drain("a", false, 60_000, NOW.toEpochMilli(), pool.world.nowMs()))
                .isEmpty();

        String id = drainJob("{\"segments\":[\"b\"]}");

        assertThat(job(id).path("segments").toString()).isEqualTo("[\"b\"]");
    }

    @Test
    void aJobOfWhichOneNodeCannotBeDrainedDrainsNone() {
        pool.crash("c");

        assertRefused(
                ask("POST", "/api/v1/drain_jobs", Map.of(), "{\"segments\":[\"a\",\"c\"]}"),
                409,
                -1010,
                "node c does not take part now");

        assertThat(json(get("/api/v1/segments/status", "segment", "a"), 200)
                        .path("status_name")
                        .asText())
                .isEqualTo("OK");
    }

    @Test
    void aNodeIsInOneJobAtATime() {
        String id = drainJob("{\"segments\":[\"a\"]}");

        assertRefused(
                ask("POST", "/api/v1/drain_jobs", Map.of(), "{\"segments\":[\"b\",\"a\"]}"),
                409,
                -1010,
                "node a is being drained already",
                id);
        assertRefused(
                ask("POST", "/api/v1/drain_jobs", Map.of(), "{\"segments\":[\"d\"]}"),
                404,
                -101,
                "d",
                "/get_all_segments");
    }

    @Test
    void ofTwoJobsOfANodeAtOnceOneIsRefused() {
        AtomicReference<String> first = new AtomicReference<>();
        master.justBefore = () -> {
            master.justBefore = () -> {};
            first.set(drainJob("{\"segments\":[\"a\"]}"));
        };

        assertRefused(
                ask("POST", "/api/v1/drain_jobs", Map.of(), "{\"segments\":[\"b\",\"a\"]}"),
                409,
                -1010,
                "node a is being drained already");

        assertThat(job(first.get()).path("status_name").asText()).isEqualTo("RUNNING");
        assertThat(json(get("/api/v1/segments/status", "segment", "b"), 200)
                        .path("status_name")
                        .asText())
                .isEqualTo("OK");
    }

    @Test
    void aNodeWhoseJobHasNotEndedIsInNoOther() {
        pool.fill("k", 30);
        String id = drainJob("{\"segments\":[\"a\",\"b\"]}");
        master.cancelDrain("a").join();

        assertRefused(
                ask("POST", "/api/v1/drain_jobs", Map.of(), "{\"segments\":[\"a\"]}"),
                409,
                -1010,
                "node a",
                "has not ended",
                id);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aJobIsNotOverWhileANodeOfItIsDrainedByHand(boolean cancelledBefore) {
        pool.fill("k", 30);
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        String id = drainJob("{\"segments\":[\"a\",\"b\"]}");
        if (cancelledBefore) {
            master.cancelDrain("a").join();
        }

        assertThat(master.drain("a", false, Duration.ofHours(1), NOW.plusSeconds(60))
                        .join())
                .isEmpty();

        assertThat(job(id).path("segments").toString()).isEqualTo("[\"a\",\"b\"]");
        assertThat(job(id).path("status_name").asText()).isEqualTo("RUNNING");
        pool.world.run(4 * DRAIN_MS);
        assertThat(job(id).path("status_name").asText()).isEqualTo("SUCCEEDED");
    }

    /** As the operator has a node leave, in whatever job that is. */
    @Test
    void aNodeThatIsToLeaveIsNotTakenBackWithAJob() {
        pool.fill("k", 30);
        String id = drainJob("{\"segments\":[\"a\",\"b\"]}");
        assertThat(master.drain("a", true, Duration.ofHours(1), NOW.plusSeconds(60))
                        .join())
                .isEmpty();

        json(cancel(id), 200);

        assertThat(master.drains().join())
                .filteredOn(drain -> drain.node().equals("a"))
                .extracting(DrainStatus::state)
                .isNotEmpty()
                .doesNotContain(DrainStatus.State.CANCELLED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", NO_JOB + "0", "zz000000-0000-0001-0000-000000000002", "1-1-1-1-1"})
    void whatIsNoJobIdIsRefused(String id) {
        for (Response answer : List.of(get("/api/v1/drain_jobs/query", "job_id", id), cancel(id))) {
            JsonNode error = json(answer, id.length() == 36 ? 404 : 400);
            assertThat(error.path("error_code").asInt()).isEqualTo(id.length() == 36 ? -1402 : -600);
        }
    }

    @Test
    void anUnknownJobIsNamed() {
        assertRefused(get("/api/v1/drain_jobs/query"), 400, -600, "?job_id=ID");
        assertRefused(get("/api/v1/drain_jobs/query", "job_id", NO_JOB), 404, -1402, NO_JOB, "/api/v1/drains");
        String id = drainJob("{\"segments\":[\"a\"]}");
        String ofAnotherPool = id.substring(0, 19) + "0000-0000000000ff";
        assertRefused(cancel(ofAnotherPool), 404, -1402, ofAnotherPool);
        assertThat(job(id).path("status_name").asText()).isEqualTo("RUNNING");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | no JSON object",
                "{ | no JSON",
                "[] | no JSON object",
                "null | no JSON object",
                "{} | segments names no storage node: send",
                "{\"segments\":[]} | segments names no storage node",
                "{\"segments\":\"a\"} | segments names no storage node",
                "{\"segments\":[1]} | something that is no name",
                "{\"segments\":[\"\"]} | something that is no name",
                "{\"segments\":[\"a\",\"a\"]} | names a twice",
                "{\"segments\":[\"a\"],\"segments\":[\"b\"]} | Duplicate field",
                "{\"segments\":[\"a\"]}{} | no JSON",
                "{\"segments\":[\"a\"],\"target_segments\":[\"b\"]} | leave target_segments out",
                "{\"segments\":[\"a\"],\"target_segments\":\"b\"} | leave target_segments out",
                "{\"segments\":[\"a\"],\"max_concurrency\":0} | max_concurrency must be a number of 1 or more",
                "{\"segments\":[\"a\"],\"max_concurrency\":\"4\"} | max_concurrency must be a number of 1 or more",
                "{\"segments\":[\"a\"],\"timeout\":4} | no field of the name timeout",
            })
    void aBodyThatIsNoneSaysWhyAndDrainsNothing(String body, String why) {
        assertRefused(ask("POST", "/api/v1/drain_jobs", Map.of(), body), 400, -600, why);

        assertThat(pool.talkedTo().core().status().drains()).isEmpty();
    }
}
