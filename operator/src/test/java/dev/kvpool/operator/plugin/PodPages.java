// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Answers in the place of pods, to whom the API server would pass requests: the test's pods have no processes. Everything else
 * goes to the real API server.
 */
public final class PodPages implements Interceptor, AutoCloseable {
    private static final Pattern POD_PROXY = Pattern.compile("/api/v1/namespaces/[^/]+/pods/([^/]+)/proxy(/.*)");

    private static final Pattern POD_LOG = Pattern.compile("/api/v1/namespaces/[^/]+/pods/([^/]+)/log");
    private static final Pattern CONTAINER = Pattern.compile("(?:.*&)?container=([^&]*).*");

    private final HttpServer server;
    private final Map<String, Supplier<String>> pages = new ConcurrentHashMap<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();

    public PodPages() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    /**
     * From now on a pod answers so.
     *
     * @param request METHOD POD:PORT/PATH without the query, or LOG POD/CONTAINER
     * @param body an answer that begins with a status other than 200 and a blank has that status
     */
    public void on(String request, Supplier<String> body) {
        pages.put(request, body);
    }

    /** Requests to pods that are no GET or have a query, with that; none for logs. */
    List<String> asked() {
        return List.copyOf(asked);
    }

    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        Matcher proxied = POD_PROXY.matcher(request.uri().getRawPath());
        if (proxied.matches()) {
            String query = request.uri().getRawQuery();
            builder.uri(URI.create("http://127.0.0.1:%d/%s%s%s"
                    .formatted(
                            server.getAddress().getPort(),
                            proxied.group(1),
                            proxied.group(2),
                            query == null ? "" : "?" + query)));
        }
        Matcher logged = POD_LOG.matcher(request.uri().getRawPath());
        if (logged.matches()) {
            log(builder, request, logged.group(1));
        }
    }

    /** To a container's log as to a page of its own. */
    private void log(BasicBuilder builder, HttpRequest request, String pod) {
        Matcher container = CONTAINER.matcher(String.valueOf(request.uri().getRawQuery()));
        if (container.matches()) {
            builder.uri(URI.create("http://127.0.0.1:%d/LOG/%s/%s"
                    .formatted(server.getAddress().getPort(), pod, container.group(1))));
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        URI uri = exchange.getRequestURI();
        String method = exchange.getRequestMethod();
        String path = uri.getPath().substring(1);
        if (!method.equals("GET") || (uri.getQuery() != null && !path.startsWith("LOG/"))) {
            asked.add(method + " " + uri.toString().substring(1));
        }
        String page = path.startsWith("LOG/") ? path.replaceFirst("/", " ") : method + " " + path;
        String said = pages.getOrDefault(page, () -> "503 nobody is there").get();
        boolean good = !said.matches("(?s)[1-5][0-9][0-9] .*");
        byte[] body = (good ? said : said.substring(4)).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(good ? 200 : Integer.parseInt(said.substring(0, 3)), body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
