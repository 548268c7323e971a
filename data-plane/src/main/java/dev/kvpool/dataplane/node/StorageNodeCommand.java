// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.enrol.SelfEnrolment;
import java.util.List;
import java.util.Optional;

/** {@code kvpool node}: a storage node until the process is asked to stop; its segment file stays. */
public final class StorageNodeCommand implements Command {
    @Override
    public String name() {
        return "node";
    }

    @Override
    public String summary() {
        return "Runs a storage node, which owns a memory segment and the objects in it.";
    }

    @Override
    public List<Setting<?>> settings() {
        return NodeSettings.ALL;
    }

    @Override
    public List<Rule> rules() {
        return NodeSettings.RULES;
    }

    @Override
    public int run(Settings settings, Console console) throws FailureException, InterruptedException {
        Optional<SelfEnrolment> enrolment =
                SelfEnrolment.start(settings, NodeSettings.adminPorts(settings), console.stop());
        if (enrolment.isEmpty()) {
            return ExitCode.OK;
        }
        try (SelfEnrolment _ = enrolment.get();
                NodeProcess process = NodeProcess.start(settings)) {
            int code = console.stop().awaitUnless(process::failed);
            if (code == ExitCode.OK) {
                process.announceStop();
            }
            return code;
        }
    }
}
