// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A program run to its end, within a time limit.
 *
 * @param words the program and its arguments
 * @param environment what is added to this process's environment
 * @param input what it reads from standard input; may be empty
 * @param limit after this it is killed, and running it throws
 */
public record Command(List<String> words, Map<String, String> environment, String input, Duration limit) {

    /** Ends the program and throws when it prints more. */
    private static final int MAX_OUTPUT_BYTES = 16 << 20;

    public Command {
        words = List.copyOf(words);
        environment = Map.copyOf(environment);
    }

    /** How a program ended: exit status, standard output, standard error. */
    public record Result(String command, int status, String output, String errors) {

        /** Standard output of a program that must succeed. @throws IllegalStateException when it did not */
        public String orThrow() {
            if (status != 0) {
                throw new IllegalStateException("`%s` ended with %d: %s%s".formatted(command, status, output, errors));
            }
            return output;
        }
    }

    /** Runs it. @throws IllegalStateException when it does not end within the limit or prints too much */
    public Result run() {
        try {
            // Files instead of pipes: nobody has to read two streams at the same time.
            Path output = Files.createTempFile("kvpool-e2e", ".out");
            Path errors = Files.createTempFile("kvpool-e2e", ".err");
            try {
                int status = runInto(output, errors);
                return new Result(String.join(" ", words), status, bounded(output), bounded(errors));
            } finally {
                Files.deleteIfExists(output);
                Files.deleteIfExists(errors);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + words.getFirst(), e);
        }
    }

    private int runInto(Path output, Path errors) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(words).redirectOutput(output.toFile()).redirectError(errors.toFile());
        builder.environment().putAll(new HashMap<>(environment));
        Process process = builder.start();
        try (var stdin = process.getOutputStream()) {
            stdin.write(input.getBytes(StandardCharsets.UTF_8));
        }
        try {
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("`%s` did not end within %d s: %s%s"
                        .formatted(String.join(" ", words), limit.toSeconds(), bounded(output), bounded(errors)));
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for `" + String.join(" ", words) + "`", e);
        } finally {
            process.destroyForcibly();
        }
    }

    private static String bounded(Path file) throws IOException {
        if (Files.size(file) > MAX_OUTPUT_BYTES) {
            throw new IllegalStateException("a program printed more than " + MAX_OUTPUT_BYTES + " bytes");
        }
        return Files.readString(file);
    }
}
