// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.BindingBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** Does by hand what controllers, kubelets and masters do on a real cluster; the test API server has none of them. */
public final class ClusterActor {
    private static final int LIMIT_S = 60;

    private final KubernetesClient client;
    private final String namespace;
    private final List<String> nodes = new ArrayList<>();
    private UnaryOperator<PodSpec> admission = UnaryOperator.identity();

    public ClusterActor(KubernetesClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
    }

    /** From now on pods come to be as this makes of them, as by a webhook. */
    void admit(UnaryOperator<PodSpec> change) {
        admission = change;
    }

    /** Makes the running, ready pods of a StatefulSet that are missing, when it is there: the operator makes several at a time. */
    public void runPodsOf(String statefulSet) {
        runPodsOf(client.apps()
                .statefulSets()
                .inNamespace(namespace)
                .withName(statefulSet)
                .waitUntilCondition(Objects::nonNull, LIMIT_S, TimeUnit.SECONDS));
    }

    /** The same of a StatefulSet as it was seen, which the operator may have deleted meanwhile. */
    void runPodsOf(StatefulSet set) {
        int prefix = set.getMetadata().getName().length() + 1;
        runPodsOf(set, name -> "10.0.0." + (Integer.parseInt(name.substring(prefix)) + 1));
    }

    /**
     * The same.
     *
     * @param addresses gives a pod of this name its IP address
     */
    public void runPodsOf(StatefulSet set, UnaryOperator<String> addresses) {
        for (int ordinal = 0; ordinal < set.getSpec().getReplicas(); ordinal++) {
            String name = set.getMetadata().getName() + "-" + ordinal;
            Pod pod = pod(set, set.getSpec().getTemplate(), name);
            pod.getMetadata().setLabels(new HashMap<>(pod.getMetadata().getLabels()));
            pod.getMetadata().getLabels().put("statefulset.kubernetes.io/pod-name", name);
            pod.getSpec().getVolumes().addAll(claims(set, name));
            runPod(pod, addresses.apply(name));
        }
    }

    /** Makes the first pod of a StatefulSet, which waits and was made with other settings than there are now. */
    public void waitingPodOf(String statefulSet, String settings) {
        StatefulSet set = client.apps()
                .statefulSets()
                .inNamespace(namespace)
                .withName(statefulSet)
                .get();
        Pod pod = pod(set, set.getSpec().getTemplate(), statefulSet + "-0");
        pod.getMetadata().setAnnotations(Map.of(PoolLabels.SETTINGS, settings));
        client.resource(pod).create();
    }

    /** Makes the running, ready pod of a DaemonSet on a Kubernetes node. */
    public void runPodOn(String daemonSet, String node) {
        runPod(podOn(daemonSet, node), "10.0.1.1");
    }

    /** Makes it, and its container does not run yet. */
    void createPodOn(String daemonSet, String node) {
        client.resource(podOn(daemonSet, node)).create();
    }

    /** What the controller of DaemonSets says of how many pods there shall be. */
    void wantPods(String daemonSet, int pods) {
        client.apps()
                .daemonSets()
                .inNamespace(namespace)
                .withName(daemonSet)
                .subresource("status")
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"status\":{\"desiredNumberScheduled\":%d}}".formatted(pods));
    }

    private Pod podOn(String daemonSet, String node) {
        DaemonSet set = client.apps()
                .daemonSets()
                .inNamespace(namespace)
                .withName(daemonSet)
                .get();
        Pod pod = pod(set, set.getSpec().getTemplate(), daemonSet + "-" + node);
        pod.getMetadata()
                .setOwnerReferences(List.of(new OwnerReferenceBuilder()
                        .withApiVersion("apps/v1")
                        .withKind("DaemonSet")
                        .withName(daemonSet)
                        .withUid(set.getMetadata().getUid())
                        .withController(true)
                        .build()));
        pod.getSpec().setNodeName(node);
        return pod;
    }

    /** Puts the pods of a StatefulSet that wait for a node on one, as the scheduler does. */
    public void schedulePodsOf(String statefulSet, String node) {
        int replicas = client.apps()
                .statefulSets()
                .inNamespace(namespace)
                .withName(statefulSet)
                .get()
                .getSpec()
                .getReplicas();
        for (int ordinal = 0; ordinal < replicas; ordinal++) {
            schedule(statefulSet + "-" + ordinal, node);
        }
    }

    /** Puts a pod that waits for a node on one. */
    void schedule(String pod, String node) {
        client.bindings()
                .inNamespace(namespace)
                .resource(new BindingBuilder()
                        .withNewMetadata()
                        .withName(pod)
                        .withNamespace(namespace)
                        .endMetadata()
                        .withNewTarget()
                        .withKind("Node")
                        .withName(node)
                        .endTarget()
                        .build())
                .create();
    }

    /** What {@code kubectl cordon} and {@code kubectl uncordon} do. */
    void cordon(String node, boolean cordoned) {
        client.nodes()
                .withName(node)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"spec\":{\"unschedulable\":%s}}".formatted(cordoned ? "true" : "null"));
    }

    /** What {@code kubectl drain} does with a pod, until it answers true. */
    boolean evict(String pod) {
        return client.pods().inNamespace(namespace).withName(pod).evict();
    }

    /** Counts the pods of a budget with a number of those that may be away, as the disruption controller does. */
    void count(String budget, int scale) {
        PodDisruptionBudget actual = client.policy()
                .v1()
                .podDisruptionBudget()
                .inNamespace(namespace)
                .withName(budget)
                .get();
        int healthy = client.pods()
                .inNamespace(namespace)
                .withLabelSelector(actual.getSpec().getSelector())
                .list()
                .getItems()
                .size();
        int desired = scale - actual.getSpec().getMaxUnavailable().getIntVal();
        client.policy()
                .v1()
                .podDisruptionBudget()
                .inNamespace(namespace)
                .withName(budget)
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), """
                        {"status": {"observedGeneration": %d, "expectedPods": %d, "currentHealthy": %d, "desiredHealthy": %d,
                          "disruptionsAllowed": %d}}
                        """.formatted(
                        actual.getMetadata().getGeneration(), scale, healthy, desired, Math.max(0, healthy - desired)));
    }

    /** A node joins the cluster and is ready, so that it loses the taint the API server gave it. */
    public void addNode(String name, Map<String, String> labels) {
        nodes.add(name);
        client.resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withLabels(labels)
                        .endMetadata()
                        .build())
                .create();
        client.nodes().withName(name).patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"taints\":null}}");
        client.nodes()
                .withName(name)
                .subresource("status")
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
    }

    void removeNode(String name) {
        client.nodes().withName(name).delete();
    }

    /** Removes all that were added. */
    public void removeNodes() {
        nodes.forEach(this::removeNode);
        nodes.clear();
    }

    public void label(String node, String label, String value) {
        client.nodes()
                .withName(node)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"labels\":{\"%s\":\"%s\"}}}".formatted(label, value));
    }

    public void removePod(String name) {
        client.pods().inNamespace(namespace).withName(name).withGracePeriod(0).delete();
    }

    /** What a kubelet says when the container of a pod has ended. */
    public void endContainer(String pod, int exitCode) {
        status(pod, """
                {"status": {"conditions": [{"type": "Ready", "status": "False"}],
                  "containerStatuses": [{"name": "%s", "ready": false, "restartCount": 0, "image": "i", "imageID": "i",
                    "state": {"terminated": {"exitCode": %d}}}]}}
                """.formatted(ownContainer(pod), exitCode));
    }

    /** What a kubelet says when it has restarted the container of a pod. */
    public void runAgain(String pod) {
        status(pod, """
                {"status": {"conditions": [{"type": "Ready", "status": "True"}],
                  "containerStatuses": [{"name": "%s", "ready": true, "restartCount": 1, "image": "i", "imageID": "i",
                    "state": {"running": {"startedAt": "2026-01-02T00:00:00Z"}}}]}}
                """.formatted(ownContainer(pod)));
    }

    /** What the controller of Jobs says when the pod of one has ended well. */
    void complete(Job job) {
        client.resource(job).subresource("status").patch(PatchContext.of(PatchType.JSON_MERGE), """
                {"status": {"succeeded": 1, "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:01Z",
                  "uncountedTerminatedPods": {}, "conditions": [
                    {"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"}]}}
                """);
    }

    private String ownContainer(String pod) {
        Pod actual = client.pods().inNamespace(namespace).withName(pod).get();
        return OwnContainer.name(actual.getMetadata().getLabels().get(PoolLabels.ROLE));
    }

    /** What a kubelet writes to the status of a pod. */
    void status(String pod, String patch) {
        client.pods()
                .inNamespace(namespace)
                .withName(pod)
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
    }

    /** What a master does when it takes the Lease. */
    public void takeLease(String lease, String pod, int epoch) {
        client.leases()
                .inNamespace(namespace)
                .withName(lease)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"spec\":{\"holderIdentity\":\"%s_0123456789abcdef\",\"leaseTransitions\":%d}}"
                                .formatted(pod, epoch));
    }

    public boolean isLabelledLeader(String pod) {
        Pod actual = client.pods().inNamespace(namespace).withName(pod).get();
        return "true".equals(actual.getMetadata().getLabels().get(PoolLabels.LEADER));
    }

    /** What the StatefulSet controller adds to a pod. */
    private static List<Volume> claims(StatefulSet set, String pod) {
        return set.getSpec().getVolumeClaimTemplates().stream()
                .map(claim -> claim.getMetadata().getName())
                .map(name -> new VolumeBuilder()
                        .withName(name)
                        .withNewPersistentVolumeClaim(name + "-" + pod, false)
                        .build())
                .toList();
    }

    private static Pod pod(HasMetadata set, PodTemplateSpec template, String name) {
        return new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(set.getMetadata().getNamespace())
                .withLabels(template.getMetadata().getLabels())
                .withAnnotations(template.getMetadata().getAnnotations())
                .endMetadata()
                .withSpec(template.getSpec())
                .build();
    }

    private void runPod(Pod pod, String ip) {
        if (client.pods()
                        .inNamespace(namespace)
                        .withName(pod.getMetadata().getName())
                        .get()
                == null) {
            create(
                    pod,
                    running(ip, OwnContainer.name(pod.getMetadata().getLabels().get(PoolLabels.ROLE))));
        }
    }

    /** Makes a pod, of which its kubelet then writes this status. */
    void create(Pod pod, String status) {
        pod.setSpec(admission.apply(pod.getSpec()));
        client.resource(pod).create();
        status(pod.getMetadata().getName(), status);
    }

    private static String running(String ip, String container) {
        return """
                {"status": {"phase": "Running", "podIP": "%s", "podIPs": [{"ip": "%s"}],
                  "conditions": [{"type": "Ready", "status": "True"}],
                  "containerStatuses": [{"name": "%s", "ready": true, "restartCount": 0, "image": "i", "imageID": "i",
                    "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}}
                """.formatted(ip, ip, container);
    }
}
