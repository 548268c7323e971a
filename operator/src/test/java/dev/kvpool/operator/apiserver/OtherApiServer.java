// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One more API server at the etcd of the shared one, as a cluster with several has them: it can be killed, suspended and brought back
 * while a test sees and changes everything by the shared one.
 */
final class OtherApiServer implements AutoCloseable {
    private static final String PROGRAM = "kube-apiserver";
    private static final String PORT_OPTION = "--secure-port";
    private static final String ETCD_OPTION = "--etcd-servers";
    private static final Pattern REVISION = Pattern.compile("\"revision\":\"(\\d+)\"");

    private final List<String> command;
    private final int port;
    private Process process;

    OtherApiServer() {
        port = freePort();
        command = new ArrayList<>(commandOfTheSharedOne());
        command.set(command.indexOf(PORT_OPTION) + 1, Integer.toString(port));
        start();
    }

    /** Starts it where it was before; it takes seconds until it answers. */
    void start() {
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    }

    /** From now on connections to it are refused. */
    void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** From now on nothing is answered, and no connection ends. */
    void suspend() {
        signal("STOP");
    }

    void resume() {
        signal("CONT");
    }

    /** The etcd forgets what was before now, as it does every few minutes: a watch cannot go on from there. */
    void forgetHistory() {
        String etcd = command.get(command.indexOf(ETCD_OPTION) + 1);
        Matcher revision = REVISION.matcher(post(etcd + "/v3/kv/range", "{\"key\":\"AA==\"}"));
        if (!revision.find()) {
            throw new IllegalStateException("the etcd says no revision");
        }
        post(etcd + "/v3/kv/compaction", "{\"revision\":\"%s\",\"physical\":true}".formatted(revision.group(1)));
    }

    /** A client of this one with the rights that the chart gives the operator. */
    KubernetesClient operatorClient(Interceptor notes) {
        return ApiServer.shared().operatorClient(url(), notes);
    }

    /** A client of this one with all rights. */
    KubernetesClient client() {
        return ApiServer.shared().client(url());
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }

    private String url() {
        return "https://127.0.0.1:" + port;
    }

    private void signal(String name) {
        try {
            int code = new ProcessBuilder("sh", "-c", "kill -%s %d".formatted(name, process.pid()))
                    .inheritIO()
                    .start()
                    .onExit()
                    .join()
                    .exitValue();
            if (code != 0) {
                throw new IllegalStateException("kill -%s ended with %d".formatted(name, code));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> commandOfTheSharedOne() {
        String sharedPort =
                Integer.toString(URI.create(ApiServer.shared().url()).getPort());
        return ProcessHandle.current()
                .children()
                .map(ProcessHandle::info)
                .filter(info -> info.command()
                        .filter(it -> new File(it).getName().equals(PROGRAM))
                        .isPresent())
                .map(info -> {
                    List<String> whole = new ArrayList<>(List.of(info.command().orElseThrow()));
                    whole.addAll(Arrays.asList(info.arguments().orElseThrow()));
                    return whole;
                })
                .filter(whole -> whole.get(whole.indexOf(PORT_OPTION) + 1).equals(sharedPort))
                .findAny()
                .orElseThrow(() -> new IllegalStateException("no child of this JVM is the API server that it started"));
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String post(String url, String body) {
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<String> answer = http.send(
                    HttpRequest.newBuilder(URI.create(url))
                            .POST(HttpRequest.BodyPublishers.ofString(body))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != HttpURLConnection.HTTP_OK) {
                throw new IllegalStateException(
                        "%s answered %d: %s".formatted(url, answer.statusCode(), answer.body()));
            }
            return answer.body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the etcd was asked", e);
        }
    }
}
