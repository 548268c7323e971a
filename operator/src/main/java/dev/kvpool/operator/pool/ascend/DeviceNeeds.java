// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.ascend;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.engine.AcceleratorChip;
import dev.kvpool.api.v1alpha1.engine.AcceleratorLink;
import dev.kvpool.api.v1alpha1.engine.AcceleratorMode;
import dev.kvpool.api.v1alpha1.engine.AcceleratorSpec;
import dev.kvpool.api.v1alpha1.engine.Protocol;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What the container of a storage node must find so that its NPUs move bytes, as the command that looks for it is told. */
public final class DeviceNeeds {
    /** Name of the init container that looks for it. */
    public static final String CONTAINER = "devices";

    private DeviceNeeds() {}

    /** Whether storage nodes of this engine open NPUs to move bytes by them. Where they only hold them, there is nothing to look for. */
    public static boolean areOf(TransferEngineSpec engine) {
        return engine.accelerator() != null
                && engine.accelerator().opensDevices()
                && engine.protocolsOfNodes().contains(Protocol.ASCEND);
    }

    /**
     * Arguments of the command.
     *
     * @param protocols of the storage node, as its own command line has them
     * @param messages the file that the kubelet reads what is found from
     */
    public static List<String> arguments(AcceleratorSpec accelerator, String protocols, String messages) {
        List<String> arguments = new ArrayList<>(
                List.of("check-devices", "--protocols=" + protocols, "--devices=" + accelerator.devicesOfNode()));
        link(accelerator).ifPresent(link -> arguments.add("--link=" + link));
        oldestDriver(accelerator).ifPresent(version -> arguments.add("--driver-min=" + version));
        arguments.add("--termination-log=" + messages);
        return arguments;
    }

    /** With chip A5 CANN chooses the link by itself. */
    private static Optional<String> link(AcceleratorSpec accelerator) {
        if (accelerator.chip() == AcceleratorChip.A5) {
            return Optional.empty();
        }
        return switch (accelerator.transfer().link()) {
            case ROCE -> Optional.of("RoCE");
            case FABRIC -> Optional.of("Fabric");
            case HCCS -> Optional.empty();
        };
    }

    /** HDK, as far as a setting is known to need one. */
    private static Optional<String> oldestDriver(AcceleratorSpec accelerator) {
        if (accelerator.chip() == AcceleratorChip.A5) {
            return Optional.of("25.6");
        }
        if (accelerator.transfer().link() == AcceleratorLink.FABRIC) {
            return Optional.of("26.0");
        }
        return accelerator.mode() == AcceleratorMode.SHARED && accelerator.chip() == AcceleratorChip.A2
                ? Optional.of("25.5")
                : Optional.empty();
    }
}
