// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;

/** An accelerator in storage pods (Ascend NPUs). Resource names differ by cluster, so the name is a field. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record AcceleratorSpec(
        @JsonPropertyDescription("Extended resource of the device plugin, for example huawei.com/Ascend910 or"
                + " huawei.com/ascend-1980.")
        @Required
        @ValidationRule(
                value = QualifiedNameRule.FORMAT,
                message = "resourceName must be DOMAIN/NAME, for example huawei.com/Ascend910")
        @Size(max = 253)
        String resourceName,

        @JsonPropertyDescription("Devices each storage pod requests.") @Default("1") @Min(1) @Max(16)
        Integer count,

        @JsonPropertyDescription("RuntimeClass of the storage pods, for example ascend. Default: the node's runtime.")
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                message =
                        "runtimeClassName must be the name of a RuntimeClass: lower case letters, digits, '-' and '.'")
        @Size(max = 253)
        String runtimeClassName,

        @JsonPropertyDescription(
                "Where the driver comes from. Runtime: ascend-docker-runtime mounts it. Host: the operator"
                        + " mounts /usr/local/Ascend/driver, /usr/local/dcmi and /usr/local/bin/npu-smi read"
                        + " only.")
        @Default("Runtime")
        DriverSource driverFrom,

        @JsonPropertyDescription(
                "Further files of the host, mounted read only at the same path, for example /etc/hccn.conf. A"
                        + " pod does not start on a node that lacks one of them, so list only what your nodes"
                        + " have.")
        @Size(max = 32)
        List<HostFile> hostFiles,

        @JsonPropertyDescription(
                "Annotation of the pod that holds the chosen devices, for example huawei.com/Ascend910 under"
                        + " Volcano. It is passed on as ASCEND_VISIBLE_DEVICES. Default: the device plugin"
                        + " sets that itself.")
        @ValidationRule(
                value = QualifiedNameRule.FORMAT,
                message = "visibleDevicesAnnotation must be DOMAIN/NAME, for example huawei.com/Ascend910")
        @Size(max = 253)
        String visibleDevicesAnnotation,

        @JsonPropertyDescription("Groups that own the device files on the host, for example 1000 (HwHiAiUser).")
        @Size(max = 16)
        @ValidationRule(
                value = "self.all(g, g > 0 && g <= 2147483647)",
                message = "supplementalGroups: group ids must be above 0 and at most 2147483647")
        List<Long> supplementalGroups,

        @JsonPropertyDescription("Environment of the storage nodes, for example ASCEND_BUFFER_POOL.") @Size(max = 32)
        List<EnvironmentVariable> env) {

    public AcceleratorSpec {
        count = count == null ? 1 : count;
        driverFrom = driverFrom == null ? DriverSource.RUNTIME : driverFrom;
        hostFiles = hostFiles == null ? List.of() : List.copyOf(hostFiles);
        supplementalGroups = supplementalGroups == null ? List.of() : List.copyOf(supplementalGroups);
        env = env == null ? List.of() : List.copyOf(env);
    }
}
