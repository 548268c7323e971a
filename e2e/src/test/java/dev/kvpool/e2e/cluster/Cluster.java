// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;

/** The cluster of a run: an existing one, or one that is started for the run and removed after it. */
public final class Cluster implements AutoCloseable {

    /** Key of the taint that added nodes have from the beginning: only what tolerates it comes to them. */
    public static final String ADDED = "kvpool.dev/e2e";

    private final Settings settings;
    private final Path kubeconfig;
    private final Optional<K3sNode> node;
    private final KubernetesClient client;

    private Cluster(Settings settings, Path kubeconfig, Optional<K3sNode> node) throws IOException {
        this.settings = settings;
        this.kubeconfig = kubeconfig;
        this.node = node;
        this.client = new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(Files.readString(kubeconfig)))
                .build();
    }

    /** Opens the cluster that the settings name, with the images loaded where it is a new one. */
    public static Cluster open(Settings settings) {
        try {
            if (settings.kubeconfig().isPresent()) {
                return new Cluster(settings, settings.kubeconfig().get(), Optional.empty());
            }
            K3sNode node = K3sNode.start(settings.clusterImage(), settings.privileged());
            try {
                node.load(settings.images());
                return new Cluster(settings, privateFile(node.kubeconfig()), Optional.of(node));
            } catch (IOException | RuntimeException e) {
                node.close();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open the cluster", e);
        }
    }

    public Settings settings() {
        return settings;
    }

    /** The file that kubectl and helm are pointed at. */
    public Path kubeconfig() {
        return kubeconfig;
    }

    public KubernetesClient client() {
        return client;
    }

    /** In the order of the alphabet, without those that were added: other scenarios run beside the one that added them. */
    public List<String> nodeNames() {
        return client.nodes().list().getItems().stream()
                .filter(node -> node.getSpec().getTaints().stream().noneMatch(taint -> ADDED.equals(taint.getKey())))
                .map(node -> node.getMetadata().getName())
                .sorted()
                .toList();
    }

    public Kubectl kubectl() {
        return new Kubectl(settings.tool("kubectl"), kubeconfig);
    }

    /**
     * A new, empty namespace that enforces the given pod security level ({@code restricted}, {@code baseline} or
     * {@code privileged}). What an earlier run left under that name is removed first.
     */
    public void createNamespace(String name, String podSecurity) {
        deleteNamespace(name, "--timeout=" + Limits.GONE.minusSeconds(40).toSeconds() + "s");
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .addToLabels("pod-security.kubernetes.io/enforce", podSecurity)
                        .endMetadata()
                        .build())
                .create();
        // Pods are refused until the namespace's service account exists, and wait for its certificates.
        Wait.until("namespace " + name + " has what Kubernetes puts into it", Limits.STATUS, () -> {
            client.serviceAccounts().inNamespace(name).withName("default").require();
            client.configMaps().inNamespace(name).withName("kube-root-ca.crt").require();
        });
    }

    /** Deletes a namespace, if it exists. Its pods end while others work: who needs the name again waits in {@link #createNamespace}. */
    public void deleteNamespace(String name) {
        deleteNamespace(name, "--wait=false");
    }

    private void deleteNamespace(String name, String how) {
        kubectl().run("delete", "namespace", name, "--ignore-not-found", how);
    }

    /**
     * Adds a node with the taint {@link #ADDED}; whoever asked for it removes it by {@link #remove}.
     *
     * @param images what is loaded into it
     * @throws org.opentest4j.TestAbortedException where the cluster is not this run's own
     */
    public K3sNode addNode(List<String> images) {
        assumeTrue(node.isPresent(), "nodes are added to clusters of this run only");
        try {
            K3sNode further = node.get().join(ADDED + "=:NoSchedule");
            try {
                further.load(images);
                kubectl().run("wait", "--for=create", "node/" + further.name(), "--timeout=80s");
                kubectl().run("wait", "--for=condition=Ready", "node/" + further.name(), "--timeout=80s");
                return further;
            } catch (IOException | RuntimeException e) {
                further.close();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot add a node", e);
        }
    }

    /**
     * Gives an image of the first node a further name, by its digest, as where images are pinned to those of a mirror.
     *
     * @param image as {@code NAME:TAG}
     * @param repository the name without tag or digest
     * @return the new name
     * @throws org.opentest4j.TestAbortedException where the cluster is not this run's own
     */
    public String nameByDigest(String image, String repository) {
        assumeTrue(node.isPresent(), "images are named in clusters of this run only");
        try {
            return node.get().nameByDigest(image, repository);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot name image " + image, e);
        }
    }

    /** Ends a node that was added, and forgets it with its pods: Kubernetes takes a minute, and whoever deletes them waits. */
    public void remove(K3sNode further) {
        String name = further.name();
        further.close();
        kubectl().run("delete", "node", name, "--ignore-not-found", "--wait=false");
        String here = "--field-selector=spec.nodeName=" + name;
        kubectl().run("delete", "pods", "--all-namespaces", here, "--force", "--grace-period=0", "--wait=false");
    }

    /** What the cluster itself printed; empty for an existing one. */
    public String logs() {
        return node.map(K3sNode::logs).orElse("");
    }

    @Override
    public void close() {
        client.close();
        node.ifPresent(K3sNode::close);
    }

    /** The kubeconfig holds a key, and helm warns about one that others can read. */
    private static Path privateFile(String content) throws IOException {
        Path file = Files.createTempFile(
                "kvpool-e2e",
                ".kubeconfig",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        file.toFile().deleteOnExit();
        return Files.writeString(file, content);
    }
}
