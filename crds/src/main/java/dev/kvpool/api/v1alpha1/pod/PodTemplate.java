// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.pod;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.DurationRule;
import dev.kvpool.api.v1alpha1.rule.NameRule;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TopologySpreadConstraint;
import java.util.List;
import java.util.Map;

/**
 * What the pods of one role get beside what the operator gives them. The fields mean what they mean in a pod. Ports, command,
 * image and what the operator names itself are not here: they cannot be overridden.
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
@ValidationRule(
        value =
                "!has(self.volumeMounts) || self.volumeMounts.all(m, has(self.volumes) && self.volumes.exists(v, v.name =="
                        + " m.name))",
        message = "volumeMounts must name volumes of the same podTemplate: those of the operator are mounted where its"
                + " processes look for them")
public record PodTemplate(
        @JsonPropertyDescription("Further labels of the pods.")
        @ValidationRule(
                value = "self.all(name, !name.startsWith('kvpool.dev/') && !name.startsWith('app.kubernetes.io/'))",
                message = "labels kvpool.dev/* and app.kubernetes.io/* are set by the operator")
        Map<String, String> labels,

        @JsonPropertyDescription("Further annotations of the pods.")
        @ValidationRule(
                value = "self.all(name, !name.startsWith('kvpool.dev/') && !name.startsWith('app.kubernetes.io/'))",
                message = "annotations kvpool.dev/* and app.kubernetes.io/* are set by the operator")
        Map<String, String> annotations,

        @JsonPropertyDescription("Labels a Kubernetes node must have.")
        Map<String, String> nodeSelector,

        @JsonPropertyDescription("Taints the pods tolerate.") @Size(max = 32)
        List<Toleration> tolerations,

        @JsonPropertyDescription(
                "Node and pod affinity. It adds to the operator's own: masters, and storage nodes of sets with replicas, prefer"
                        + " different Kubernetes nodes.")
        Affinity affinity,

        @JsonPropertyDescription(
                "How the pods are spread over zones and the like. A constraint without labelSelector counts the pods of this role"
                        + " of this pool.")
        @Size(max = 8)
        List<TopologySpreadConstraint> topologySpreadConstraints,

        @JsonPropertyDescription("PriorityClass of the pods.")
        @Size(max = 253)
        @ValidationRule(
                value = NameRule.FORMAT,
                message =
                        "priorityClassName must be the name of a PriorityClass: lower case letters, digits, '-' and '.'")
        String priorityClassName,

        @JsonPropertyDescription("Name of the scheduler, for example volcano.")
        @Size(max = 253)
        @ValidationRule(
                value = NameRule.FORMAT,
                message = "schedulerName must be the name of a scheduler: lower case letters, digits, '-' and '.'")
        String schedulerName,

        @JsonPropertyDescription("RuntimeClass of the pods. Default: the Kubernetes node's runtime.")
        @Size(max = 253)
        @ValidationRule(
                value = NameRule.FORMAT,
                message =
                        "runtimeClassName must be the name of a RuntimeClass: lower case letters, digits, '-' and '.'")
        String runtimeClassName,

        @JsonPropertyDescription(
                "ServiceAccount of the pods, of the same namespace; they get no token of it. Default: the namespace's own. Not for"
                        + " masters, whose account the operator makes.")
        @Size(max = 253)
        @ValidationRule(
                value = NameRule.FORMAT,
                message =
                        "serviceAccountName must be the name of a ServiceAccount: lower case letters, digits, '-' and '.'")
        String serviceAccountName,

        @JsonPropertyDescription(
                "Security context of the pods. Each field given here replaces the operator's: runAsNonRoot, runAsUser, runAsGroup"
                        + " and fsGroup 65532, and seccompProfile RuntimeDefault.")
        PodSecurityContext securityContext,

        @JsonPropertyDescription(
                "Security context of the container. Each field given here replaces the operator's: no privilege escalation, a root"
                        + " file system that is read only, all capabilities dropped. Capabilities that the operator adds for devices"
                        + " stay.")
        SecurityContext containerSecurityContext,

        @JsonPropertyDescription("Further environment of the container, for example JDK_JAVA_OPTIONS.") @Size(max = 32)
        List<EnvironmentVariable> env,

        @JsonPropertyDescription("Further volumes of the pods.") @Size(max = 16)
        List<ExtraVolume> volumes,

        @JsonPropertyDescription("Where the container has volumes of this podTemplate.") @Size(max = 16)
        List<ExtraVolumeMount> volumeMounts,

        @JsonPropertyDescription(
                "Seconds between the request to stop and the kill. Default: 15 for masters and agents, 30 for storage nodes, 300 for those on claims, which write all they hold before they end.")
        @Min(1)
        @Max(GRACE_MAX)
        Long terminationGracePeriodSeconds,

        @JsonPropertyDescription(
                "How long the container may take from its start until it answers, for example 30m; then it is restarted. Default:"
                        + " 2m for masters and agents, 10m for storage nodes.")
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "startupLimit" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('10s')"
                        + " && duration(self) <= duration('24h'))",
                message = "startupLimit must be between 10s and 24h")
        String startupLimit) {

    public static final int GRACE_MAX = 86_400;

    /** Nothing beside what the operator gives. */
    public static final PodTemplate EMPTY = new PodTemplate(
            null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);

    public PodTemplate {
        labels = labels == null ? Map.of() : Map.copyOf(labels);
        annotations = annotations == null ? Map.of() : Map.copyOf(annotations);
        nodeSelector = nodeSelector == null ? Map.of() : Map.copyOf(nodeSelector);
        tolerations = tolerations == null ? List.of() : List.copyOf(tolerations);
        topologySpreadConstraints =
                topologySpreadConstraints == null ? List.of() : List.copyOf(topologySpreadConstraints);
        env = env == null ? List.of() : List.copyOf(env);
        volumes = volumes == null ? List.of() : List.copyOf(volumes);
        volumeMounts = volumeMounts == null ? List.of() : List.copyOf(volumeMounts);
    }
}
