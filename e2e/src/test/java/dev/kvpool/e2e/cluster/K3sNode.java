// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.Bind;
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
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.k3s.K3sContainer;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;

/** A node in a container, the first of a cluster or a further one: K3s, or an image that keeps to its contract (e2e/cluster). */
public final class K3sNode implements AutoCloseable {

    /** Where --privileged is refused, these are: the machine has no SYS_RESOURCE, older engines do not know the others. */
    private static final Set<Capability> NOT_ASKED_FOR = EnumSet.of(
            Capability.ALL, Capability.SYS_RESOURCE, Capability.BPF, Capability.PERFMON, Capability.CHECKPOINT_RESTORE);

    private static final String CGROUPS = "/sys/fs/cgroup:/sys/fs/cgroup:rw";
    private static final String IMAGES_IN_NODE = "/tmp/kvpool-images.tar";

    private static final Pattern DIGEST = Pattern.compile("sha256:[0-9a-f]{64}");

    private static final String TOKEN = "/var/lib/rancher/k3s/server/node-token";

    private final GenericContainer<?> container;
    private final String image;
    private final boolean privileged;

    private K3sNode(GenericContainer<?> container, String image, boolean privileged) {
        this.container = container;
        this.image = image;
        this.privileged = privileged;
    }

    /** Starts a cluster and waits until its node is ready. @throws IllegalStateException with its log when it does not start */
    static K3sNode start(String image, boolean privileged) {
        var container = new K3sContainer(DockerImageName.parse(image).asCompatibleSubstituteFor("rancher/k3s"));
        return run(new K3sNode(container, image, privileged));
    }

    /**
     * Starts a further node of this cluster; it is ready when the API server says so.
     *
     * @param taint that it has from the beginning, as {@code KEY=VALUE:EFFECT}
     */
    K3sNode join(String taint) throws IOException {
        String server = container.getContainerInfo().getNetworkSettings().getNetworks().values().stream()
                .findFirst()
                .orElseThrow()
                .getIpAddress();
        // As K3sContainer sets it for the first one.
        GenericContainer<?> agent = new GenericContainer<>(DockerImageName.parse(image))
                .withPrivilegedMode(true)
                .withCreateContainerCmdModifier(command ->
                        command.getHostConfig().withCgroupnsMode("host").withBinds(Bind.parse(CGROUPS)))
                .withTmpFs(Map.of("/run", "", "/var/run", ""))
                .withEnv("K3S_URL", "https://" + server + ":6443")
                .withEnv("K3S_TOKEN", exec("cat", TOKEN).strip())
                .withCommand("agent", "--node-taint=" + taint);
        return run(new K3sNode(agent, image, privileged));
    }

    private static K3sNode run(K3sNode node) {
        node.container.withStartupTimeout(Limits.CLUSTER_START);
        if (!node.privileged) {
            askForLess(node.container);
        }
        // Ryuk may be switched off, then nobody else removes the container of a run that was interrupted.
        Runtime.getRuntime().addShutdownHook(new Thread(node::close, "remove-node"));
        try {
            node.container.start();
        } catch (RuntimeException e) {
            throw new IllegalStateException("a node of " + node.image + " did not start: " + node.logs(), e);
        }
        return node;
    }

    /** Its name in the cluster. */
    public String name() {
        return container.getContainerInfo().getConfig().getHostName();
    }

    /** Ends it at once with everything on it, as when a machine loses its power. */
    public void kill() {
        DockerClientFactory.lazyClient()
                .killContainerCmd(container.getContainerId())
                .exec();
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

    String nameByDigest(String image, String repository) throws IOException {
        String known = "docker.io/library/" + image;
        String listed = exec("ctr", "--namespace", "k8s.io", "images", "ls", "name==" + known);
        String digest = DIGEST.matcher(listed)
                .results()
                .map(MatchResult::group)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("the node has no image " + known));
        String name = repository + "@" + digest;
        exec("ctr", "--namespace", "k8s.io", "images", "tag", "--force", known, name);
        return name;
    }

    /** Of the first node. */
    String kubeconfig() {
        return ((K3sContainer) container).getKubeConfigYaml();
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

    private String exec(String... command) throws IOException {
        try {
            ExecResult result = container.execInContainer(command);
            if (result.getExitCode() != 0) {
                throw new IllegalStateException("`%s` in the cluster's node ended with %d: %s"
                        .formatted(String.join(" ", command), result.getExitCode(), result.getStderr()));
            }
            return result.getStdout();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the node ran " + String.join(" ", command), e);
        }
    }

    /** Some machines, mostly virtual ones that are containers themselves, refuse --privileged; this is enough too. */
    private static void askForLess(GenericContainer<?> container) {
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
