// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.util.List;
import java.util.stream.Stream;

/** The operator, installed by Helm into the cluster of the run. */
public final class Operator {

    public static final String NAMESPACE = "kvpool-system";
    public static final String RELEASE = "kvpool";
    private static final String LEASE = "kvpool-operator";

    /** Name of the resource that scenarios lock which kill, upgrade or count operators; the others go on meanwhile. */
    public static final String LOCK = "operator";

    private final Cluster cluster;
    private final Helm helm;

    private Operator(Cluster cluster) {
        this.cluster = cluster;
        this.helm = new Helm(cluster);
    }

    /** Installs it, or brings an installed one to the chart of this source tree. */
    public static Operator install(Cluster cluster) {
        var operator = new Operator(cluster);
        operator.install();
        return operator;
    }

    /**
     * Installs it, or brings it to these values of the chart and else to the chart's own. There is one of it unless they say so: scenarios
     * kill it to see what nobody does meanwhile.
     *
     * @param values {@code name=value}; the last one of a name counts
     */
    public void install(String... values) {
        install(helm, values);
    }

    /** The same by another chart. */
    public void install(Helm chart, String... values) {
        chart.install(
                RELEASE,
                NAMESPACE,
                Stream.concat(Stream.of("replicas=1", "deviceHealth.enabled=true"), Stream.of(values))
                        .toArray(String[]::new));
    }

    /**
     * Replaces its pod when its container was restarted before. A kubelet starts a container again at once, and then after 10, 20, 40 and more
     * seconds; a scenario that kills it waits for one start only.
     */
    public void forgetRestarts() {
        List<Pod> before = pods();
        if (before.stream().allMatch(Operator::isFirstLife)) {
            return;
        }
        before.forEach(pod -> cluster.client().resource(pod).delete());
        Wait.until("the operator runs in another pod", Limits.OPERATOR_READY, () -> {
            assertThat(names(pods())).hasSameSizeAs(before).doesNotContainAnyElementsOf(names(before));
            assertThat(pods()).allMatch(Readiness::isPodReady);
        });
    }

    private static List<String> names(List<Pod> pods) {
        return pods.stream().map(pod -> pod.getMetadata().getName()).toList();
    }

    private static boolean isFirstLife(Pod pod) {
        return pod.getStatus().getContainerStatuses().getFirst().getRestartCount() == 0;
    }

    public void uninstall() {
        helm.uninstall(RELEASE, NAMESPACE);
    }

    public Helm helm() {
        return helm;
    }

    /** Its Deployment, of which there is exactly one in the release. */
    public Deployment deployment() {
        List<Deployment> deployments = cluster.client()
                .apps()
                .deployments()
                .inNamespace(NAMESPACE)
                .withLabel("app.kubernetes.io/instance", RELEASE)
                .list()
                .getItems();
        assertThat(deployments).as("deployments of the release").hasSize(1);
        return deployments.getFirst();
    }

    /** Name of the pod that works; empty while none does. */
    public String leader() {
        String holder = cluster.client()
                .leases()
                .inNamespace(NAMESPACE)
                .withName(LEASE)
                .require()
                .getSpec()
                .getHolderIdentity();
        return holder == null ? "" : holder;
    }

    /** Its pods, those being deleted included. */
    public List<Pod> pods() {
        return cluster.client()
                .pods()
                .inNamespace(NAMESPACE)
                .withLabelSelector(deployment().getSpec().getSelector())
                .list()
                .getItems();
    }
}
