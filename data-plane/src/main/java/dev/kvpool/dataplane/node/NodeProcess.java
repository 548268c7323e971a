// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.config.Sizes;
import dev.kvpool.dataplane.http.AdminServers;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.dataplane.secure.TlsIdentity;
import dev.kvpool.dataplane.secure.TlsSettings;
import dev.kvpool.identity.name.PeerRole;
import dev.kvpool.nativelib.NativeLog;
import dev.kvpool.nativelib.NativeNode;
import dev.kvpool.nativelib.NativeStats;
import dev.kvpool.nativelib.NodeParameters;
import java.io.IOException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A storage node of the native library with what a process needs around it: checks before the start, and HTTP for probes
 * and metrics. Admin HTTP answers first, because opening a large segment takes a while and must not look like death.
 */
final class NodeProcess implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeProcess.class);

    private final String nodeId;
    private final AdminServers admin;
    private final NodeLifecycle view;
    private final PoolSecurity security;
    private NativeNode node;

    private NodeProcess(String nodeId, AdminServers admin, NodeLifecycle view, PoolSecurity security) {
        this.security = security;
        this.nodeId = nodeId;
        this.admin = admin;
        this.view = view;
    }

    static NodeProcess start(Settings settings) throws FailureException {
        NodeParameters parameters = NodeSettings.parameters(settings);
        NativeLog.INFO.use();
        DataDirectory.check(parameters.dataDir(), parameters.segmentBytes()).forEach(LOG::warn);
        NodeProcess process = listen(settings, parameters.nodeId());
        try {
            process.open(parameters);
        } catch (RuntimeException e) {
            process.close();
            throw e;
        }
        return process;
    }

    int adminPort() {
        return admin.port();
    }

    /** For HTTPS; empty where TLS is off. */
    Optional<Integer> secureAdminPort() {
        return admin.securePort();
    }

    /** Whether the library's node has ended; its log says why. */
    boolean failed() {
        return view.failed();
    }

    void announceStop() {
        view.closing();
        LOG.info("node {} stops; its segment file stays", nodeId);
    }

    @Override
    public void close() {
        view.closing();
        if (node != null) {
            node.close();
        }
        admin.close();
        security.close();
    }

    private void open(NodeParameters parameters) {
        node = NativeNode.start(parameters);
        view.opened(node);
        NativeStats stats = node.stats();
        LOG.info(
                "node {} serves on port {} (admin {}): {} for objects, {} objects restored, {} records dropped,"
                        + " incarnation {}",
                nodeId,
                stats.get("listen_port"),
                admin,
                Sizes.about(stats.get("capacity_bytes")),
                stats.get("restored_objects"),
                stats.get("dropped_records"),
                Long.toHexString(stats.get("incarnation")));
    }

    private static NodeProcess listen(Settings settings, String nodeId) throws FailureException {
        try {
            PoolSecurity security = PoolSecurity.open(
                    TlsSettings.place(settings),
                    TlsIdentity.member(PeerRole.NODE, nodeId, settings.get(NodeSettings.POOL_ID)));
            NodeLifecycle view = new NodeLifecycle(nodeId, HostPort.join(settings.get(NodeSettings.MASTERS)));
            AdminServers admin =
                    AdminServers.start(NodeSettings.adminPorts(settings), NodeRoutes.of(view, security), security);
            return new NodeProcess(nodeId, admin, view, security);
        } catch (IOException e) {
            throw new FailureException(e.getMessage(), e);
        }
    }
}
