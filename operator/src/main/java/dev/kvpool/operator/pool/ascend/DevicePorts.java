// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.ascend;

import dev.kvpool.api.v1alpha1.engine.AcceleratorSpec;
import dev.kvpool.api.v1alpha1.engine.AscendTransferSpec;
import dev.kvpool.operator.pool.naming.NodePorts;

/**
 * The ports that the NPUs of a machine may listen on: which of them, their physical numbers decide, which are not known beforehand.
 *
 * @param first of them
 * @param last of them
 */
public record DevicePorts(int first, int last) {
    public static DevicePorts of(AcceleratorSpec accelerator) {
        return from(accelerator.transfer().basePort());
    }

    /** Those that begin with a port. */
    public static DevicePorts from(int first) {
        return new DevicePorts(first, first + AscendTransferSpec.PORTS - 1);
    }

    /** Whether one of a storage node's is among them. */
    public boolean contain(NodePorts ports) {
        return contain(ports.data()) || contain(ports.admin());
    }

    /** Whether an NPU of one has ports of another NPU of the other. The same ports are no matter: each NPU has its own among them. */
    public boolean meet(DevicePorts other) {
        return first != other.first && (contain(other.first) || contain(other.last));
    }

    private boolean contain(int port) {
        return port >= first && port <= last;
    }
}
