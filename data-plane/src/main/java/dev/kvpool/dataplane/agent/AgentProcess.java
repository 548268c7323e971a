// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.config.Sizes;
import dev.kvpool.dataplane.http.AdminServers;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.dataplane.secure.TlsSettings;
import dev.kvpool.identity.name.PeerRole;
import dev.kvpool.nativelib.AgentParameters;
import dev.kvpool.nativelib.NativeAgent;
import dev.kvpool.nativelib.NativeLog;
import java.io.IOException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An agent of the native library with what a process needs around it: checks before the start, HTTP for probes. */
final class AgentProcess implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AgentProcess.class);

    private final NativeAgent agent;
    private final AgentView view;
    private final AdminServers admin;
    private final PoolSecurity security;

    private AgentProcess(NativeAgent agent, AgentView view, AdminServers admin, PoolSecurity security) {
        this.security = security;
        this.agent = agent;
        this.view = view;
        this.admin = admin;
    }

    static AgentProcess start(Settings settings) throws FailureException {
        NativeLog.INFO.use();
        SocketDirectory.check(settings.get(AgentSettings.SOCKET_DIR));
        try {
            return start(settings, AgentSettings.parameters(settings));
        } catch (IOException e) {
            throw new FailureException(e.getMessage(), e);
        }
    }

    private static AgentProcess start(Settings settings, AgentParameters parameters) throws IOException {
        PoolSecurity security = security(settings);
        NativeAgent agent = NativeAgent.start(parameters);
        AgentView view = new AgentView(agent, parameters.socket());
        try {
            AdminServers admin =
                    AdminServers.start(AgentSettings.adminPorts(settings), AgentRoutes.of(view, security), security);
            LOG.info(
                    "agent serves at {} (admin {}): up to {} of staging memory, masters {}",
                    parameters.socket(),
                    admin,
                    Sizes.about(parameters.stagingBytes()),
                    parameters.masters());
            return new AgentProcess(agent, view, admin, security);
        } catch (IOException | RuntimeException e) {
            agent.close();
            throw e;
        }
    }

    int adminPort() {
        return admin.port();
    }

    /** For HTTPS; empty where TLS is off. */
    Optional<Integer> secureAdminPort() {
        return admin.securePort();
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
        security.close();
    }

    private static PoolSecurity security(Settings settings) throws IOException {
        return PoolSecurity.open(
                TlsSettings.place(settings),
                name -> name.role() == PeerRole.AGENT
                        ? Optional.empty()
                        : Optional.of("it is for " + name.uri()
                                + ", but this process is an agent; issue one for agent/NAME"));
    }
}
