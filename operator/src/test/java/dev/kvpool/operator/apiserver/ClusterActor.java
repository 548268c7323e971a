// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import dev.kvpool.operator.pool.PoolLabels;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;

/** Does by hand what controllers, kubelets and masters do on a real cluster; the test API server has none of them. */
final class ClusterActor {
    private final KubernetesClient client;
    private final String namespace;

    ClusterActor(KubernetesClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
    }

    /** Makes the running, ready pods of a StatefulSet that are missing. */
    void runPodsOf(String statefulSet) {
        StatefulSet set = client.apps()
                .statefulSets()
                .inNamespace(namespace)
                .withName(statefulSet)
                .get();
        for (int ordinal = 0; ordinal < set.getSpec().getReplicas(); ordinal++) {
            runPod(set, statefulSet + "-" + ordinal, "10.0.0." + (ordinal + 1));
        }
    }

    /** What a master does when it takes the Lease. */
    void takeLease(String lease, String pod, int epoch) {
        client.leases()
                .inNamespace(namespace)
                .withName(lease)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"spec\":{\"holderIdentity\":\"%s_0123456789abcdef\",\"leaseTransitions\":%d}}"
                                .formatted(pod, epoch));
    }

    boolean isLabelledLeader(String pod) {
        Pod actual = client.pods().inNamespace(namespace).withName(pod).get();
        return "true".equals(actual.getMetadata().getLabels().get(PoolLabels.LEADER));
    }

    private void runPod(StatefulSet set, String name, String ip) {
        if (client.pods().inNamespace(namespace).withName(name).get() != null) {
            return;
        }
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .withLabels(set.getSpec().getTemplate().getMetadata().getLabels())
                .endMetadata()
                .withSpec(set.getSpec().getTemplate().getSpec())
                .build();
        client.resource(pod).create();
        client.pods()
                .inNamespace(namespace)
                .withName(name)
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), running(ip));
    }

    private static String running(String ip) {
        return """
                {"status": {"phase": "Running", "podIP": "%s", "podIPs": [{"ip": "%s"}],
                  "conditions": [{"type": "Ready", "status": "True"}],
                  "containerStatuses": [{"name": "c", "ready": true, "restartCount": 0, "image": "i", "imageID": "i",
                    "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}}
                """.formatted(ip, ip);
    }
}
