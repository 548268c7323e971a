// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.Kvpool;
import dev.kvpool.nativelib.ClientParameters;
import dev.kvpool.nativelib.NativeClient;
import dev.kvpool.nativelib.ObjectValue;
import dev.kvpool.nativelib.Status;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pool that holds more than its memory: a real node, a real file, a real client. */
class LocalSsdTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int VALUE_BYTES = 256 << 10;

    /** Of the segment of 32 MiB: there is room for another value. */
    private static final long SETTLED_BYTES = 30L << 20;

    /** No node evicts while less than this is used. */
    private static final double HIGH = 0.90;

    private static final List<String> FLAGS = List.of(
            "--restart",
            "--object-lease",
            "500ms",
            "--eviction-high-watermark",
            "" + HIGH,
            "--eviction-low-watermark",
            "0.85");

    private static final String SSD_SIZE = "256MiB";

    /** More than any disk has that tests run on. */
    private static final String TOO_LARGE = "31TiB";

    private final Acknowledged put = new Acknowledged(5);

    @TempDir
    private Path ssd;

    @Test
    void aPoolHoldsMoreThanItsMemoryAlsoWhenItsNodeIsKilledAndItsDiskTellsNothing() throws Exception {
        Path key = Files.writeString(ssd.resolve("key"), "0123456789abcdef".repeat(4) + "\n");
        try (LocalRun local = start(SSD_SIZE, "--ssd-key-file", key.toString());
                NativeClient client = connect(local)) {
            fill(local, client, 240);
            assertThat(node(local).path("ssd").path("objects").asInt()).isGreaterThan(100);
            put.awaitAllReadBack(client);

            List<String> removed = put.keys().subList(0, 60);
            assertThat(client.remove(removed, true, TIMEOUT)).containsOnly(Status.OK);
            put.forget(removed);
            local.kill("node-0");
            local.awaitLines("started node-0", 2);
            put.awaitAllReadBack(client);
            assertThat(client.exists(removed, TIMEOUT)).containsOnly(Status.NOT_FOUND);
        }
        // One byte is one character, so that a search of the text is one of the bytes.
        String disk = Files.readString(ssd.resolve("node-0").resolve("ssd-0.kvt"), StandardCharsets.ISO_8859_1);
        assertThat(disk).doesNotContain("key-");
        assertThat(put.values())
                .noneMatch(value -> disk.contains(new String(value, 0, 16, StandardCharsets.ISO_8859_1)));
    }

    @Test
    void aFileThatIsCutBelowCostsWhatLayInItAndMemoryGoesOn() throws Exception {
        try (LocalRun local = start(SSD_SIZE);
                NativeClient client = connect(local)) {
            fill(local, client, 160);
            awaitNothingArrives(local);
            try (RandomAccessFile file = new RandomAccessFile(
                    ssd.resolve("node-0").resolve("ssd-0.kvt").toFile(), "rw")) {
                file.setLength(1 << 20);
            }
            assertThat(put.get(client))
                    .extracting(ObjectValue::status)
                    .contains(Status.OK)
                    .doesNotContain(Status.CHECKSUM);
            await("the reason in the status")
                    .atMost(LocalRun.PATIENCE)
                    .untilAsserted(() -> assertThat(
                                    node(local).path("ssd").path("problem").asText())
                            .contains("cut it short"));
            assertThat(ssdIsOff(local)).isTrue();
            requireServing(client);
        }
    }

    @Test
    void aDiskThatHasNotEnoughRoomCostsTheTierOnlyAndTheReasonIsShown() throws Exception {
        try (LocalRun local = start(TOO_LARGE);
                NativeClient client = connect(local)) {
            await("the reason in the status")
                    .atMost(LocalRun.PATIENCE)
                    .untilAsserted(() -> assertThat(
                                    node(local).path("ssd").path("problem").asText())
                            .contains("ssd-0.kvt cannot have 34084860461056 bytes"));
            assertThat(node(local).path("ssd").path("capacityBytes").asLong()).isZero();
            assertThat(ssdIsOff(local)).isTrue();
            assertThat(ssd.resolve("node-0")).isEmptyDirectory();
            requireServing(client);
        }
    }

    private static void requireServing(NativeClient client) {
        byte[] value = {1, 2, 3};
        assertThat(client.put(Map.of("after", value), TIMEOUT)).containsExactly(Status.OK);
        assertThat(client.get(List.of("after"), TIMEOUT).getFirst().bytes().orElseThrow())
                .isEqualTo(value);
    }

    /** The metric that an alert looks at. */
    private static boolean ssdIsOff(LocalRun local) throws IOException, InterruptedException {
        return get("http://127.0.0.1:" + local.nodeAdminPort() + "/metrics")
                .lines()
                .anyMatch("kvpool_node_ssd_off 1.0"::equals);
    }

    private LocalRun start(String ssdSize, String... more) throws Exception {
        List<String> flags = new ArrayList<>(FLAGS);
        flags.addAll(List.of(more));
        flags.addAll(List.of("--ssd-size", ssdSize, "--ssd-dir", ssd.toString()));
        return LocalRun.start(Kvpool.class, flags.toArray(new String[0])).awaitLines("ready ", 1);
    }

    private static NativeClient connect(LocalRun local) {
        return NativeClient.connect(ClientParameters.of(local.masters(1)));
    }

    /** As fast as the SSD takes what has to leave memory, since what it cannot take in time is evicted. */
    private void fill(LocalRun local, NativeClient client, int count) {
        while (put.count() < count) {
            put.putOne(client, VALUE_BYTES);
            await("room in memory")
                    .atMost(LocalRun.PATIENCE)
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> node(local).path("usedBytes").asLong() < SETTLED_BYTES);
        }
    }

    /** Until what is below the watermark and on its way to the SSD has arrived: a write would make a file whole again. */
    private static void awaitNothingArrives(LocalRun local) {
        await("an idle SSD").atMost(LocalRun.PATIENCE).until(() -> {
            JsonNode node = node(local);
            return node.path("usedBytes").asLong() < node.path("capacityBytes").asLong() * HIGH
                    && node.path("ssd").path("arriving").asLong() == 0;
        });
    }

    private static JsonNode node(LocalRun local) throws IOException, InterruptedException {
        String pool = get("http://127.0.0.1:" + local.adminPort() + "/api/v1/pool");
        return new ObjectMapper().readTree(pool).path("nodes").path(0);
    }

    private static String get(String where) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(where)).build();
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        }
    }
}
