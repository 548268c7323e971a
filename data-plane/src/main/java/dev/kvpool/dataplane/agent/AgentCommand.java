// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

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

/** {@code kvpool agent}: serves the clients on this machine until the process is asked to stop. */
public final class AgentCommand implements Command {
    @Override
    public String name() {
        return "agent";
    }

    @Override
    public String summary() {
        return "Runs an agent, which serves the clients on its machine. It holds no objects.";
    }

    @Override
    public List<Setting<?>> settings() {
        return AgentSettings.ALL;
    }

    @Override
    public List<Rule> rules() {
        return AgentSettings.RULES;
    }

    @Override
    public int run(Settings settings, Console console) throws FailureException, InterruptedException {
        Optional<SelfEnrolment> enrolment =
                SelfEnrolment.start(settings, AgentSettings.adminPorts(settings), console.stop());
        if (enrolment.isEmpty()) {
            return ExitCode.OK;
        }
        try (SelfEnrolment _ = enrolment.get();
                AgentProcess process = AgentProcess.start(settings)) {
            int code = console.stop().awaitUnless(process::failed);
            if (code == ExitCode.OK) {
                process.announceStop();
            }
            return code;
        }
    }
}
