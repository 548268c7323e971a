// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.health.DefectExit;
import dev.kvpool.dataplane.health.Defects;
import dev.kvpool.dataplane.version.Versions;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import java.util.List;

/** {@code kvpool master}: leads the pool or stands by until the process is asked to stop, then hands over. */
public final class MasterCommand implements Command {
    @Override
    public String name() {
        return "master";
    }

    @Override
    public String summary() {
        return "Runs a master, which knows where every object is. One master leads, the others are standbys.";
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
        try (MasterProcess process = start(settings, DefectExit.ofThisProcess())) {
            process.announce();
            console.stop().await();
        }
        return ExitCode.OK;
    }

    private static MasterProcess start(Settings settings, Defects defects)
            throws FailureException, InterruptedException {
        try {
            return MasterProcess.start(MasterSettings.config(settings), Versions.ofThisBuild(), defects);
        } catch (IOException e) {
            throw new FailureException(e.getMessage(), e);
        }
    }
}
