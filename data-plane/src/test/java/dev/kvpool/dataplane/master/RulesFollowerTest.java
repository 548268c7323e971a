// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.wire.PeerSocket;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real master beside its file of cache rules, which it finds by the file of expected nodes. */
class RulesFollowerTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    @TempDir
    Path directory;

    @Test
    void theFileOfCacheRulesIsFollowedAndABrokenOneChangesNothing() throws Exception {
        Path nodes = directory.resolve("expected-nodes");
        Path file = directory.resolve("cache-rules");
        Files.writeString(nodes, "a\n");
        Files.writeString(file, "replicas=2\n");
        MasterConfig config =
                new LoopbackMaster(POOL, "m-1", directory).reading(nodes).config();
        try (MasterProcess following = MasterProcess.start(config, PeerSocket.VERSIONS, (what, cause) -> {})) {
            assertThat(rules(following).path("problem").asText()).contains("not whole");
            assertThat(rules(following).path("digest").asText()).isEmpty();
            assertThat(rules(following).path("replicas").asInt()).isEqualTo(1);

            Files.writeString(file, "replicas=2\nobject-lease=1m\nend\n");
            await().atMost(PATIENCE)
                    .until(() -> !rules(following).path("digest").asText().isEmpty()
                            && rules(following).path("problem").asText().isEmpty());
            JsonNode followed = rules(following);
            assertThat(followed.path("replicas").asInt()).isEqualTo(2);
            assertThat(followed.path("objectLeaseMs").asLong()).isEqualTo(60_000);

            Files.writeString(file, "replicas=3\ncolour=red\nend\n");
            await().atMost(PATIENCE)
                    .until(() -> rules(following).path("problem").asText().contains("colour=red"));
            assertThat(rules(following).path("digest")).isEqualTo(followed.path("digest"));
            assertThat(rules(following).path("replicas").asInt()).isEqualTo(2);

            Files.writeString(file, "replicas=2\nobject-lease=1m\nend\n");
            await().atMost(PATIENCE)
                    .until(() -> rules(following).path("problem").asText().isEmpty());
        }
    }

    @Test
    void quotasThatAreChangedOverHttpAreInTheFileThatAllMastersRead() throws Exception {
        Path nodes = directory.resolve("expected-nodes");
        Path file = directory.resolve("cache-rules");
        Files.writeString(nodes, "a\n");
        Files.writeString(file, "replicas=2\ntenant-quotas=chat:guaranteed=100:objects=7\nend\n");
        MasterConfig config =
                new LoopbackMaster(POOL, "m-1", directory).reading(nodes).config();
        try (MasterProcess leader = MasterProcess.start(config, PeerSocket.VERSIONS, (what, cause) -> {})) {
            await().atMost(PATIENCE).until(() -> quota(leader, "GET", "", "").statusCode() == 200);
            assertThat(quota(leader, "PUT", "?tenant_id=chat", "{\"requested_quota_bytes\":99}")
                            .body())
                    .contains("is guaranteed 100 bytes");
            for (String wrong :
                    List.of("", "{}", "{\"requested_quota_bytes\":0}", "{\"requested_quota_bytes\":\"1\"}")) {
                assertThat(quota(leader, "PUT", "?tenant_id=chat", wrong).statusCode())
                        .as(wrong)
                        .isEqualTo(400);
            }
            assertThat(quota(leader, "PUT", "", "{\"requested_quota_bytes\":1}").statusCode())
                    .isEqualTo(400);
            HttpResponse<String> given = quota(leader, "PUT", "?tenant_id=chat", "{\"requested_quota_bytes\":2000}");
            assertThat(given.statusCode()).isEqualTo(200);
            assertThat(given.body()).contains("\"requested_quota_bytes\":2000", "\"guaranteed_bytes\":100");
            assertThat(quota(leader, "PUT", "?tenant_id=new", "{\"requested_quota_bytes\":3}")
                            .statusCode())
                    .isEqualTo(200);
            assertThat(Files.readString(file))
                    .isEqualTo(
                            "replicas=2\ntenant-quotas=chat:guaranteed=100:ceiling=2000:objects=7,new:ceiling=3\nend\n");
        }
        try (MasterProcess next = MasterProcess.start(config, PeerSocket.VERSIONS, (what, cause) -> {})) {
            await().atMost(PATIENCE).until(() -> quota(next, "GET", "", "").statusCode() == 200);
            assertThat(quota(next, "GET", "?tenant_id=new", "").body()).contains("\"requested_quota_bytes\":3");
            assertThat(quota(next, "DELETE", "?tenant_id=new", "").statusCode()).isEqualTo(200);
            assertThat(quota(next, "DELETE", "?tenant_id=new", "").statusCode()).isEqualTo(404);
            assertThat(Files.readString(file)).contains("tenant-quotas=chat:").doesNotContain("new");
            assertThat(rules(next).path("replicas").asInt()).isEqualTo(2);
        }
    }

    private static HttpResponse<String> quota(MasterProcess of, String method, String query, String body)
            throws IOException, InterruptedException {
        URI path = URI.create("http://127.0.0.1:" + of.adminPort() + "/api/v1/tenant_quotas" + query);
        return HTTP.send(
                HttpRequest.newBuilder(path)
                        .method(method, BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    private static JsonNode rules(MasterProcess of) throws IOException, InterruptedException {
        URI pool = URI.create("http://127.0.0.1:" + of.adminPort() + "/api/v1/pool");
        String document = HTTP.send(HttpRequest.newBuilder(pool).build(), BodyHandlers.ofString())
                .body();
        return new ObjectMapper().readTree(document).path("cacheRules");
    }
}
