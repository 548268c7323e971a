// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The policy of eviction, alone and in a pool, beside an exact LRU of the same memory, on generated prompts. */
class HitRateTest {
    private static final double[] MEMORIES = {0.02, 0.05, 0.15, 0.4};

    /** Blocks that a pool has room for, and the part of them that objects have at least. */
    private static final int ROOM = 10_000;

    private static final double FULL = 0.97;

    /** By so much of its hits it may be worse. */
    private static final double TOLERANCE = 0.005;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void itIsNeverWorse(long seed) {
        PromptTrace.generated(new Random(seed)).forEach((name, trace) -> {
            for (double memory : MEMORIES) {
                assertThat(gain(trace, memory)).as("%s, %s", name, memory).isGreaterThan(-TOLERANCE);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void whereManyPromptsBeginAlikeItIsBetter(long seed) {
        Random random = new Random(seed);
        PromptTrace conversations = PromptTrace.conversations(3_000, 400, 20, random);
        assertThat(gain(conversations, 0.02)).isGreaterThan(0.15);
        assertThat(gain(conversations, 0.05)).isGreaterThan(0.01);
        PromptTrace tools = PromptTrace.tools(5_000, 50, 200, random);
        assertThat(gain(tools, 0.02)).isGreaterThan(0.3);
        assertThat(gain(tools, 0.05)).isGreaterThan(0.15);
        assertThat(gain(tools, 0.15)).isGreaterThan(0.06);
    }

    /** Where a batch is little beside the memory: then only reserve and marks keep objects from some of it. */
    @ParameterizedTest
    @ValueSource(
            strings = {"conversations, few instructions", "conversations, many instructions", "tools and documents"})
    void aPoolHitsWhatItsPolicyHitsWithTheMemoryThatItsObjectsHave(String name) {
        PromptTrace trace = PromptTrace.generated(new Random(1)).get(name);
        PooledPrompts pool = new PooledPrompts(ROOM);
        double hits = trace.hitRate(pool);

        assertThat(pool.used()).isGreaterThan(FULL);
        assertThat(pool.waited()).isLessThan(trace.asked() / 1_000);
        PromptCache policy = new PromptCache.Policy((int) (ROOM * FULL));
        assertThat(hits).isGreaterThan(trace.hitRate(policy) * (1 - TOLERANCE));
        assertThat(hits).isGreaterThan(trace.hitRate(new PromptCache.Lru(ROOM)) * (1 - 2 * TOLERANCE));
        assertThat(withoutPredecessor(trace, pool)).isLessThan(ROOM / 1_000);
    }

    /** How many blocks are there that no prompt can hit, as the one before them has gone. */
    private static long withoutPredecessor(PromptTrace trace, PooledPrompts pool) {
        Map<Integer, Integer> predecessors = new HashMap<>();
        for (int[] prompt : trace.prompts()) {
            for (int i = 1; i < prompt.length; i++) {
                predecessors.put(prompt[i], prompt[i - 1]);
            }
        }
        Set<Integer> all = new HashSet<>(predecessors.keySet());
        all.addAll(predecessors.values());
        Set<Integer> there = pool.there(all);
        return predecessors.entrySet().stream()
                .filter(pair -> there.contains(pair.getKey()) && !there.contains(pair.getValue()))
                .count();
    }

    private static double gain(PromptTrace trace, double memory) {
        int capacity = (int) (trace.blocks() * memory);
        return trace.hitRate(new PromptCache.Policy(capacity)) / trace.hitRate(new PromptCache.Lru(capacity)) - 1;
    }
}
