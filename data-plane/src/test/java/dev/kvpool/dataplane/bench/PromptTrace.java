// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Prompts in the order in which an engine gets them, each as the numbers of its blocks: a block has the same number where all before
 * it is the same too.
 */
record PromptTrace(List<int[]> prompts, int blocks) {
    /** Lines of JSON with an array {@code hash_ids} each, the form of Mooncake's published traces. */
    static PromptTrace read(Path file) throws IOException {
        ObjectMapper json = new ObjectMapper();
        Map<Long, Integer> numbers = new HashMap<>();
        List<int[]> prompts = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            if (line.isBlank()) {
                continue;
            }
            JsonNode ids = json.readTree(line).path("hash_ids");
            if (!ids.isArray()) {
                throw new IOException("%s, line %d: no array \"hash_ids\"".formatted(file, prompts.size() + 1));
            }
            int[] prompt = new int[ids.size()];
            for (int i = 0; i < prompt.length; i++) {
                prompt[i] = numbers.computeIfAbsent(ids.get(i).asLong(), id -> numbers.size());
            }
            prompts.add(prompt);
        }
        return new PromptTrace(prompts, numbers.size());
    }

    /**
     * Conversations that grow, of which those spoken in last are spoken in most, and which begin with one of a few long
     * instructions, some of them common.
     */
    static PromptTrace conversations(int count, int open, int instructions, Random random) {
        int longest = 20;
        int next = instructions * longest;
        List<List<Integer>> conversations = new ArrayList<>();
        List<int[]> prompts = new ArrayList<>();
        while (prompts.size() < count) {
            List<Integer> spoken;
            if (conversations.size() < 10 || random.nextInt(3) == 0) {
                int which = (int) (instructions * Math.pow(random.nextDouble(), 3));
                spoken = new ArrayList<>(IntStream.range(which * longest, which * longest + 2 + which * 7 % 12)
                        .boxed()
                        .toList());
                conversations.add(spoken);
                if (conversations.size() > open) {
                    conversations.removeFirst();
                }
            } else {
                int ago = (int) (conversations.size() * Math.pow(random.nextDouble(), 2));
                spoken = conversations.get(conversations.size() - 1 - ago);
            }
            for (int more = 1 + (int) (-8 * Math.log(1 - random.nextDouble())); more > 0; more--) {
                spoken.add(next);
                next++;
            }
            if (spoken.size() > 250) {
                conversations.remove(spoken);
            }
            prompts.add(spoken.stream().mapToInt(Integer::intValue).toArray());
        }
        return new PromptTrace(prompts, next);
    }
}
