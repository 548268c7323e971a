// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.probe;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Asks a running operator for its health, for the chart's test: the image has no other program that speaks HTTP. */
public final class HealthCheck {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final int OK = 200;

    private HealthCheck() {}

    /**
     * Prints the answer, and fails unless it is good.
     *
     * @param arguments the address to ask, for example http://kvpool:8080/q/health/ready
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length != 1) {
            throw new IllegalArgumentException("usage: HealthCheck URL");
        }
        HttpResponse<String> response = ask(arguments[0]);
        System.out.println(response.body());
        if (response.statusCode() != OK) {
            throw new IllegalStateException(arguments[0] + " answered with HTTP status " + response.statusCode());
        }
    }

    /** What is answered at an address, whatever it is. */
    public static HttpResponse<String> ask(String address) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newBuilder().connectTimeout(LIMIT).build()) {
            HttpRequest request =
                    HttpRequest.newBuilder(URI.create(address)).timeout(LIMIT).build();
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }
}
