// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP server for operators, probes and people: a fixed list of routes on the JDK's own server. A request's body is
 * read only by a route that asks for it, and so only from callers that may use the route. An {@link AdminGuard} may make it
 * HTTPS and refuse requests. Connections, the time for a request, its headers and the time to take a response are bounded,
 * so that a port scanner cannot hold it up. The JDK's server does not tell of a connection before it sends: of those that
 * are silent one address may have all.
 */
public final class AdminServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AdminServer.class);
    private static final int CONNECTIONS_MAX = 512;
    private static final int IDLE_CONNECTIONS_MAX = 64;
    private static final int REQUEST_SECONDS_MAX = 3;
    private static final int HEADER_BYTES_MAX = 16 << 10;
    private static final int LOOK_MS = 1_000;
    private static final int RESPONSE_SECONDS_MAX = 60;
    private static final int UNKNOWN_LENGTH = 0;

    static {
        // The JDK's server has no other way to set its bounds; they are read when its first instance is made.
        setUnlessGiven("jdk.httpserver.maxConnections", CONNECTIONS_MAX);
        setUnlessGiven("sun.net.httpserver.maxIdleConnections", IDLE_CONNECTIONS_MAX);
        setUnlessGiven("sun.net.httpserver.maxReqTime", REQUEST_SECONDS_MAX); // also until the first byte of one
        setUnlessGiven("sun.net.httpserver.maxReqHeaderSize", HEADER_BYTES_MAX);
        setUnlessGiven("sun.net.httpserver.clockTick", LOOK_MS); // for connections that are silent
    }

    private final HttpServer server;
    private final AdminGuard guard;
    private final RequestAudit audit;
    private final ExecutorService threads;
    private final WriteTimer writes = new WriteTimer(RESPONSE_SECONDS_MAX);
    private final List<Route> routes;

    private AdminServer(HttpServer server, List<Route> routes, AdminGuard guard, RequestAudit audit) {
        this.server = server;
        this.guard = guard;
        this.audit = audit;
        this.routes = List.copyOf(routes);
        this.threads = Executors.newVirtualThreadPerTaskExecutor();
    }

    /** As {@link #start(String, int, List, AdminGuard)}, plain and open to all. */
    public static AdminServer start(String host, int port, List<Route> routes) throws IOException {
        return start(host, port, routes, AdminGuard.OPEN);
    }

    /** As {@link #start(String, int, List, AdminGuard, RequestAudit)}, without writing anything down. */
    public static AdminServer start(String host, int port, List<Route> routes, AdminGuard guard) throws IOException {
        return start(host, port, routes, guard, RequestAudit.NONE);
    }

    /**
     * Starts to answer.
     *
     * @param host address to listen on; {@code ::} for all addresses of both families
     * @param port port to listen on; 0 for any free one
     * @param guard may make it HTTPS, and says what is answered
     * @param audit is told of each answer, before it is sent
     * @throws IOException when the port cannot be bound, with a sentence that names it
     */
    public static AdminServer start(String host, int port, List<Route> routes, AdminGuard guard, RequestAudit audit)
            throws IOException {
        AdminServer admin = new AdminServer(bind(host, port, guard), routes, guard, audit);
        admin.server.createContext("/", admin::handle);
        admin.server.setExecutor(admin::run);
        admin.server.start();
        return admin;
    }

    private void run(Runnable request) {
        threads.execute(() -> {
            try {
                request.run();
            } finally {
                guard.ended();
            }
        });
    }

    /** The port really bound. */
    public int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        writes.close();
    }

    private static HttpServer bind(String host, int port, AdminGuard guard) throws IOException {
        InetSocketAddress address = host.equals("::")
                ? new InetSocketAddress(port)
                : new InetSocketAddress(InetAddress.getByName(host), port);
        try {
            Optional<HttpsConfigurator> https = guard.https();
            if (https.isEmpty()) {
                return HttpServer.create(address, 0);
            }
            HttpsServer server = HttpsServer.create(address, 0);
            server.setHttpsConfigurator(https.get());
            return server;
        } catch (IOException e) {
            throw new IOException(
                    "cannot listen for admin HTTP on " + host + " port " + port + ": " + e.getMessage(), e);
        }
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Response response = respond(exchange);
            try (WriteTimer.Deadline deadline = writes.begin()) {
                write(exchange, response, deadline);
            }
        }
    }

    private void write(HttpExchange exchange, Response response, WriteTimer.Deadline deadline) throws IOException {
        byte[] text = response.body().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", response.contentType());
        response.retryAfterSeconds()
                .ifPresent(seconds -> exchange.getResponseHeaders().set("Retry-After", Integer.toString(seconds)));
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(response.status(), -1);
            return;
        }
        if (response.stream().isPresent()) {
            exchange.sendResponseHeaders(response.status(), UNKNOWN_LENGTH);
            AdmittedStream body = new AdmittedStream(exchange.getResponseBody(), () -> guard.stillAdmits(exchange));
            response.stream().get().writeTo(deadline.extendedByFlushesOf(body));
            return;
        }
        exchange.sendResponseHeaders(response.status(), text.length == 0 ? -1 : text.length);
        exchange.getResponseBody().write(text);
    }

    private Response respond(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        String method = exchange.getRequestMethod().equals("HEAD") ? "GET" : exchange.getRequestMethod();
        Query query = Query.parse(exchange.getRequestURI().getRawQuery());
        AdminGuard.Decision decision = guard.decide(exchange, method, path);
        Response response =
                decision.refusal().orElseGet(() -> answer(exchange, decision.caller(), method, path, query));
        audit.answered(
                new RequestAudit.Asked(
                        decision.caller(),
                        method,
                        path,
                        Optional.ofNullable(query.parameters().get("tenant"))),
                response.status(),
                decision.refusal().isPresent() || response.status() == 403);
        return response;
    }

    private Response answer(HttpExchange exchange, Caller caller, String method, String path, Query query) {
        List<Route> matches =
                routes.stream().filter(route -> route.path().equals(path)).toList();
        if (matches.isEmpty()) {
            return Response.text(404, "no such path; there are " + paths() + "\n");
        }
        for (Route route : matches) {
            if (route.method().equals(method)) {
                return answer(route, exchange, caller, query);
            }
        }
        String methods = String.join(", ", matches.stream().map(Route::method).toList());
        exchange.getResponseHeaders().set("Allow", methods);
        return Response.text(405, path + " takes " + methods + "\n");
    }

    private static Response answer(Route route, HttpExchange exchange, Caller caller, Query query) {
        if (query.problem().isPresent()) {
            return Response.text(400, query.problem().get() + "\n");
        }
        try {
            return route.answer()
                    .apply(new Request(
                            query.parameters(),
                            Request.token(exchange.getRequestHeaders()),
                            caller,
                            bytesMax -> body(exchange, bytesMax)));
        } catch (IllegalArgumentException e) {
            return Response.text(400, e.getMessage() + "\n");
        } catch (NotPermittedException e) {
            return Response.text(403, e.getMessage() + "\n");
        } catch (RuntimeException | Error e) { // of a question, not of what was asked about
            LOG.error("{} {} failed", route.method(), route.path(), e);
            return Response.text(500, "failed: " + e.getMessage() + "\n");
        }
    }

    private String paths() {
        return String.join(", ", routes.stream().map(Route::path).distinct().toList());
    }

    /** The time that a body may take is part of that of its request. */
    private static String body(HttpExchange exchange, int bytesMax) {
        byte[] bytes;
        try {
            bytes = exchange.getRequestBody().readNBytes(bytesMax + 1);
        } catch (IOException e) {
            throw new IllegalArgumentException("the body broke off: " + e.getMessage(), e);
        }
        if (bytes.length > bytesMax) {
            throw new IllegalArgumentException("the body may have %d bytes at most: send less".formatted(bytesMax));
        }
        return StrictUtf8.decode(bytes)
                .orElseThrow(() -> new IllegalArgumentException("the body is not UTF-8: send it in that encoding"));
    }

    private static void setUnlessGiven(String property, int value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, Integer.toString(value));
        }
    }
}
