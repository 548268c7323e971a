// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.slab.Mix;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReusePolicyTest {
    private final ReusePolicy policy = new ReusePolicy();

    @Test
    void usesAreRememberedPastAnEviction() {
        assertThat(policy.put(1)).isZero();
        policy.endPrompt();
        assertThat(policy.used(1, 0)).isEqualTo(1);
        policy.endPrompt();
        policy.evicted(1, 1);
        assertThat(policy.put(1)).isEqualTo(2);
        policy.endPrompt();
        assertThat(policy.put(1)).isZero();
    }

    @Test
    void noBlockCountsAsUsedLessThanThoseBehindIt() {
        assertThat(policy.used(3, 4)).isEqualTo(5);
        assertThat(policy.used(2, 6)).isEqualTo(7);
        assertThat(policy.put(1)).isEqualTo(7);
        policy.endPrompt();
        assertThat(policy.put(4)).isZero();
    }

    @Test
    void usesAreCountedUpToABound() {
        assertThat(policy.used(1, UseOrder.USES_MAX)).isEqualTo(UseOrder.USES_MAX);
        policy.endPrompt();
        policy.evicted(1, UseOrder.USES_MAX);
        assertThat(policy.put(1)).isEqualTo(UseOrder.USES_MAX);
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 2_048, 20_000})
    void whatComesAgainAndAgainStaysAmongManyNewOnes(int room) {
        Random random = new Random(1);
        KeyCache cache = new KeyCache(room);
        int[] keys = new int[1];
        int hits = 0;
        int asked = 0;
        for (int i = 0; i < 40 * room; i++) {
            boolean again = i % 4 == 0;
            keys[0] = Mix.of(again ? 1 + random.nextInt(room / 2) : room + i);
            boolean late = again && i > 20 * room;
            asked += late ? 1 : 0;
            hits += late && cache.has(keys[0]) ? 1 : 0;
            cache.use(keys, 0, 1);
        }
        assertThat(hits).isGreaterThan(asked * 9 / 10);
    }

    /** Prompts that branch: what is evicted leaves no block without the one before it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void noBlockIsEvictedBeforeThoseBehindIt(long seed) {
        Random random = new Random(seed);
        KeyCache cache = new KeyCache(300);
        List<int[]> prompts = new ArrayList<>();
        prompts.add(new int[0]);
        int next = 1;
        for (int step = 0; step < 3_000; step++) {
            int[] old = prompts.get((int) (prompts.size() * Math.sqrt(random.nextDouble())));
            int from = random.nextInt(old.length + 1);
            int first = next;
            next += 1 + random.nextInt(4);
            int[] prompt = IntStream.concat(
                            IntStream.of(old).limit(from),
                            IntStream.range(first, next).map(Mix::of))
                    .toArray();
            if (prompt.length < 60) {
                prompts.add(prompt);
            }
            cache.use(prompt, 0, prompt.length);
            for (int i = Math.max(1, prompts.size() - 50); i < prompts.size(); i++) {
                int[] known = prompts.get(i);
                for (int block = 1; block < known.length; block++) {
                    if (cache.has(known[block])) {
                        assertThat(cache.has(known[block - 1])).isTrue();
                    }
                }
            }
        }
    }
}
