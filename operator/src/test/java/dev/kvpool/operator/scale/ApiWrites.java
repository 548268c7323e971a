// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.scale;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writing requests the API server has answered, counted by itself: also those that changed nothing.
 *
 * @param counts by verb and resource
 */
record ApiWrites(Map<String, Long> counts) {
    private static final Pattern REQUESTS = Pattern.compile("(?m)^apiserver_request_total\\{([^}]*)} (\\S+)$");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");
    private static final Set<String> VERBS = Set.of("APPLY", "PATCH", "POST", "PUT", "DELETE", "DELETECOLLECTION");

    /** The Lease by which operators elect one, and those that masters renew, are updated; an operator applies its own. */
    private static final Set<String> RENEWALS = Set.of("PUT leases", "PATCH leases");

    /** The API server writes these for itself. */
    private static final Set<String> OWN = Set.of("endpointslices", "apiservices", "flowschemas", "ipaddresses");

    static ApiWrites of(KubernetesClient client) {
        Map<String, Long> counts = new TreeMap<>();
        Matcher line = REQUESTS.matcher(client.raw("/metrics"));
        while (line.find()) {
            Map<String, String> labels = new TreeMap<>();
            Matcher label = LABEL.matcher(line.group(1));
            while (label.find()) {
                labels.put(label.group(1), label.group(2));
            }
            String what = labels.get("verb") + " " + labels.get("resource");
            if (VERBS.contains(labels.get("verb"))
                    && !RENEWALS.contains(what)
                    && !OWN.contains(labels.get("resource"))) {
                counts.merge(what, Math.round(Double.parseDouble(line.group(2))), Long::sum);
            }
        }
        return new ApiWrites(counts);
    }

    ApiWrites since(ApiWrites before) {
        Map<String, Long> more = new TreeMap<>();
        counts.forEach((what, count) -> more.put(what, count - before.counts.getOrDefault(what, 0L)));
        more.values().removeIf(count -> count == 0);
        return new ApiWrites(more);
    }

    long total() {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public String toString() {
        return counts.isEmpty() ? "none" : counts.toString();
    }
}
