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
        int first = accelerator.transfer().basePort();
        return new DevicePorts(first, first + AscendTransferSpec.PORTS - 1);
    }

    /** Whether one of a storage node's is among them. */
    public boolean contain(NodePorts ports) {
        return contain(ports.data()) || contain(ports.admin());
    }

    private boolean contain(int port) {
        return port >= first && port <= last;
    }
}
