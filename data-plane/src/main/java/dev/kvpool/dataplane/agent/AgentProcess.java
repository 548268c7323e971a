// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.config.Sizes;
import dev.kvpool.dataplane.http.AdminServer;
import dev.kvpool.nativelib.AgentParameters;
import dev.kvpool.nativelib.NativeAgent;
import dev.kvpool.nativelib.NativeLog;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An agent of the native library with what a process needs around it: checks before the start, HTTP for probes. */
final class AgentProcess implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AgentProcess.class);

    private final NativeAgent agent;
    private final AgentView view;
    private final AdminServer admin;

    private AgentProcess(NativeAgent agent, AgentView view, AdminServer admin) {
        this.agent = agent;
        this.view = view;
        this.admin = admin;
    }

    static AgentProcess start(Settings settings) throws FailureException {
        NativeLog.INFO.use();
        SocketDirectory.check(settings.get(AgentSettings.SOCKET_DIR));
        AgentParameters parameters = AgentSettings.parameters(settings);
        NativeAgent agent = NativeAgent.start(parameters);
        AgentView view = new AgentView(agent, parameters.socket());
        try {
            AdminServer admin = admin(settings, view);
            LOG.info(
                    "agent serves at {} (admin {}): up to {} of staging memory, masters {}",
                    parameters.socket(),
                    admin.port(),
                    Sizes.about(parameters.stagingBytes()),
                    parameters.masters());
            return new AgentProcess(agent, view, admin);
        } catch (FailureException | RuntimeException e) {
            agent.close();
            throw e;
        }
    }

    int adminPort() {
        return admin.port();
    }

    /** Whether the library's agent has ended; its log says why. */
    boolean failed() {
        return view.failed();
    }

    void announceStop() {
        view.closing();
        LOG.info("the agent stops; its clients wait for the next one");
    }

    @Override
    public void close() {
        view.closing();
        agent.close();
        admin.close();
    }

    private static AdminServer admin(Settings settings, AgentView view) throws FailureException {
        try {
            return AdminServer.start(
                    settings.get(AgentSettings.HOST), settings.get(AgentSettings.ADMIN_PORT), AgentRoutes.of(view));
        } catch (IOException e) {
            throw new FailureException(e.getMessage() + "; choose another " + AgentSettings.ADMIN_PORT.flag(), e);
        }
    }
}
