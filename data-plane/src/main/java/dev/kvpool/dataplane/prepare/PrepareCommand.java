// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.prepare;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.machine.FileTree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * {@code kvpool prepare}: lives through a pool's life once, in this process, so that Java notes which classes are loaded and what
 * is worth compiling. The launcher has Java write that beside the jar ({@code -XX:AOTCacheOutput}), and every later process
 * starts from it.
 */
public final class PrepareCommand implements Command {
    private final List<Command> rehearsed;

    /** @param rehearsed the commands that later processes will run; {@code master} and {@code node} among them */
    public PrepareCommand(List<Command> rehearsed) {
        this.rehearsed = List.copyOf(rehearsed);
    }

    @Override
    public String name() {
        return "prepare";
    }

    @Override
    public String summary() {
        return "Runs a small pool once, so that later processes start faster; for installers and image builds.";
    }

    @Override
    public List<Setting<?>> settings() {
        return List.of();
    }

    @Override
    public int run(Settings settings, Console console) throws FailureException, InterruptedException {
        try {
            Path directory = Files.createTempDirectory("kvpool-prepare-");
            try {
                rehearse(directory);
            } finally {
                FileTree.remove(directory);
            }
        } catch (IOException | UncheckedIOException e) {
            throw new FailureException("the rehearsal did not succeed: " + e.getMessage(), e);
        }
        return ExitCode.OK;
    }

    private void rehearse(Path directory) throws IOException, FailureException, InterruptedException {
        Rehearsal pool = Rehearsal.start(rehearsed, directory);
        try {
            pool.play();
        } finally {
            pool.stop();
        }
    }
}
