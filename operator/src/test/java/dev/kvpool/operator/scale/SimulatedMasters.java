// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.scale;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.kvpool.operator.master.PoolReport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The admin endpoints of many masters in one HTTP server: which master is meant is told by the address it is asked at. */
final class SimulatedMasters implements SimulatedCluster.Voice, AutoCloseable {
    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final ObjectMapper json = new ObjectMapper();
    private final Map<String, byte[]> words = new ConcurrentHashMap<>();
    private final Set<String> asked = ConcurrentHashMap.newKeySet();

    /** @throws IOException when another process listens on the port */
    SimulatedMasters(int port) throws IOException {
        server = HttpServer.create(new InetSocketAddress(port), 1024);
        server.setExecutor(threads);
        server.createContext("/api/v1/pool", this::answer);
        server.start();
    }

    @Override
    public void say(SimulatedCluster.Master master, PoolReport report) {
        try {
            words.put(master.address(), json.writeValueAsBytes(report));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a report that cannot be written as JSON", e);
        }
    }

    /** Forgets who was asked. */
    void listen() {
        asked.clear();
    }

    /** Whether every master that has something to say was asked since {@link #listen}. */
    boolean allAsked() {
        return new HashSet<>(asked).containsAll(words.keySet());
    }

    /** What the master at this address says, which is noted as asked; null when there is none. */
    byte[] ask(String address) {
        byte[] body = words.get(address);
        if (body != null) {
            asked.add(address);
        }
        return body;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = ask(exchange.getLocalAddress().getAddress().getHostAddress());
            if (body == null) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
