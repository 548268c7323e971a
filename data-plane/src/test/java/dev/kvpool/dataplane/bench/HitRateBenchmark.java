// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * How many blocks of prompts the master's own eviction has kept, beside other caches of the same memory. Run by
 * {@code data-plane/bench/hit-rate}; not part of the tests. No times count, so a busy machine makes no difference.
 */
class HitRateBenchmark {
    private static final String TRACE = System.getProperty("kvpool.bench.trace", "");
    private static final long SEED = Long.getLong("kvpool.bench.seed", 1);

    private static final double[] MEMORIES = {0.02, 0.05, 0.15, 0.4};

    @Test
    void measure() throws IOException {
        if (!TRACE.isEmpty()) {
            replay(TRACE, PromptTrace.read(Path.of(TRACE)));
            return;
        }
        Random random = new Random(SEED);
        replay("few instructions, seed " + SEED, PromptTrace.conversations(3_000, 400, 20, random));
        replay(
                "many instructions and conversations, seed " + SEED,
                PromptTrace.conversations(6_000, 1_500, 200, random));
    }

    private static void replay(String name, PromptTrace trace) {
        long asked = trace.prompts().stream().mapToLong(prompt -> prompt.length).sum();
        System.out.printf(
                "%s: %d prompts, %d blocks, %d of them different%n",
                name, trace.prompts().size(), asked, trace.blocks());
        for (double part : MEMORIES) {
            int capacity = (int) (trace.blocks() * part);
            PooledPrompts pool = new PooledPrompts(capacity);
            Map<String, PromptCache> caches = new LinkedHashMap<>();
            caches.put("kvpool", pool);
            caches.put("LRU", new PromptCache.Lru(capacity));
            caches.put("S3-FIFO", new PromptCache.S3Fifo(capacity));
            caches.put("clairvoyant", new PromptCache.Clairvoyant(capacity, trace));
            System.out.printf("  room for %4.1f %%, %6d blocks:", 100 * part, capacity);
            caches.forEach((which, cache) -> {
                long hits = trace.prompts().stream().mapToLong(cache::serve).sum();
                System.out.printf("  %s %.4f", which, (double) hits / asked);
            });
            System.out.printf(
                    "; kvpool's memory is %.1f %% full, %d blocks waited for room%n", 100 * pool.used(), pool.waited());
        }
    }
}
