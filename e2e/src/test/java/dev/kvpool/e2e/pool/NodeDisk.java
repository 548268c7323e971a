// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;

/** An empty block device of a node, made of memory; its namespace must admit privileged pods. */
public final class NodeDisk implements AutoCloseable {
    /** Numbers and structures are those of linux/loop.h. Nodes that are containers may lack the names of devices. */
    private static final String LOOP = """
            import fcntl, os, stat, struct, sys
            GET_FREE, CONFIGURE, CLEAR = 0x4C82, 0x4C0A, 0x4C01
            def device(name, major, minor):
                path = '/host-dev/' + name
                if not os.path.exists(path):
                    os.mknod(path, 0o660 | stat.S_IFBLK if major == 7 else 0o660 | stat.S_IFCHR, os.makedev(major, minor))
                return os.open(path, os.O_RDWR)
            if sys.argv[1] == 'attach':
                control = device('loop-control', 10, 237)
                file = os.open('/disk/' + sys.argv[2], os.O_RDWR | os.O_CREAT, 0o600)
                os.ftruncate(file, int(sys.argv[3]))
                number = fcntl.ioctl(control, GET_FREE)
                loop = device('loop%d' % number, 7, number)
                fcntl.ioctl(loop, CONFIGURE, struct.pack('II', file, 512) + bytes(232 + 64))
                # Kubelet takes one of its own for as long as a pod has the device.
                device('loop%d' % (number + 1), 7, number + 1)
                print('/dev/loop%d' % number)
            else:
                number = int(sys.argv[2].removeprefix('/dev/loop'))
                fcntl.ioctl(device('loop%d' % number, 7, number), CLEAR)
            """;

    private static final String DIRECTORY = "/run/kvpool-e2e-disks";

    private final Cluster cluster;
    private final String namespace;
    private final String node;
    private final String path;

    /** Zeros, as many bytes as it is to have. */
    public NodeDisk(Cluster cluster, String namespace, String node, String name, long bytes) {
        this.cluster = cluster;
        this.namespace = namespace;
        this.node = node;
        this.path = run("attach", name, Long.toString(bytes)).strip();
    }

    /** Its name on the node. */
    public String path() {
        return path;
    }

    /** Whoever has it open keeps it until then. */
    @Override
    public void close() {
        run("detach", path);
    }

    private String run(String... arguments) {
        return PodRun.start(cluster, namespace, pod(arguments)).awaitSuccess(Limits.CLIENT_POD);
    }

    private Pod pod(String... arguments) {
        return new PodBuilder()
                .withNewMetadata()
                .withGenerateName("disk-")
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .withRestartPolicy("Never")
                .withAutomountServiceAccountToken(false)
                .withTerminationGracePeriodSeconds(0L)
                .addNewContainer()
                .withName("disk")
                .withImage("kvpool-client:0.1.0")
                .withCommand("python3", "-c", LOOP)
                .withArgs(arguments)
                .withNewSecurityContext()
                .withPrivileged(true)
                .withRunAsUser(0L)
                .endSecurityContext()
                .addNewVolumeMount()
                .withName("devices")
                .withMountPath("/host-dev")
                .endVolumeMount()
                .addNewVolumeMount()
                .withName("files")
                .withMountPath("/disk")
                .endVolumeMount()
                .endContainer()
                .addNewVolume()
                .withName("devices")
                .withNewHostPath("/dev", "Directory")
                .endVolume()
                .addNewVolume()
                .withName("files")
                .withNewHostPath(DIRECTORY, "DirectoryOrCreate")
                .endVolume()
                .endSpec()
                .build();
    }
}
