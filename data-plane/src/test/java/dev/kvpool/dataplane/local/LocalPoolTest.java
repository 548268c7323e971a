// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.Kvpool;
import dev.kvpool.nativelib.ClientParameters;
import dev.kvpool.nativelib.NativeClient;
import dev.kvpool.nativelib.ObjectValue;
import dev.kvpool.nativelib.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A whole pool of real processes under a real client: what was acknowledged is there, whoever was killed. */
class LocalPoolTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int VALUE_BYTES_MAX = 200_000;

    private final Acknowledged acknowledged = new Acknowledged(3);
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
                acknowledged.putSome(client, 20, VALUE_BYTES_MAX);
                String key = acknowledged.keys().getFirst();

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
                        .isEqualTo(acknowledged.value(key));
                assertThat(client.remove(List.of(key), true, TIMEOUT)).containsExactly(Status.OK);
                assertThat(client.exists(List.of(key), TIMEOUT)).containsExactly(Status.NOT_FOUND);
            }
        }
    }

    @Test
    void whoeverIsKilledNothingAcknowledgedIsLost() throws Exception {
        try (LocalRun local = LocalRun.start(Kvpool.class, "--masters", "2", "--storage-nodes", "2", "--restart")) {
            local.awaitLines("ready ", 1);
            try (NativeClient client = connect(local.masters(2))) {
                acknowledged.putSome(client, 40, VALUE_BYTES_MAX);
                for (String victim : List.of("master-0", "node-0", "master-1", "node-1")) {
                    local.kill(victim);
                    acknowledged.awaitPut(client, "after " + victim);
                    local.awaitLines("started " + victim, 2);
                    acknowledged.awaitAllReadBack(client);
                    acknowledged.putSome(client, 5, VALUE_BYTES_MAX);
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
                acknowledged.putSome(client, 30, VALUE_BYTES_MAX);
            }
            assertThat(local.stop()).isZero();
        }
        try (LocalRun local = LocalRun.start(Kvpool.class, flags)) {
            local.awaitLines("ready ", 1);
            try (NativeClient client = connect(local.masters(1))) {
                acknowledged.awaitAllReadBack(client);
            }
        }
    }

    private static NativeClient connect(String masters) {
        return NativeClient.connect(ClientParameters.of(masters));
    }
}
