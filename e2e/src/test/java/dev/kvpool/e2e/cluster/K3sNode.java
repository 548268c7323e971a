// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.Capability;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.k3s.K3sContainer;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;

/** A cluster of one node in one container: K3s, or an image that keeps to its contract (e2e/cluster). */
final class K3sNode implements AutoCloseable {

    /** Where --privileged is refused, these are: the machine has no SYS_RESOURCE, older engines do not know the others. */
    private static final Set<Capability> NOT_ASKED_FOR = EnumSet.of(
            Capability.ALL, Capability.SYS_RESOURCE, Capability.BPF, Capability.PERFMON, Capability.CHECKPOINT_RESTORE);

    private static final String IMAGES_IN_NODE = "/tmp/kvpool-images.tar";

    private final K3sContainer container;

    private K3sNode(K3sContainer container) {
        this.container = container;
    }

    /** Starts the node and waits until it is ready. @throws IllegalStateException with its log when it does not start */
    static K3sNode start(String image, boolean privileged) {
        var container = new K3sContainer(DockerImageName.parse(image).asCompatibleSubstituteFor("rancher/k3s"));
        container.withStartupTimeout(Limits.CLUSTER_START);
        if (!privileged) {
            askForLess(container);
        }
        var node = new K3sNode(container);
        // Ryuk may be switched off, then nobody else removes the container of a run that was interrupted.
        Runtime.getRuntime().addShutdownHook(new Thread(node::close, "remove-cluster"));
        try {
            container.start();
        } catch (RuntimeException e) {
            throw new IllegalStateException("the cluster " + image + " did not start: " + node.logs(), e);
        }
        return node;
    }

    /** Makes images of the container engine known to the node. @throws IllegalStateException when one does not exist */
    void load(List<String> images) throws IOException {
        Path tar = Files.createTempFile("kvpool-e2e-images", ".tar");
        try {
            save(images, tar);
            container.copyFileToContainer(MountableFile.forHostPath(tar), IMAGES_IN_NODE);
            exec("ctr", "--namespace", "k8s.io", "images", "import", IMAGES_IN_NODE);
            exec("rm", IMAGES_IN_NODE);
        } finally {
            Files.deleteIfExists(tar);
        }
    }

    String kubeconfig() {
        return container.getKubeConfigYaml();
    }

    String logs() {
        return container.getContainerId() == null ? "" : container.getLogs();
    }

    @Override
    public void close() {
        container.stop();
    }

    private static void save(List<String> images, Path tar) throws IOException {
        DockerClient engine = DockerClientFactory.lazyClient();
        // One file for all images: what they share is in it once.
        var command = engine.saveImagesCmd();
        for (String image : images) {
            try {
                engine.inspectImageCmd(image).exec();
            } catch (NotFoundException e) {
                throw new IllegalStateException("there is no image " + image + "; run e2e/images/build", e);
            }
            int colon = image.lastIndexOf(':');
            command.withImage(image.substring(0, colon), image.substring(colon + 1));
        }
        try (InputStream in = command.exec();
                var out = Files.newOutputStream(tar)) {
            in.transferTo(out);
        }
    }

    private void exec(String... command) throws IOException {
        try {
            ExecResult result = container.execInContainer(command);
            if (result.getExitCode() != 0) {
                throw new IllegalStateException("`%s` in the cluster's node ended with %d: %s"
                        .formatted(String.join(" ", command), result.getExitCode(), result.getStderr()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the node ran " + String.join(" ", command), e);
        }
    }

    /** Some machines, mostly virtual ones that are containers themselves, refuse --privileged; this is enough too. */
    private static void askForLess(K3sContainer container) {
        Capability[] capabilities = Arrays.stream(Capability.values())
                .filter(capability -> !NOT_ASKED_FOR.contains(capability))
                .toArray(Capability[]::new);
        container.withPrivilegedMode(false);
        container.withCreateContainerCmdModifier(command -> command.getHostConfig()
                .withPrivileged(false)
                .withCapAdd(capabilities)
                .withSecurityOpts(List.of("seccomp=unconfined", "apparmor=unconfined"))
                .withDeviceCgroupRules(List.of("a *:* rwm")));
        container.withTmpFs(Map.of("/run", "rw,exec", "/var/run", ""));
    }
}
