// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import dev.kvpool.dataplane.master.core.lru.KeyCache;
import dev.kvpool.dataplane.master.core.slab.Mix;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Something that keeps blocks: a prompt hits as many as are there from its first on, and the rest is stored. */
interface PromptCache {
    /** How many blocks hit. */
    int serve(int[] prompt);

    /** Least recently used, of all the memory. */
    final class Lru implements PromptCache {
        private final int capacity;
        private final LinkedHashMap<Integer, Boolean> blocks = new LinkedHashMap<>(16, 0.75f, true);

        Lru(int capacity) {
            this.capacity = capacity;
        }

        @Override
        public int serve(int[] prompt) {
            int hits = 0;
            while (hits < prompt.length && blocks.containsKey(prompt[hits])) {
                hits++;
            }
            for (int block : prompt) {
                blocks.put(block, true);
                if (blocks.size() > capacity) {
                    Iterator<Integer> coldest = blocks.keySet().iterator();
                    coldest.next();
                    coldest.remove();
                }
            }
            return hits;
        }
    }

    /** The master's policy without a pool. Readers and writers name the last block of a batch first. */
    final class Policy implements PromptCache {
        private static final int BATCH = 128;
        private final KeyCache blocks;

        Policy(int capacity) {
            blocks = new KeyCache(capacity);
        }

        @Override
        public int serve(int[] prompt) {
            int[] keys = Arrays.stream(prompt).map(block -> Mix.of(block + 1)).toArray();
            int hits = 0;
            while (hits < keys.length && blocks.has(keys[hits])) {
                hits++;
            }
            for (int from = 0; from < hits; from += BATCH) {
                blocks.use(keys, from, Math.min(hits, from + BATCH));
            }
            for (int from = hits; from < keys.length; from += BATCH) {
                blocks.use(keys, from, Math.min(keys.length, from + BATCH));
            }
            return hits;
        }
    }

    /** S3-FIFO: a small queue for what is new, a large one for what was used there, and a list of what left the small one. */
    final class S3Fifo implements PromptCache {
        private static final int USES_MAX = 3;
        private final int capacity;
        private final Map<Integer, Integer> uses = new HashMap<>();
        private final Deque<Integer> small = new ArrayDeque<>();
        private final Deque<Integer> large = new ArrayDeque<>();
        private final Set<Integer> ghosts = new LinkedHashSet<>();

        S3Fifo(int capacity) {
            this.capacity = capacity;
        }

        @Override
        public int serve(int[] prompt) {
            int hits = 0;
            while (hits < prompt.length && uses.containsKey(prompt[hits])) {
                hits++;
            }
            for (int block : prompt) {
                if (uses.computeIfPresent(block, (same, count) -> Math.min(USES_MAX, count + 1)) == null) {
                    while (uses.size() >= capacity) {
                        evict();
                    }
                    uses.put(block, 0);
                    (ghosts.remove(block) ? large : small).add(block);
                }
            }
            return hits;
        }

        private void evict() {
            if (large.isEmpty() || small.size() >= capacity / 10) {
                while (!small.isEmpty()) {
                    int block = small.remove();
                    if (uses.get(block) == 0) {
                        uses.remove(block);
                        ghosts.add(block);
                        if (ghosts.size() > capacity) {
                            ghosts.remove(ghosts.iterator().next());
                        }
                        return;
                    }
                    uses.put(block, 0);
                    large.add(block);
                }
            }
            while (true) {
                int block = large.remove();
                if (uses.get(block) == 0) {
                    uses.remove(block);
                    return;
                }
                uses.merge(block, -1, Integer::sum);
                large.add(block);
            }
        }
    }

    /** Evicts what is used again last, which takes knowing what comes: no cache of this size hits more blocks. */
    final class Clairvoyant implements PromptCache {
        private static final int NEVER = Integer.MAX_VALUE;

        private record Next(int prompt, int place, int block) implements Comparable<Next> {
            @Override
            public int compareTo(Next other) {
                int byPrompt = Integer.compare(prompt, other.prompt);
                int byPlace = byPrompt != 0 ? byPrompt : Integer.compare(place, other.place);
                return byPlace != 0 ? byPlace : Integer.compare(block, other.block);
            }
        }

        private final int capacity;
        private final int[][] nextUses;
        private final Map<Integer, Next> kept = new HashMap<>();
        private final TreeSet<Next> byNextUse = new TreeSet<>();
        private int at;

        Clairvoyant(int capacity, PromptTrace trace) {
            this.capacity = capacity;
            List<int[]> prompts = trace.prompts();
            nextUses = new int[prompts.size()][];
            int[] next = new int[trace.blocks()];
            Arrays.fill(next, NEVER);
            for (int i = prompts.size() - 1; i >= 0; i--) {
                int[] prompt = prompts.get(i);
                nextUses[i] = Arrays.stream(prompt).map(block -> next[block]).toArray();
                for (int block : prompt) {
                    next[block] = i;
                }
            }
        }

        @Override
        public int serve(int[] prompt) {
            int hits = 0;
            while (hits < prompt.length && kept.containsKey(prompt[hits])) {
                hits++;
            }
            for (int i = 0; i < prompt.length; i++) {
                Next before = kept.remove(prompt[i]);
                if (before != null) {
                    byNextUse.remove(before);
                }
                if (nextUses[at][i] != NEVER) {
                    Next next = new Next(nextUses[at][i], i, prompt[i]);
                    kept.put(prompt[i], next);
                    byNextUse.add(next);
                }
                if (kept.size() > capacity) {
                    kept.remove(byNextUse.pollLast().block());
                }
            }
            at++;
            return hits;
        }
    }
}
