// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import java.util.function.Function;

/**
 * One path of an admin server.
 *
 * @param method GET, POST, PUT or DELETE; HEAD works wherever GET does
 * @param path the exact path
 * @param answer gives the response; runs on a thread of its own and may block for a bounded time
 */
public record Route(String method, String path, Function<Request, Response> answer) {
    public static Route get(String path, Function<Request, Response> answer) {
        return new Route("GET", path, answer);
    }

    public static Route delete(String path, Function<Request, Response> answer) {
        return new Route("DELETE", path, answer);
    }

    public static Route put(String path, Function<Request, Response> answer) {
        return new Route("PUT", path, answer);
    }

    public static Route post(String path, Function<Request, Response> answer) {
        return new Route("POST", path, answer);
    }
}
