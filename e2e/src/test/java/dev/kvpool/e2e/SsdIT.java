// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** A storage node with a disk below its memory. */
@OnScene(namespace = SsdIT.NAMESPACE, pool = SsdIT.POOL, objects = SsdIT.OBJECTS)
@Order(4)
@TestInstance(Lifecycle.PER_CLASS)
class SsdIT {
    static final String NAMESPACE = "kvpool-e2e-ssd";
    static final String POOL = "ssd";

    /** Of 64 KiB each, for each prefix: what one client puts has room in the segment twice, what all put has not. */
    static final int OBJECTS = 400;

    private static final List<String> PREFIXES = List.of("a", "b", "c", "d");

    /** Objects of 64 KiB that a segment of 64Mi can hold. */
    private static final int IN_MEMORY_MAX = 1024;

    private static final Pattern READ_BACK = Pattern.compile("read back (\\d+) of \\d+ objects");

    private Scene scene;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.scene = scene;
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  storage: [{name: deep, capacity: 64Mi, ssd: {capacity: 512Mi}}]
                """.formatted(POOL));
        scene.pool().awaitReady();
    }

    @Test
    @DisplayName(
            "a pool keeps more than its memory holds, and finds it again when the storage node's container was killed")
    void moreThanMemoryHolds() {
        PREFIXES.forEach(scene::assertPut);
        // A disk that is slower than the puts costs objects, so not all must be there.
        assertThat(readBack()).as("objects read back").isGreaterThan(IN_MEMORY_MAX);

        Pod storage = scene.pool().storagePods().getFirst();
        scene.killer().kill(storage);
        scene.restarts().awaitRestartOf(storage);
        scene.pool().awaitReady();

        assertThat(readBack()).as("objects read back after a restart").isGreaterThan(IN_MEMORY_MAX);
    }

    private int readBack() {
        List<String> lines = PREFIXES.stream()
                .flatMap(prefix -> scene.clients().getSome(prefix, OBJECTS).stream())
                .toList();
        assertThat(lines).noneMatch(line -> line.contains("WRONG BYTES"));
        return lines.stream()
                .map(READ_BACK::matcher)
                .filter(Matcher::find)
                .mapToInt(found -> Integer.parseInt(found.group(1)))
                .sum();
    }
}
