// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
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

    /** One of each kind, by name. */
    static Map<String, PromptTrace> generated(Random random) {
        Map<String, PromptTrace> traces = new LinkedHashMap<>();
        traces.put("conversations, few instructions", conversations(3_000, 400, 20, random));
        traces.put("conversations, many instructions", conversations(6_000, 1_500, 200, random));
        traces.put("tools and documents", tools(5_000, 50, 200, random));
        traces.put("agents", agents(5_000, 60, random));
        traces.put("repeated prompts", repeated(4_000, 200, random));
        return traces;
    }

    long asked() {
        return prompts.stream().mapToLong(prompt -> prompt.length).sum();
    }

    /** The part of all blocks that a cache hits. */
    double hitRate(PromptCache cache) {
        return (double) prompts.stream().mapToLong(cache::serve).sum() / asked();
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

    /** Requests of one turn: the description of one of some tools, a document, both some more often than others, and a question. */
    static PromptTrace tools(int count, int tools, int documents, Random random) {
        List<int[]> toolBlocks = new ArrayList<>();
        int next = 0;
        for (int i = 0; i < tools; i++) {
            toolBlocks.add(blocks(next, 4 + random.nextInt(20)));
            next += toolBlocks.get(i).length;
        }
        Map<Integer, int[]> known = new HashMap<>();
        List<int[]> prompts = new ArrayList<>();
        while (prompts.size() < count) {
            int tool = (int) (tools * Math.pow(random.nextDouble(), 3));
            int document = tool * documents + (int) (documents * Math.pow(random.nextDouble(), 2.5));
            int[] read = known.get(document);
            if (read == null) {
                read = blocks(next, 3 + random.nextInt(25));
                next += read.length;
                known.put(document, read);
            }
            int[] question = blocks(next, 1 + random.nextInt(8));
            next += question.length;
            prompts.add(joined(toolBlocks.get(tool), read, question));
        }
        return new PromptTrace(prompts, next);
    }

    /** Agents, so many at once, each of which asks again and again with more, tries something aside now and then, and ends. */
    static PromptTrace agents(int count, int atOnce, Random random) {
        int instruction = 15;
        int next = 2 * instruction;
        List<int[]> agents = new ArrayList<>();
        List<int[]> prompts = new ArrayList<>();
        while (prompts.size() < count) {
            while (agents.size() < atOnce) {
                agents.add(blocks(random.nextInt(2) * instruction, instruction));
            }
            int which = random.nextInt(atOnce);
            int[] said = agents.get(which);
            boolean aside = random.nextInt(4) == 0 && said.length > 25;
            int[] before = aside ? Arrays.copyOf(said, instruction + random.nextInt(said.length - instruction)) : said;
            int[] prompt = joined(before, blocks(next, 1 + random.nextInt(6)));
            next += prompt.length - before.length;
            prompts.add(prompt);
            if (!aside) {
                agents.set(which, prompt);
                if (random.nextInt(20) == 0 || prompt.length > 200) {
                    agents.remove(which);
                }
            }
        }
        return new PromptTrace(prompts, next);
    }

    /** Prompts without anything in common, of which one of the last so many comes again as a whole now and then. */
    static PromptTrace repeated(int count, int last, Random random) {
        int next = 0;
        List<int[]> different = new ArrayList<>();
        List<int[]> prompts = new ArrayList<>();
        while (prompts.size() < count) {
            if (different.size() > last && random.nextInt(3) == 0) {
                prompts.add(different.get(different.size() - 1 - random.nextInt(last)));
            } else {
                int[] prompt = blocks(next, 5 + random.nextInt(40));
                next += prompt.length;
                different.add(prompt);
                prompts.add(prompt);
            }
        }
        return new PromptTrace(prompts, next);
    }

    private static int[] blocks(int first, int count) {
        return IntStream.range(first, first + count).toArray();
    }

    private static int[] joined(int[]... parts) {
        return Arrays.stream(parts).flatMapToInt(Arrays::stream).toArray();
    }
}
