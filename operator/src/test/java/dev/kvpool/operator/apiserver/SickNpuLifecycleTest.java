// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An NPU that falls ill and gets well, as Ascend's device plugin writes it into its ConfigMap, on a real API server. */
class SickNpuLifecycleTest {
    private static final String NAMESPACE = "sick-npus";
    private static final OperatorSettings WITH_DEVICE_HEALTH = new OperatorSettings(
            OperatorUnderTest.SETTINGS.image(),
            OperatorUnderTest.SETTINGS.version(),
            OperatorUnderTest.SETTINGS.namespace(),
            OperatorUnderTest.SETTINGS.serviceAccount(),
            OperatorUnderTest.SETTINGS.drainTaints(),
            false,
            true,
            OperatorUnderTest.SETTINGS.rotation(),
            OperatorUnderTest.SETTINGS.rollout());

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE);

    @Test
    void itsStorageNodeIsEmptiedAndTakesPartAgainWhenItIsWellAndItsPodStays() {
        OPERATOR.restart(WITH_DEVICE_HEALTH);
        ClusterActor cluster = OPERATOR.cluster();
        OPERATOR.applyEngine("npus", "{protocols: [ascend, tcp], accelerator: {chip: A2}}");
        OPERATOR.client()
                .namespaces()
                .withName(NAMESPACE)
                .edit(namespace -> namespace
                        .edit()
                        .editMetadata()
                        .addToLabels("pod-security.kubernetes.io/enforce", "privileged")
                        .endMetadata()
                        .build());
        PoolUnderTest pool = OPERATOR.make(
                        "npus", "{transferEngine: npus, replicas: 2, storage: [{name: default, capacity: 1Gi}]}")
                .run();
        for (int ordinal = 0; ordinal < 2; ordinal++) {
            cluster.addNode("npus-node-" + ordinal, Map.of());
            cluster.schedule("npus-default-" + ordinal, "npus-node-" + ordinal);
            cluster.status("npus-default-" + ordinal, """
                    {"status": {"initContainerStatuses": [{"name": "devices", "ready": true, "restartCount": 0, "image": "i",
                      "imageID": "i", "state": {"terminated": {"exitCode": 0, "message":
                        "{\\"reason\\":\\"\\",\\"blocking\\":false,\\"npus\\":[%d],\\"findings\\":[]}"}}}]}}
                    """.formatted(3 + ordinal));
        }
        say("npus-node-0", "");
        say("npus-node-1", "");
        pool.ready();
        pool.play(() -> pool.has(Reason.RUNTIME_FOUND));
        Map<String, String> before = pool.storagePods();

        say("npus-node-1", "Ascend910-3,Ascend910-4");
        pool.play(() -> pool.has(Reason.DEVICE_UNHEALTHY) && pool.told().contains("empty npus-default-1"));

        assertThat(pool.message(ConditionType.ASCEND_RUNTIME_READY))
                .startsWith("Of set default, npus-default-1 on node npus-node-1 has NPU 4, which is unhealthy.");
        assertThat(pool.status().steps()).extracting(StepStatus::of).containsExactly("npus-default-1");

        say("npus-node-1", "Ascend910-3");
        pool.play(() -> pool.status().steps().isEmpty() && pool.has(Reason.RUNTIME_FOUND) && pool.has(Reason.NO_DRAIN));

        assertThat(pool.told()).doesNotContain("empty npus-default-0").endsWith("cancel npus-default-1");
        assertThat(pool.storagePods()).as("nothing stopped a pod").isEqualTo(before);
        assertThat(pool.events())
                .contains(
                        EventReason.ASCEND_RUNTIME_NOT_READY.text(),
                        EventReason.DRAIN_STARTED.text(),
                        EventReason.DRAIN_CANCELLED.text());
    }

    private static void say(String node, String unhealthy) {
        String config =
                "{\"DeviceInfo\":{\"DeviceList\":{\"huawei.com/Ascend910-Unhealthy\":\"%s\"}}}".formatted(unhealthy);
        OPERATOR.client()
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("mindx-dl-deviceinfo-" + node)
                        .withNamespace("kube-system")
                        .endMetadata()
                        .withData(Map.of("DeviceInfoCfg", config))
                        .build())
                .fieldManager("device-plugin")
                .forceConflicts()
                .serverSideApply();
    }
}
