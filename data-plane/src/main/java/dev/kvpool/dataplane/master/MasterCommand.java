// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.version.Versions;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** {@code kvpool master}: leads the pool or stands by until the process is asked to stop, then hands over. */
public final class MasterCommand implements Command {
    @Override
    public String name() {
        return "master";
    }

    @Override
    public String summary() {
        return "Runs a master, which knows where every object is; one master leads, the others stand by.";
    }

    @Override
    public List<Setting<?>> settings() {
        return MasterSettings.ALL;
    }

    @Override
    public List<Rule> rules() {
        return MasterSettings.RULES;
    }

    @Override
    public int run(Settings settings, Console console) throws FailureException, InterruptedException {
        if (System.getProperty("io.netty.leakDetection.level") == null) {
            // Tests look for leaks; here it would take a stack trace for every 128th buffer.
            ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
        }
        AtomicBoolean defect = new AtomicBoolean();
        Runnable onDefect = () -> {
            defect.set(true);
            console.stop().ask();
        };
        try (MasterProcess process = start(settings, onDefect)) {
            process.announce();
            console.stop().await();
        }
        return defect.get() ? ExitCode.FAILURE : ExitCode.OK;
    }

    private static MasterProcess start(Settings settings, Runnable onDefect)
            throws FailureException, InterruptedException {
        try {
            return MasterProcess.start(MasterSettings.config(settings), Versions.ofThisBuild(), onDefect);
        } catch (IOException e) {
            throw new FailureException(e.getMessage(), e);
        }
    }
}
