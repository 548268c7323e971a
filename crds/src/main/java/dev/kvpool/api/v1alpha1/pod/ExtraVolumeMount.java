// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.pod;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.PathRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** Where a container has a volume that the user brings. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ExtraVolumeMount(
        @JsonPropertyDescription("Name of a volume of the same podTemplate.")
        @Required
        @Size(min = 1, max = ExtraVolume.NAME_LENGTH_MAX)
        String name,

        @JsonPropertyDescription("Where it is in the container.")
        @Required
        @Size(max = 256)
        @ValidationRule(value = PathRule.FORMAT, message = "mountPath must be absolute, without '.' and '..'")
        @ValidationRule(
                value =
                        "!self.matches('^/(etc|var|var/lib|var/run|run|dev|opt|usr|usr/local|usr/lib|lib|lib64|bin|sbin|home|root)$')",
                message = "mountPath would hide a directory of the image: choose one in it, or another place")
        @ValidationRule(
                value =
                        "!self.matches('^/(tmp|proc|sys|dev/shm|dev/kvpool-ssd|etc/kvpool|opt/kvpool|run/kvpool|var/run/kvpool|var/lib/kvpool|var/lib/kvpool-ssd)(/|$)')",
                message =
                        "mountPath is in a directory that the operator mounts or the image has its program in: choose another"
                                + " one")
        @ValidationRule(
                value =
                        "!self.matches('^/(usr/local/(Ascend/driver|dcmi|bin/npu-smi)|etc/(hccn[.]conf|ascend_install[.]info|hccl_rootinfo[.]json|hixlep)|lib/route[.]conf)(/|$)')",
                message =
                        "mountPath is a file or directory of the NPU driver, which the operator mounts: say where it is on"
                                + " the hosts by accelerator.driverRoot or accelerator.hostFiles of the TransferEngine")
        String mountPath,

        @JsonPropertyDescription("A file or directory of the volume. Default: all of it.")
        @Size(min = 1, max = 256)
        @ValidationRule(
                value = "!self.startsWith('/') && !self.matches('(^|/)[.][.](/|$)')",
                message = "subPath must be relative and stay in the volume")
        String subPath,

        @JsonPropertyDescription("True: the container cannot write to it.") @Default("false")
        Boolean readOnly) {

    public ExtraVolumeMount {
        readOnly = readOnly != null && readOnly;
    }
}
