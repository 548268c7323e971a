// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Notes which right each request of a client needs, as GROUP/RESOURCE VERB, and lists those that write. */
final class RequestedRights implements Interceptor {
    /** /api/v1/... or /apis/GROUP/VERSION/..., then a namespace or none, a resource, a name and a subresource or none. */
    private static final Pattern PATH = Pattern.compile(
            "/(?:api|apis/(?<group>[^/]+))/v[^/]+/(?:namespaces/(?<namespace>[^/]+)/(?=[^/]))?(?<resource>[^/]+)(?:/(?<name>[^/]+)(?<sub>/[^/]+)?)?");

    private final Set<Request> requests = ConcurrentHashMap.newKeySet();
    private final List<String> writes = new CopyOnWriteArrayList<>();

    /**
     * What was asked for.
     *
     * @param namespace empty for what is in none, or in all
     * @param name empty where no object was named
     */
    private record Request(String namespace, String right, String name) {
        String withName() {
            return name.isEmpty() ? right : right + " " + name;
        }
    }

    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        Matcher path = PATH.matcher(request.uri().getPath());
        if (!path.matches()) {
            return;
        }
        String sub = group(path, "sub");
        String query = Objects.requireNonNullElse(request.uri().getQuery(), "");
        boolean watch = query.contains("watch=true");
        String resource = group(path, "group") + "/" + path.group("resource") + sub + " ";
        if (!request.method().equals("GET")) {
            writes.add(request.method() + " " + request.uri().getPath());
        }
        switch (request.method()) {
            case "GET" -> note(path, resource + (watch ? "watch" : path.group("name") == null ? "list" : "get"));
            case "POST" -> note(path, resource + "create");
            case "PUT" -> note(path, resource + "update");
            case "DELETE" -> note(path, resource + "delete");
            case "PATCH" -> {
                note(path, resource + "patch");
                // An applied object that is not there yet is created, and that is a right of its own.
                if (query.contains("force=true") && sub.isEmpty()) {
                    note(path, resource + "create");
                }
            }
            default -> throw new IllegalStateException("no right is known for " + request.method());
        }
    }

    private void note(Matcher path, String right) {
        requests.add(new Request(group(path, "namespace"), right, group(path, "name")));
    }

    private static String group(Matcher path, String name) {
        return Objects.requireNonNullElse(path.group(name), "");
    }

    /** The requests that could have changed something, in their order. */
    List<String> writes() {
        return List.copyOf(writes);
    }

    Set<String> all() {
        return requests.stream().map(Request::right).collect(Collectors.toSet());
    }

    /** Those for objects of a namespace, each with the name of the object where it was named. */
    Set<String> in(String namespace) {
        return requests.stream()
                .filter(request -> request.namespace().equals(namespace))
                .map(Request::withName)
                .collect(Collectors.toSet());
    }
}
