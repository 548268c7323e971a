// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pods keep the Secrets they were made with, and an upgrade changes their image alone. */
class PullSecretsTest {
    private static final String SPEC =
            "{image: 'registry.example/new:2', imagePullSecrets: [{name: first}, {name: second}], storage: [{name: a, capacity: 1Gi, replicas: 1}]}";
    private static final PoolReport ONE =
            PoolSketch.leader(List.of(PoolSketch.node("demo-a-0", "ready", "", 1L << 30, 7)));

    @ParameterizedTest(name = "{0} with {1} lacks a Secret: {2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "registry.example/old:1 | | true",
                "registry.example/old:1 | first | true",
                "registry.example/old:1 | first second | false",
                "registry.example/old:1 | second third first | false",
                "registry.example/new:2 | | false",
            })
    void whoLacksOneIsFound(String image, String secrets, boolean lacks) {
        PoolObservation seen = new PoolSketch(SPEC)
                .emptySet("a", 1)
                .pod(pod(image, secrets == null ? "" : secrets))
                .observation();

        assertThat(PullSecrets.lacking(seen, "registry.example/new:2").isPresent())
                .isEqualTo(lacks);
    }

    @Test
    void theUpgradeIsNotBegunAndTheRemedyIsNamed() {
        PoolPlan plan = new PoolSketch(SPEC)
                .child(masters())
                .emptySet("a", 1)
                .pod(pod("registry.example/old:1", "first"))
                .masters(0, 1, ONE)
                .plan();

        assertThat(plan.roll().preflightImage()).isEmpty();
        assertThat(plan.roll().next()).isEmpty();
        assertThat(plan.roll().finding().reason()).isEqualTo(Reason.VERSION_REFUSED);
        assertThat(plan.roll().finding().message())
                .isEqualTo(
                        "The pool stays at registry.example/old:1 and nothing was restarted: registry.example/new:2 is not begun:"
                                + " demo-a-0 was created before spec.imagePullSecrets had second, and its image would be pulled without:"
                                + " change the content of a Secret that it has instead, or have it recreated with the current version first"
                                + " (spec.onDataLoss: Move).");
    }

    private static StatefulSet masters() {
        return new KubernetesSerialization().unmarshal("""
                {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "demo-master", "namespace": "ns", "labels": {}},
                  "spec": {"replicas": 0, "template": {"metadata": {"labels": {"kvpool.dev/role": "master"}},
                    "spec": {"containers": [{"name": "master", "image": "registry.example/old:1"}]}}}}
                """, StatefulSet.class);
    }

    private static ObservedPod pod(String image, String secrets) {
        String names = secrets.isEmpty()
                ? ""
                : "{\"name\": \"" + String.join("\"}, {\"name\": \"", secrets.split(" ", -1)) + "\"}";
        return ObservedPod.of(new KubernetesSerialization()
                .unmarshal(
                        """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "demo-a-0", "uid": "uid",
                  "labels": {"%s": "storage", "%s": "a"}, "annotations": {"%s": "new"}},
                  "spec": {"nodeName": "n1", "imagePullSecrets": [%s], "containers": [{"name": "node", "image": "%s"}]},
                  "status": {"containerStatuses": [{"name": "node", "restartCount": 0, "imageID": "sha256:1",
                    "state": {"running": {"startedAt": "2026-01-01T11:00:00Z"}}}]}}
                """.formatted(PoolLabels.ROLE, PoolLabels.SET, PoolLabels.SETTINGS, names, image), Pod.class));
    }
}
