// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What engines require of the ConfigMap for clients, pool by pool of golden/. */
class ClientConfigMapTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set<String> WITH_ENGINE_SEGMENTS = Set.of("engines-only", "ascend-embedded");

    static List<String> cases() throws IOException {
        return GoldenPool.names();
    }

    /** vLLM raises ValueError for a segment of 0 in another mode, and for a local buffer of 0; it takes rdma by default. */
    @ParameterizedTest
    @MethodSource("cases")
    void vllmTakesTheFile(String name) throws IOException {
        JsonNode file = file(name, "mooncake.json");

        boolean none = file.path("global_segment_size").asLong(-1) == 0;
        assertThat(file.path("mode").asText()).isEqualTo(none ? "standalone-store" : "embedded");
        assertThat(none).isNotEqualTo(WITH_ENGINE_SEGMENTS.contains(name));
        assertThat(file.path("local_buffer_size").asLong()).isPositive();
        assertThat(file.path("protocol").asText()).isEqualTo("tcp");
    }

    /** A put that LMCache gives up still reads the buffer. The client's own deadline is the one that ends it. */
    @ParameterizedTest
    @MethodSource("cases")
    void lmcacheWaitsLongerThanTheClient(String name) throws IOException {
        JsonNode file = file(name, "mooncake.json");

        assertThat(file.path("local_hostname").asText()).isNotEmpty();
        assertThat(file.path("transfer_timeout").asInt())
                .isGreaterThan(seconds(data(name).get("KVPOOL_RETRY_DEADLINE")));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theFileForVllmAscendDiffersInItsProtocol(String name) throws IOException {
        ObjectNode ascend = (ObjectNode) file(name, "mooncake-ascend.json");

        assertThat(ascend.path("protocol").asText()).isEqualTo("ascend");
        assertThat(ascend.put("protocol", "tcp")).isEqualTo(file(name, "mooncake.json"));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void variablesSayWhatTheFileSays(String name) throws IOException {
        JsonNode file = file(name, "mooncake.json");

        assertThat(data(name))
                .containsEntry(
                        "MOONCAKE_MASTER", file.path("master_server_address").asText())
                .containsEntry(
                        "MOONCAKE_TE_META_DATA_SERVER",
                        file.path("metadata_server").asText())
                .containsEntry("MOONCAKE_PROTOCOL", file.path("protocol").asText())
                .containsEntry(
                        "MOONCAKE_GLOBAL_SEGMENT_SIZE",
                        file.path("global_segment_size").asText())
                .containsEntry(
                        "MOONCAKE_LOCAL_BUFFER_SIZE",
                        file.path("local_buffer_size").asText());
    }

    /** Whatever protocols the pool's TransferEngine has: those are for KVPOOL_PROTOCOLS. */
    @ParameterizedTest
    @MethodSource("cases")
    void enginesThatAskForAscendOrRdmaGetThoseOfThePool(String name) throws IOException {
        assertThat(data(name)).containsEntry("KVPOOL_PROTOCOL_OVERRIDE", "tcp");
        assertThat(data(name).get("KVPOOL_PROTOCOLS").split(",")).containsAnyOf("tcp", "ascend");
    }

    /** The page's is run against LMCache's own code; masters come from the environment here. */
    @ParameterizedTest
    @MethodSource("cases")
    void theAdapterOfLmcacheIsThatOfThePage(String name) throws IOException {
        Matcher block = Pattern.compile("```json\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../docs/engines/lmcache.md")));
        assertThat(block.find()).isTrue();
        ObjectNode documented = (ObjectNode) JSON.readTree(block.group(1));
        ((ObjectNode) documented.path("adapter_params")).remove("masters");

        assertThat(file(name, "KVPOOL_LMCACHE_L2")).isEqualTo(documented);
    }

    private static int seconds(String time) {
        assertThat(time).matches("[0-9]+s");
        return Integer.parseInt(time.substring(0, time.length() - 1));
    }

    private static JsonNode file(String name, String key) throws IOException {
        return JSON.readTree(data(name).get(key));
    }

    private static Map<String, String> data(String name) throws IOException {
        return GoldenPool.of(name).plan().apply().stream()
                .filter(ConfigMap.class::isInstance)
                .map(ConfigMap.class::cast)
                .filter(map -> map.getMetadata().getName().endsWith("-client"))
                .map(ConfigMap::getData)
                .findFirst()
                .orElseThrow();
    }
}
