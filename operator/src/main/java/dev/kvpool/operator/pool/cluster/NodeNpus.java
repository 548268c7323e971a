// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.operator.pool.observation.SickNpus;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;

/**
 * Asks what Ascend's device plugin says of the NPUs of Kubernetes nodes: each node's ConfigMap at most every 10 s, however many pools have
 * pods there. It is not watched, since that would take the right to list all ConfigMaps of that namespace.
 */
final class NodeNpus {
    /** Where the plugin keeps one ConfigMap for each node. */
    private static final String NAMESPACE = "kube-system";

    private static final String PREFIX = "mindx-dl-deviceinfo-";
    private static final Duration FRESH = Duration.ofSeconds(10);

    /** Of nodes without storage pods nothing is kept. */
    private static final Duration KEPT = Duration.ofMinutes(10);

    private static final Logger LOG = Logger.getLogger(NodeNpus.class);

    private final Map<String, Read> read = new ConcurrentHashMap<>();

    private record Read(SickNpus npus, Instant at, boolean refused) {
        boolean isYoungerThan(Duration age, Instant now) {
            return Duration.between(at, now).compareTo(age) < 0;
        }
    }

    /** What was said last stands while the API server does not answer. */
    SickNpus of(String node, KubernetesClient client, Instant now) {
        Read before = read.get(node);
        if (before != null && before.isYoungerThan(FRESH, now)) {
            return before.npus();
        }
        read.values().removeIf(old -> !old.isYoungerThan(KEPT, now));
        Read next = ask(node, client, now, before);
        read.put(node, next);
        return next.npus();
    }

    private static Read ask(String node, KubernetesClient client, Instant now, Read before) {
        try {
            ConfigMap told = client.configMaps()
                    .inNamespace(NAMESPACE)
                    .withName(PREFIX + node)
                    .get();
            return new Read(told == null ? SickNpus.NONE : SickNpus.of(told.getData()), now, false);
        } catch (KubernetesClientException e) {
            if (before == null || !before.refused()) {
                LOG.warnf(
                        "What the device plugin says of the NPUs of node %s cannot be read: %s. The chart's deviceHealth.enabled gives"
                                + " the right to it.",
                        node, e.getMessage());
            }
            return new Read(before == null ? SickNpus.NONE : before.npus(), now, true);
        }
    }
}
