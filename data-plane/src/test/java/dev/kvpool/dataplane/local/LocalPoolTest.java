// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.Kvpool;
import dev.kvpool.nativelib.ClientParameters;
import dev.kvpool.nativelib.NativeClient;
import dev.kvpool.nativelib.ObjectValue;
import dev.kvpool.nativelib.Status;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A whole pool of real processes under a real client: what was acknowledged is there, whoever was killed. */
class LocalPoolTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int VALUE_BYTES_MAX = 200_000;

    private final Map<String, byte[]> acknowledged = new LinkedHashMap<>();
    private final Random random = new Random(3);
    private Path dir;

    @BeforeEach
    void makeDirectory() throws Exception {
        dir = Files.createTempDirectory(Path.of("/dev/shm"), "kvpool-test-");
    }

    @AfterEach
    void removeDirectory() throws Exception {
        try (var tree = Files.walk(dir)) {
            for (Path file : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void everyKeyIsAnsweredForItself() throws Exception {
        try (LocalRun local = LocalRun.start(Kvpool.class)) {
            local.awaitLines("ready ", 1);
            try (NativeClient client = connect(local.masters(1))) {
                putSome(client, 20);
                String key = acknowledged.keySet().iterator().next();

                assertThat(client.put(Map.of("empty", new byte[0]), TIMEOUT)).containsExactly(Status.OK);
                assertThat(client.put(Map.of(key, new byte[] {1}), TIMEOUT)).containsExactly(Status.OK);
                assertThat(client.put(Map.of("", new byte[1]), TIMEOUT)).containsExactly(Status.INVALID_KEY);
                assertThat(client.put(Map.of("k".repeat(10_240), new byte[1]), TIMEOUT))
                        .containsExactly(Status.INVALID_KEY);
                assertThat(client.put(Map.of("huge", new byte[40 << 20]), TIMEOUT))
                        .containsExactly(Status.TOO_LARGE);
                assertThat(client.exists(List.of(key, "absent"), TIMEOUT)).containsExactly(Status.OK, Status.NOT_FOUND);
                List<ObjectValue> values = client.get(List.of("absent", "empty", key), TIMEOUT);
                assertThat(values)
                        .extracting(ObjectValue::status)
                        .containsExactly(Status.NOT_FOUND, Status.OK, Status.OK);
                assertThat(values.get(1).bytes().orElseThrow()).isEmpty();
                assertThat(values.get(2).bytes().orElseThrow())
                        .as("the first value stays")
                        .isEqualTo(acknowledged.get(key));
                assertThat(client.remove(List.of(key), true, TIMEOUT)).containsExactly(Status.OK);
                assertThat(client.exists(List.of(key), TIMEOUT)).containsExactly(Status.NOT_FOUND);
                assertThat(client.removeAll(true, TIMEOUT)).isEqualTo(acknowledged.size());
                assertThat(client.stats().leaderKnown()).isTrue();
            }
        }
    }

    @Test
    void whoeverIsKilledNothingAcknowledgedIsLost() throws Exception {
        try (LocalRun local = LocalRun.start(Kvpool.class, "--masters", "2", "--storage-nodes", "2", "--restart")) {
            local.awaitLines("ready ", 1);
            try (NativeClient client = connect(local.masters(2))) {
                putSome(client, 40);
                for (String victim : List.of("master-0", "node-0", "master-1", "node-1")) {
                    local.kill(victim);
                    awaitPut(client, "after " + victim);
                    local.awaitLines("started " + victim, 2);
                    awaitAllReadBack(client);
                    putSome(client, 5);
                }
            }
        }
    }

    @Test
    void withADirectoryObjectsSurviveARestartOfLocal() throws Exception {
        String[] flags = {"--data-dir", dir.toString(), "--storage-nodes", "2"};
        try (LocalRun local = LocalRun.start(Kvpool.class, flags)) {
            local.awaitLines("ready ", 1);
            try (NativeClient client = connect(local.masters(1))) {
                putSome(client, 30);
            }
            assertThat(local.stop()).isZero();
        }
        try (LocalRun local = LocalRun.start(Kvpool.class, flags)) {
            local.awaitLines("ready ", 1);
            try (NativeClient client = connect(local.masters(1))) {
                awaitAllReadBack(client);
            }
        }
    }

    private void putSome(NativeClient client, int count) {
        Map<String, byte[]> batch = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            byte[] value = new byte[random.nextInt(VALUE_BYTES_MAX)];
            random.nextBytes(value);
            batch.put("key-" + (acknowledged.size() + i), value);
        }
        assertThat(client.put(batch, TIMEOUT)).as(client::explain).containsOnly(Status.OK);
        acknowledged.putAll(batch);
    }

    private void awaitPut(NativeClient client, String key) {
        byte[] value = key.getBytes(StandardCharsets.UTF_8);
        await("put " + key)
                .atMost(LocalRun.PATIENCE)
                .untilAsserted(() -> assertThat(client.put(Map.of(key, value), TIMEOUT))
                        .as(client::explain)
                        .containsExactly(Status.OK));
        acknowledged.put(key, value);
    }

    /** A node that restarts makes objects unavailable for a while; wrong bytes are wrong at any time. */
    private void awaitAllReadBack(NativeClient client) {
        List<String> keys = new ArrayList<>(acknowledged.keySet());
        await("reading back").atMost(LocalRun.PATIENCE).untilAsserted(() -> {
            List<ObjectValue> values = client.get(keys, TIMEOUT);
            for (int i = 0; i < keys.size(); i++) {
                requireSameBytes(keys.get(i), values.get(i));
            }
            assertThat(values)
                    .extracting(ObjectValue::status)
                    .as(client::explain)
                    .containsOnly(Status.OK);
        });
    }

    private void requireSameBytes(String key, ObjectValue value) {
        if (value.bytes().isPresent() && !Arrays.equals(value.bytes().get(), acknowledged.get(key))) {
            throw new IllegalStateException("wrong bytes under " + key); // not an assertion: must end the waiting
        }
    }

    private static NativeClient connect(String masters) {
        return NativeClient.connect(ClientParameters.of(masters));
    }
}
