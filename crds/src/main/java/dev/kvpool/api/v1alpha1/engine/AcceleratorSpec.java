// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.PathRule;
import dev.kvpool.api.v1alpha1.rule.QualifiedNameRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;

/** The NPUs of protocol ascend. Names of resources, runtimes and annotations differ by cluster, so they are fields. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
@ValidationRule(
        value = "self.mode == 'Shared' || !has(self.devices)",
        message = "devices is for mode Shared: in mode Dedicated the device plugin chooses them. Leave it out")
@ValidationRule(
        value = "self.mode != 'Shared' || has(self.devices)",
        message =
                "mode Shared needs devices: the physical numbers of the NPUs that storage pods open beside other pods")
@ValidationRule(
        value = "self.mode == 'Dedicated'"
                + " || (!has(self.resourceName) && !has(self.count) && !has(self.visibleDevicesAnnotation))",
        message =
                "resourceName, count and visibleDevicesAnnotation are for mode Dedicated: pods of other modes request no"
                        + " device. Leave them out")
@ValidationRule(
        value = "self.mode != 'Shared' || self.driverFrom == 'Runtime'",
        message =
                "mode Shared needs driverFrom Runtime: without ascend-docker-runtime only privileged containers may open"
                        + " devices that they did not request")
@ValidationRule(
        value = "self.transfer.link != 'Fabric' || self.chip == 'A3'",
        message = "transfer.link Fabric needs chip A3: use RoCE")
@ValidationRule(
        value = "self.transfer.link != 'HCCS' || self.chip != 'A2'",
        message = "chip A2 moves objects by RoCE only: set transfer.link to RoCE")
public record AcceleratorSpec(
        @JsonPropertyDescription(
                "A2: Ascend 910B. A3: Ascend 910C. A5: Ascend 950. It decides which environment CANN needs, and which host files.")
        @Required
        AcceleratorChip chip,

        @JsonPropertyDescription(
                "Dedicated: each storage pod requests count NPUs, which no other pod then has. Shared: storage pods open the NPUs"
                        + " of devices beside other pods and request none; the hosts must allow that (npu-smi set -t device-share)."
                        + " Embedded: storage nodes open none; engines contribute their memory.")
        @Default("Dedicated")
        AcceleratorMode mode,

        @JsonPropertyDescription("Extended resource of the device plugin, for example huawei.com/ascend-1980. Default:"
                + " huawei.com/Ascend910, and with chip A5 huawei.com/npu.")
        @ValidationRule(
                value = QualifiedNameRule.FORMAT,
                message = "resourceName must be DOMAIN/NAME, for example huawei.com/Ascend910")
        @Size(max = 253)
        String resourceName,

        @JsonPropertyDescription(
                "NPUs each storage pod requests. A storage node uses the first of them, so more are for device plugins that give NPUs by"
                        + " the pair or board. Default: 1.")
        @Min(1)
        @Max(16)
        Integer count,

        @JsonPropertyDescription(
                "With mode Shared: physical numbers of the NPUs that each storage pod opens, for example [0]. A storage node uses the first"
                        + " of them.")
        @Size(min = 1, max = 16)
        @ValidationRule(
                value = "self.all(d, d >= 0 && d <= 63 && self.exists_one(e, e == d))",
                message = "devices must be different numbers from 0 to 63")
        List<Integer> devices,

        @JsonPropertyDescription(
                "Where the driver comes from. Runtime: ascend-docker-runtime mounts it; podTemplate.runtimeClassName names it where"
                        + " it is not the default. Host: the operator mounts driverRoot read only, and devices come from the plugin.")
        @Default("Runtime")
        DriverSource driverFrom,

        @JsonPropertyDescription(
                "Directory of the driver on the hosts. In containers it is always at " + DRIVER_ROOT + ".")
        @Default(DRIVER_ROOT)
        @ValidationRule(value = PathRule.FORMAT, message = PathRule.MESSAGE)
        @Size(max = 255)
        String driverRoot,

        @JsonPropertyDescription(
                "Further files and directories of the hosts, 64Mi at most, that are at the same path in storage pods: copies, made by"
                        + " an init container when the pod starts. One that a host lacks is an empty file in the pod; the host is never"
                        + " changed. /etc/hccn.conf and what else the chip needs is copied without being listed.")
        @Size(max = 32)
        List<HostFile> hostFiles,

        @JsonPropertyDescription(
                "Group that the device files of the hosts belong to (HwHiAiUser), added to the groups of storage pods.")
        @Default("1000")
        @Min(1)
        @Max(GROUP_MAX)
        Long group,

        @JsonPropertyDescription(
                "Annotation of the pod that holds the chosen devices, for example huawei.com/Ascend910 under"
                        + " Volcano. It is passed on as ASCEND_VISIBLE_DEVICES. Default: the device plugin"
                        + " sets that itself.")
        @ValidationRule(
                value = QualifiedNameRule.FORMAT,
                message = "visibleDevicesAnnotation must be DOMAIN/NAME, for example huawei.com/Ascend910")
        @Size(max = 253)
        String visibleDevicesAnnotation,

        @JsonPropertyDescription("How NPUs move bytes.") @Default("{}")
        AscendTransferSpec transfer) {

    /** Where the driver is in every container, as CANN looks for it there. */
    public static final String DRIVER_ROOT = "/usr/local/Ascend/driver";

    private static final long GROUP_DEFAULT = 1000;
    private static final int GROUP_MAX = Integer.MAX_VALUE;

    public AcceleratorSpec {
        mode = mode == null ? AcceleratorMode.DEDICATED : mode;
        devices = devices == null ? List.of() : List.copyOf(devices);
        driverFrom = driverFrom == null ? DriverSource.RUNTIME : driverFrom;
        driverRoot = driverRoot == null ? DRIVER_ROOT : driverRoot;
        hostFiles = hostFiles == null ? List.of() : List.copyOf(hostFiles);
        group = group == null ? GROUP_DEFAULT : group;
        transfer = transfer == null
                ? new AscendTransferSpec(null, null, null, null, null, null, null, null, null)
                : transfer;
    }

    /** Whether storage nodes open NPUs. No getter: it is no field. */
    public boolean opensDevices() {
        return mode != AcceleratorMode.EMBEDDED;
    }

    /** The extended resource that storage pods request. */
    public String resource() {
        if (resourceName != null) {
            return resourceName;
        }
        return chip == AcceleratorChip.A5 ? "huawei.com/npu" : "huawei.com/Ascend910";
    }

    /** How many NPUs a storage node opens. */
    public int devicesOfNode() {
        return switch (mode) {
            case DEDICATED -> count == null ? 1 : count;
            case SHARED -> devices.size();
            case EMBEDDED -> 0;
        };
    }
}
