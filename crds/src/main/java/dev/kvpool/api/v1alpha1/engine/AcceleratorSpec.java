// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.QualifiedNameRule;
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
        String visibleDevicesAnnotation) {

    public AcceleratorSpec {
        count = count == null ? 1 : count;
        driverFrom = driverFrom == null ? DriverSource.RUNTIME : driverFrom;
        hostFiles = hostFiles == null ? List.of() : List.copyOf(hostFiles);
    }
}
