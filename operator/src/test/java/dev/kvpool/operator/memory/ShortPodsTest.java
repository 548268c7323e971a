// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.memory;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.DeviceCheck;
import dev.kvpool.operator.pool.observation.ObservedPod;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A pod says the same to the operator however it was read, and is much smaller. */
class ShortPodsTest {
    private static final String TEMPLATE = """
            {"nodeName": "node-1", "imagePullSecrets": [{"name": "pull"}], "serviceAccountName": "demo-master", "terminationGracePeriodSeconds": 60,
              "containers": [{"name": "master", "image": "kvpool:1", "args": ["master", "--port=50051", "--admin-port=9003"],
                "env": [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
                "livenessProbe": {"httpGet": {"path": "/live", "port": 9003}}}, {"name": "side", "image": "side:1"}],
              "initContainers": [{"name": "owner", "image": "kvpool:1"}],
              "volumes": [{"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]}""";
    private static final List<String> STATUSES = List.of("{}", """
            {"podIP": "10.0.0.7", "podIPs": [{"ip": "10.0.0.7"}], "hostIP": "10.0.0.1", "qosClass": "Burstable",
              "conditions": [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}],
              "containerStatuses": [{"name": "master", "image": "kvpool:1", "imageID": "sha256:0", "restartCount": 3,
                "state": {"running": {"startedAt": "2026-01-01T12:00:00Z"}}}]}""", """
            {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}]}""", """
            {"containerStatuses": [{"name": "master", "restartCount": 0,
              "state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}}]}""", """
            {"containerStatuses": [{"name": "master", "restartCount": 1,
              "state": {"terminated": {"exitCode": 137, "message": "killed"}}}]}""", """
            {"containerStatuses": [{"name": "master", "restartCount": 0,
              "state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}},
              "lastState": {"terminated": {"exitCode": 0, "reason": "Completed", "message": "told to end"}}}]}""", """
            {"startTime": "2026-01-01T11:59:59Z",
              "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T12:00:00Z"}],
              "containerStatuses": [{"name": "master", "restartCount": 1, "ready": true, "image": "kvpool:1",
                "state": {"running": {"startedAt": "2026-01-01T12:00:00Z"}},
                "lastState": {"terminated": {"exitCode": 1, "message": "some line\\nit has no certificate"}}}]}""");

    private final KubernetesSerialization whole = new KubernetesSerialization();
    private final KubernetesSerialization brief = new KubernetesSerialization(
            new ObjectMapper().registerModules(SharedFields.module(), ShortPods.module()), true);

    @Test
    void itSaysTheSame() {
        for (String status : STATUSES) {
            Pod full = whole.unmarshal(pod(status), Pod.class);
            Pod read = brief.unmarshal(pod(status), Pod.class);

            assertThat(ObservedPod.of(read)).isEqualTo(ObservedPod.of(full));
            assertThat(read.getMetadata().getManagedFields()).isEmpty();
            assertThat(whole.asJson(read).length())
                    .isLessThan(whole.asJson(full).length() * 2 / 3);
        }
        assertThat(ObservedPod.of(brief.unmarshal(pod(STATUSES.get(1)), Pod.class)))
                .matches(seen -> seen.ready() && seen.started() && seen.leaderLabel() && seen.perNode())
                .matches(seen -> seen.restarts() == 3 && seen.image().equals("kvpool:1"))
                .matches(seen ->
                        seen.running().equals("sha256:0") && seen.pullSecrets().equals(List.of("pull")))
                .matches(seen -> seen.ip().equals("10.0.0.7") && seen.node().equals("node-1"));
    }

    @Test
    void whatThePodFoundOfItsDevicesIsKeptAndOtherInitContainersAreNot() {
        String status = """
                {"initContainerStatuses": [{"name": "host-files", "state": {"terminated": {"message": "none"}}},
                  {"name": "devices", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 1,
                    "message": "{\\"reason\\":\\"NoDevice\\",\\"blocking\\":true,\\"npus\\":[],\\"findings\\":[]}"}}}]}""";

        Pod read = brief.unmarshal(pod(status), Pod.class);

        assertThat(ObservedPod.of(read)).isEqualTo(ObservedPod.of(whole.unmarshal(pod(status), Pod.class)));
        assertThat(ObservedPod.of(read).devices()).map(DeviceCheck::reason).contains("NoDevice");
        assertThat(read.getStatus().getInitContainerStatuses())
                .extracting("name")
                .containsExactly(null, "devices");
    }

    @Test
    void devicesThatAreNotWellAreKept() {
        String status = """
                {"containerStatuses": [{"name": "master", "allocatedResourcesStatus": [{"name": "huawei.com/Ascend910", "resources": [
                    {"resourceID": "Ascend910-4", "health": "Unhealthy"}, {"resourceID": "Ascend910-3", "health": "Unhealthy"},
                    {"resourceID": "Ascend910-5", "health": "Healthy"}, {"resourceID": "Ascend910-6", "health": "Unknown"},
                    {"resourceID": "Ascend910-7"}]},
                    {"name": "rdma/hca", "resources": [
                    {"resourceID": "hca-0", "health": "Healthy"}, {"resourceID": "hca-1", "health": "Unhealthy"}]},
                    {"name": "claim:none", "resources": []}]},
                  {"name": "side", "allocatedResourcesStatus": [{"name": "huawei.com/Ascend910", "resources": [
                    {"resourceID": "Ascend910-1", "health": "Unhealthy"}]}]}]}""";

        Pod read = brief.unmarshal(pod(status), Pod.class);

        assertThat(ObservedPod.of(read)).isEqualTo(ObservedPod.of(whole.unmarshal(pod(status), Pod.class)));
        assertThat(ObservedPod.of(read).sickDevices())
                .containsExactly(
                        "Ascend910-3 of huawei.com/Ascend910",
                        "Ascend910-4 of huawei.com/Ascend910",
                        "hca-1 of rdma/hca");
        assertThat(ObservedPod.of(read).container().healthTold()).containsExactly("rdma/hca");
    }

    @Test
    void aPodWhoseInitContainerRunsHasBegun() {
        for (String init : List.of("{\"running\": {}}", "{\"waiting\": {\"reason\": \"PodInitializing\"}}")) {
            String status = """
                    {"initContainerStatuses": [{"name": "host-files", "state": %s}],
                      "containerStatuses": [{"name": "master", "state": {"waiting": {"reason": "PodInitializing"}}}]}""".formatted(init);

            Pod read = brief.unmarshal(pod(status), Pod.class);

            assertThat(ObservedPod.of(read)).isEqualTo(ObservedPod.of(whole.unmarshal(pod(status), Pod.class)));
            assertThat(ObservedPod.of(read).health().notBegun()).isEqualTo(!init.contains("running"));
        }
    }

    @Test
    void aPodThatSaysNothingCanBeRead() {
        String text = "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"a\", \"uid\": \"u\"}}";

        Pod read = brief.unmarshal(text, Pod.class);

        assertThat(ObservedPod.of(read)).isEqualTo(ObservedPod.of(whole.unmarshal(text, Pod.class)));
    }

    /** A watch sends such a one every minute or so; it ends when it cannot be read. */
    @Test
    void aBookmarkCanBeRead() {
        WatchEvent event = brief.unmarshal("""
                {"type": "BOOKMARK", "object": {"apiVersion": "v1", "kind": "Pod",
                  "metadata": {"resourceVersion": "7", "creationTimestamp": null},
                  "spec": {"containers": null}, "status": {"conditions": null, "containerStatuses": null}}}
                """, WatchEvent.class);

        assertThat(event.getObject())
                .isInstanceOfSatisfying(
                        Pod.class,
                        pod -> assertThat(pod.getMetadata().getResourceVersion())
                                .isEqualTo("7"));
    }

    /** As informers read them: the items of a list, and objects that say themselves what they are. */
    @Test
    void itIsShortWhereverItIsRead() {
        String list =
                "{\"apiVersion\": \"v1\", \"kind\": \"PodList\", \"items\": [%s]}".formatted(pod(STATUSES.get(1)));

        Pod item = brief.unmarshal(list, PodList.class).getItems().getFirst();
        HasMetadata object = brief.unmarshal(pod(STATUSES.get(1)));

        assertThat(item.getSpec().getVolumes()).isEmpty();
        assertThat(object)
                .isInstanceOfSatisfying(
                        Pod.class, pod -> assertThat(pod.getSpec().getVolumes()).isEmpty());
    }

    @Test
    void templatesOfPodsStayWhole() {
        String text = """
                {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"},
                  "spec": {"template": {"spec": %s}}}""".formatted(TEMPLATE);

        assertThat(brief.unmarshal(text, StatefulSet.class)).isEqualTo(whole.unmarshal(text, StatefulSet.class));
    }

    private static String pod(String status) {
        return """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "demo-master-0", "uid": "u", "namespace": "n",
                  "resourceVersion": "7", "labels": {"%s": "master", "%s": "true"}, "annotations": {"%s": "abc"},
                  "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "o"}],
                  "managedFields": [{"manager": "kubelet", "operation": "Update", "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:status": {"f:podIP": {}}}}]}, "spec": %s, "status": %s}""".formatted(PoolLabels.ROLE, PoolLabels.LEADER, PoolLabels.SETTINGS, TEMPLATE, status);
    }
}
