// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.nativelib.NativeClient;
import dev.kvpool.nativelib.ObjectValue;
import dev.kvpool.nativelib.Status;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** What a client was told that the pool has, and whether it has it. */
final class Acknowledged {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final Map<String, byte[]> values = new LinkedHashMap<>();
    private final Random random;

    /** @param seed of the values' lengths and bytes */
    Acknowledged(long seed) {
        this.random = new Random(seed);
    }

    /** Puts objects of random bytes, each shorter than so many, in one batch. */
    void putSome(NativeClient client, int count, int valueBytes) {
        Map<String, byte[]> batch = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            batch.put("key-" + (values.size() + i), bytes(random.nextInt(valueBytes)));
        }
        assertThat(client.put(batch, TIMEOUT)).as(client::explain).containsOnly(Status.OK);
        values.putAll(batch);
    }

    /** Puts one of exactly so many random bytes. */
    void putOne(NativeClient client, int valueBytes) {
        Map<String, byte[]> one = Map.of("key-" + values.size(), bytes(valueBytes));
        assertThat(client.put(one, TIMEOUT)).as(client::explain).containsExactly(Status.OK);
        values.putAll(one);
    }

    private byte[] bytes(int length) {
        byte[] value = new byte[length];
        random.nextBytes(value);
        return value;
    }

    void awaitPut(NativeClient client, String key) {
        byte[] value = key.getBytes(StandardCharsets.UTF_8);
        await("put " + key)
                .atMost(LocalRun.PATIENCE)
                .untilAsserted(() -> assertThat(client.put(Map.of(key, value), TIMEOUT))
                        .as(client::explain)
                        .containsExactly(Status.OK));
        values.put(key, value);
    }

    /** A node that restarts makes objects unavailable for a while; wrong bytes are wrong at any time. */
    void awaitAllReadBack(NativeClient client) {
        await("reading back")
                .atMost(LocalRun.PATIENCE)
                .untilAsserted(() -> assertThat(get(client))
                        .extracting(ObjectValue::status)
                        .as(client::explain)
                        .containsOnly(Status.OK));
    }

    /** All of them, in order of their puts; those that come have the right bytes. */
    List<ObjectValue> get(NativeClient client) {
        List<String> keys = keys();
        List<ObjectValue> found = client.get(keys, TIMEOUT);
        for (int i = 0; i < keys.size(); i++) {
            requireSameBytes(keys.get(i), found.get(i));
        }
        return found;
    }

    private void requireSameBytes(String key, ObjectValue value) {
        if (value.bytes().isPresent() && !Arrays.equals(value.bytes().get(), values.get(key))) {
            throw new IllegalStateException("wrong bytes under " + key); // not an assertion: must end the waiting
        }
    }

    /** They are not there any more. */
    void forget(Collection<String> keys) {
        values.keySet().removeAll(keys);
    }

    /** In order of their puts. */
    List<String> keys() {
        return new ArrayList<>(values.keySet());
    }

    byte[] value(String key) {
        return values.get(key);
    }

    Collection<byte[]> values() {
        return values.values();
    }

    int count() {
        return values.size();
    }
}
