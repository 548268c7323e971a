// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The policy of eviction alone beside an exact LRU of the same memory, on generated prompts. */
class HitRateTest {
    private static final double[] MEMORIES = {0.02, 0.05, 0.15, 0.4};

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

    private static double gain(PromptTrace trace, double memory) {
        int capacity = (int) (trace.blocks() * memory);
        return trace.hitRate(new PromptCache.Policy(capacity)) / trace.hitRate(new PromptCache.Lru(capacity)) - 1;
    }
}
