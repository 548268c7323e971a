// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import java.util.List;
import java.util.stream.Stream;

/** The operator, installed by Helm into the cluster of the run. */
public final class Operator {

    public static final String NAMESPACE = "kvpool-system";
    public static final String RELEASE = "kvpool";
    private static final String LEASE = "kvpool-operator";

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
        helm.install(
                RELEASE,
                NAMESPACE,
                Stream.concat(Stream.of("replicas=1"), Stream.of(values)).toArray(String[]::new));
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
