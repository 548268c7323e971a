// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Notes which right each request of a client needs, as GROUP/RESOURCE VERB, and lists those that write. */
final class RequestedRights implements Interceptor {
    /** /api/v1/... or /apis/GROUP/VERSION/..., then a namespace or none, a resource, a name and a subresource or none. */
    private static final Pattern PATH = Pattern.compile(
            "/(?:api|apis/(?<group>[^/]+))/v[^/]+/(?:namespaces/[^/]+/(?=[^/]))?(?<resource>[^/]+)(?:/(?<name>[^/]+)(?<sub>/[^/]+)?)?");

    private final Set<String> rights = new ConcurrentSkipListSet<>();
    private final List<String> writes = new CopyOnWriteArrayList<>();

    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        Matcher path = PATH.matcher(request.uri().getPath());
        if (!path.matches()) {
            return;
        }
        String group = path.group("group") == null ? "" : path.group("group");
        String sub = path.group("sub") == null ? "" : path.group("sub");
        String query = Objects.requireNonNullElse(request.uri().getQuery(), "");
        boolean watch = query.contains("watch=true");
        String resource = group + "/" + path.group("resource") + sub + " ";
        if (!request.method().equals("GET")) {
            writes.add(request.method() + " " + request.uri().getPath());
        }
        switch (request.method()) {
            case "GET" -> rights.add(resource + (watch ? "watch" : path.group("name") == null ? "list" : "get"));
            case "POST" -> rights.add(resource + "create");
            case "PUT" -> rights.add(resource + "update");
            case "DELETE" -> rights.add(resource + "delete");
            case "PATCH" -> {
                rights.add(resource + "patch");
                // An applied object that is not there yet is created, and that is a right of its own.
                if (query.contains("force=true") && sub.isEmpty()) {
                    rights.add(resource + "create");
                }
            }
            default -> throw new IllegalStateException("no right is known for " + request.method());
        }
    }

    /** The requests that could have changed something, in their order. */
    List<String> writes() {
        return List.copyOf(writes);
    }

    Set<String> all() {
        return Set.copyOf(rights);
    }
}
