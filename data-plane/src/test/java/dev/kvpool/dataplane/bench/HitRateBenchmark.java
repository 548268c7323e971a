// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * How many blocks of prompts the master's eviction has kept, beside other caches of the same memory: its policy alone, and its core with
 * the marks of a pool. Run by {@code data-plane/bench/hit-rate}; not part of the tests. No times count, so a busy machine makes no
 * difference.
 */
class HitRateBenchmark {
    private static final String TRACE = System.getProperty("kvpool.bench.trace", "");
    private static final long SEED = Long.getLong("kvpool.bench.seed", 1);

    private static final double[] MEMORIES = {0.02, 0.05, 0.15, 0.4};

    @Test
    void measure() throws IOException {
        if (TRACE.isEmpty()) {
            PromptTrace.generated(new Random(SEED)).forEach((name, trace) -> replay(name + ", seed " + SEED, trace));
        } else {
            replay(TRACE, PromptTrace.read(Path.of(TRACE)));
        }
    }

    private static void replay(String name, PromptTrace trace) {
        System.out.printf(
                "%s: %d prompts, %d blocks, %d of them different%n",
                name, trace.prompts().size(), trace.asked(), trace.blocks());
        for (double part : MEMORIES) {
            int capacity = (int) (trace.blocks() * part);
            PooledPrompts pool = new PooledPrompts(capacity);
            Map<String, PromptCache> caches = new LinkedHashMap<>();
            caches.put("pool", pool);
            caches.put("policy", new PromptCache.Policy(capacity));
            caches.put("LRU", new PromptCache.Lru(capacity));
            caches.put("S3-FIFO", new PromptCache.S3Fifo(capacity));
            caches.put("clairvoyant", new PromptCache.Clairvoyant(capacity, trace));
            System.out.printf("  room for %4.1f %%, %6d blocks:", 100 * part, capacity);
            caches.forEach((which, cache) -> System.out.printf("  %s %.4f", which, trace.hitRate(cache)));
            System.out.printf(
                    "; the pool is %.1f %% full, %d blocks waited for room%n", 100 * pool.used(), pool.waited());
        }
    }
}
