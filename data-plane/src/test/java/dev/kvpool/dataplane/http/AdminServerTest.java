// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AdminServerTest {
    private final HttpClient client = HttpClient.newHttpClient();
    private AdminServer server;

    @BeforeEach
    void start() throws IOException {
        server = AdminServer.start(
                "127.0.0.1",
                0,
                List.of(
                        Route.get("/role", request -> Response.text(200, "leader")),
                        Route.get(
                                "/echo",
                                request -> Response.text(
                                        200, request.parameter("key").orElse("none"))),
                        Route.post("/api/v1/remove_all", request -> Response.json(200, "{\"removed\":3}")),
                        Route.post(
                                "/body",
                                request -> Response.text(200, request.body().read(8))),
                        Route.get("/bad", request -> {
                            throw new IllegalArgumentException("key is missing");
                        }),
                        Route.get("/others", request -> {
                            throw new NotPermittedException("it is another tenant's");
                        }),
                        Route.get("/broken", request -> {
                            throw new IllegalStateException("lost");
                        })));
    }

    @AfterEach
    void stop() {
        server.close();
        client.close();
    }

    @Test
    void answersExactlyWhatTheRouteSays() throws Exception {
        HttpResponse<String> response = send("GET", "/role");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("leader");
        assertThat(response.headers().firstValue("Content-Type")).hasValue("text/plain; charset=utf-8");
    }

    @Test
    void headIsGetWithoutBody() throws Exception {
        HttpResponse<String> response = send("HEAD", "/role");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEmpty();
    }

    @Test
    void parametersAreDecoded() throws Exception {
        assertThat(send("GET", "/echo?key=a%2Fb%20%C3%A4&x").body()).isEqualTo("a/b ä");
        assertThat(send("GET", "/echo").body()).isEqualTo("none");
    }

    @Test
    void aParameterThatStandsTwiceIsRefusedWhereTheRouteIs() throws Exception {
        HttpResponse<String> response = send("GET", "/echo?key=a&key=b");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).isEqualTo("parameter key stands twice: give it once\n");
        assertThat(send("GET", "/none?key=a&key=b").statusCode()).isEqualTo(404);
    }

    @Test
    void aBodyIsTextOfABoundedLength() throws Exception {
        assertThat(post("/body", "12345678".getBytes(StandardCharsets.UTF_8)).body())
                .isEqualTo("12345678");
        assertThat(post("/body", new byte[0]).body()).isEmpty();
        HttpResponse<String> tooLong = post("/body", "123456789".getBytes(StandardCharsets.UTF_8));
        assertThat(tooLong.statusCode()).isEqualTo(400);
        assertThat(tooLong.body()).isEqualTo("the body may have 8 bytes at most: send less\n");
        assertThat(post("/body", new byte[] {(byte) 0xff}).body())
                .isEqualTo("the body is not UTF-8: send it in that encoding\n");
    }

    @Test
    void anUnknownPathIsAnsweredWithThoseThereAre() throws Exception {
        HttpResponse<String> response = send("GET", "/rolex");

        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(response.body()).contains("/role, /echo, /api/v1/remove_all");
    }

    @Test
    void theWrongMethodIsAnsweredWithTheRightOne() throws Exception {
        HttpResponse<String> response = send("GET", "/api/v1/remove_all");

        assertThat(response.statusCode()).isEqualTo(405);
        assertThat(response.headers().firstValue("Allow")).hasValue("POST");
        assertThat(send("POST", "/api/v1/remove_all").body()).isEqualTo("{\"removed\":3}");
    }

    @Test
    void whatTheUserDidWrongIs400AndWhatWeDidWrongIs500() throws Exception {
        assertThat(send("GET", "/bad").statusCode()).isEqualTo(400);
        assertThat(send("GET", "/bad").body()).contains("key is missing");
        assertThat(send("GET", "/others").statusCode()).isEqualTo(403);
        assertThat(send("GET", "/others").body()).isEqualTo("it is another tenant's\n");
        assertThat(send("GET", "/broken").statusCode()).isEqualTo(500);
    }

    @Test
    void garbageDoesNotStopIt() throws Exception {
        for (String garbage : List.of("\0\0\0\0", "GET\r\n\r\n", "GET /%zz HTTP/1.1\r\n\r\n", "KVPOOL1\0")) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                OutputStream out = socket.getOutputStream();
                out.write(garbage.getBytes(StandardCharsets.ISO_8859_1));
                out.flush();
            }
        }

        assertThat(send("GET", "/role").body()).isEqualTo("leader");
    }

    @Test
    void aPortInUseIsNamed() {
        assertThatThrownBy(() ->
                        AdminServer.start("127.0.0.1", server.port(), List.of()).close())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("port " + server.port());
    }

    private HttpResponse<String> post(String path, byte[] body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .POST(BodyPublishers.ofByteArray(body))
                .build();
        return client.send(request, BodyHandlers.ofString());
    }

    private HttpResponse<String> send(String method, String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .method(method, BodyPublishers.noBody())
                .build();
        return client.send(request, BodyHandlers.ofString());
    }
}
