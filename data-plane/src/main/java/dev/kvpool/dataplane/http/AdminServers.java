// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.dataplane.secure.TlsMode;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Admin HTTP of a process: a plain port always, and beside it one for HTTPS with rights where TLS is on. Both have the same routes. */
public final class AdminServers implements AutoCloseable {
    private final AdminServer plain;
    private final Optional<AdminServer> secure;

    private AdminServers(AdminServer plain, Optional<AdminServer> secure) {
        this.plain = plain;
        this.secure = secure;
    }

    /** As {@link #start(AdminPorts, List, PoolSecurity, Optional, RequestAudit)}, without tokens and an audit. */
    public static AdminServers start(AdminPorts ports, List<Route> routes, PoolSecurity security) throws IOException {
        return start(ports, routes, security, Optional.empty(), RequestAudit.NONE);
    }

    /**
     * Starts to answer.
     *
     * @param tokens by which names requests without a certificate may have; empty where none may
     * @param audit is told of each answer of either port
     * @throws IOException when a port cannot be bound, with a sentence that names it and its flag
     */
    public static AdminServers start(
            AdminPorts ports,
            List<Route> routes,
            PoolSecurity security,
            Optional<TokenNames> tokens,
            RequestAudit audit)
            throws IOException {
        if (security.mode() == TlsMode.OFF) {
            return new AdminServers(
                    open(ports, ports.plain(), "--admin-port", routes, AdminGuard.OPEN, audit), Optional.empty());
        }
        AdminServer secure = open(
                ports,
                ports.secure(),
                "--secure-admin-port",
                routes,
                new AdminAccess(security.identity().orElseThrow(), security.counts(), tokens),
                audit);
        try {
            AdminGuard guard = new PlainAccess(security.mode(), secure.port(), security.counts());
            return new AdminServers(
                    open(ports, ports.plain(), "--admin-port", routes, guard, audit), Optional.of(secure));
        } catch (IOException e) {
            secure.close();
            throw e;
        }
    }

    private static AdminServer open(
            AdminPorts ports, int port, String flag, List<Route> routes, AdminGuard guard, RequestAudit audit)
            throws IOException {
        try {
            return AdminServer.start(ports.host(), port, routes, guard, audit);
        } catch (IOException e) {
            throw new IOException(e.getMessage() + "; choose another " + flag, e);
        }
    }

    /** The port really bound for HTTP. */
    public int port() {
        return plain.port();
    }

    /** The port really bound for HTTPS; empty where TLS is off. */
    public Optional<Integer> securePort() {
        return secure.map(AdminServer::port);
    }

    /** Both, for logs. */
    @Override
    public String toString() {
        return secure.map(it -> port() + ", HTTPS " + it.port()).orElse(Integer.toString(port()));
    }

    @Override
    public void close() {
        plain.close();
        secure.ifPresent(AdminServer::close);
    }
}
