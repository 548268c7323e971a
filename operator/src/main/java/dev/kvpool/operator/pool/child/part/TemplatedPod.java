// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.pod.EnvironmentVariable;
import dev.kvpool.api.v1alpha1.pod.ExtraVolume;
import dev.kvpool.api.v1alpha1.pod.ExtraVolumeMount;
import dev.kvpool.api.v1alpha1.pod.PodTemplate;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.pool.ascend.DeviceNeeds;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.security.PoolSecurity;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.AffinityBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.fabric8.kubernetes.api.model.TopologySpreadConstraint;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Pods of one role as the operator makes them, and over that what the podTemplate of the spec asks for. This class alone applies
 * a podTemplate; where pods of perNode sets may be is decided in {@link PerNodeTerms}.
 */
public final class TemplatedPod {
    private static final int PREFERENCE = 100;

    private final PodTemplate wish;
    private final Map<String, String> labels;
    private final Map<String, String> selector;
    private final Map<String, String> restart;
    private final SecurityMode security;

    /**
     * @param wish what the user asks for
     * @param labels what the operator labels the pods with
     * @param selector selects the pods of this role
     * @param restart since when pods of this role shall be made again, if at all
     * @param security the mode that they run with
     */
    public TemplatedPod(
            PodTemplate wish,
            Map<String, String> labels,
            Map<String, String> selector,
            Optional<Instant> restart,
            SecurityMode security) {
        this.wish = wish;
        this.labels = labels;
        this.selector = selector;
        this.security = security;
        this.restart =
                restart.map(time -> Map.of(PoolLabels.RESTART, time.toString())).orElse(Map.of());
    }

    /** The template of the pods, with notes of their image and settings. */
    public PodTemplateSpec template(PodSpec pod, String image, String asked) {
        return template(pod, pod, image, asked);
    }

    /**
     * The same.
     *
     * @param settings the pod without what may change while pods of the template go on
     * @param asked digest of what the user asks for
     */
    public PodTemplateSpec template(PodSpec pod, PodSpec settings, String image, String asked) {
        return new PodTemplateSpecBuilder()
                .withNewMetadata()
                .withLabels(labels)
                .addToLabels(wish.labels())
                .addToAnnotations(wish.annotations())
                .addToAnnotations(restart)
                .addToAnnotations(OwnContainer.note(image))
                .addToAnnotations(PoolLabels.SETTINGS, SettingsDigest.of(settings, wish, restart))
                .addToAnnotations(PoolLabels.ASKED, asked)
                .addToAnnotations(security.isOn() ? Map.of(PoolLabels.TLS, PoolSecurity.word(security)) : Map.of())
                .endMetadata()
                .withSpec(pod)
                .build();
    }

    /** The pod as the podTemplate wants it, which prefers a Kubernetes node without others of its role. */
    public PodSpec spread(PodSpecBuilder own) {
        PodSpec pod = over(own);
        pod.setAffinity(spread(wish.affinity()));
        return pod;
    }

    /** The pod as the podTemplate wants it. */
    public PodSpec over(PodSpecBuilder own) {
        PodSpec pod = own.build();
        return pod.toBuilder()
                .withNodeSelector(wish.nodeSelector().isEmpty() ? null : wish.nodeSelector())
                .withTolerations(wish.tolerations())
                .withAffinity(wish.affinity())
                .withTopologySpreadConstraints(constraints())
                .withPriorityClassName(wish.priorityClassName())
                .withSchedulerName(wish.schedulerName())
                .withRuntimeClassName(wish.runtimeClassName())
                .withServiceAccountName(given(wish.serviceAccountName(), pod.getServiceAccountName()))
                .withSecurityContext(PodSecurity.merge(pod.getSecurityContext(), wish.securityContext()))
                .withTerminationGracePeriodSeconds(
                        given(wish.terminationGracePeriodSeconds(), pod.getTerminationGracePeriodSeconds()))
                .withInitContainers(
                        pod.getInitContainers().stream().map(this::ofSameTerms).toList())
                .withContainers(over(pod.getContainers().getFirst()))
                .addAllToVolumes(
                        wish.volumes().stream().map(TemplatedPod::volume).toList())
                .build();
    }

    /**
     * A Job that does one thing beside the pods of a podTemplate: its pod may be where they may be, and is admitted as they are. Which other
     * pods these keep away from does not concern it, nor do their volumes and environment.
     */
    public static Job beside(PodTemplate wish, Job job) {
        PodTemplateSpec own = job.getSpec().getTemplate();
        return job.edit()
                .editSpec()
                .editTemplate()
                .editMetadata()
                .withLabels(wish.labels())
                .addToLabels(own.getMetadata().getLabels())
                .withAnnotations(wish.annotations())
                .addToAnnotations(own.getMetadata().getAnnotations())
                .endMetadata()
                .withSpec(beside(wish, own.getSpec()))
                .endTemplate()
                .endSpec()
                .build();
    }

    private static PodSpec beside(PodTemplate wish, PodSpec own) {
        return own.toBuilder()
                .withNodeSelector(wish.nodeSelector().isEmpty() ? null : wish.nodeSelector())
                .withTolerations(wish.tolerations())
                .withAffinity(toNodes(wish.affinity()))
                .withPriorityClassName(wish.priorityClassName())
                .withSchedulerName(wish.schedulerName())
                .withRuntimeClassName(wish.runtimeClassName())
                .withSecurityContext(PodSecurity.merge(own.getSecurityContext(), wish.securityContext()))
                .withInitContainers(admitted(wish, own.getInitContainers()))
                .withContainers(admitted(wish, own.getContainers()))
                .build();
    }

    private static List<Container> admitted(PodTemplate wish, List<Container> containers) {
        return containers.stream()
                .map(container -> container.toBuilder()
                        .withSecurityContext(
                                PodSecurity.merge(container.getSecurityContext(), wish.containerSecurityContext()))
                        .build())
                .toList();
    }

    private static Affinity toNodes(Affinity given) {
        return given == null || given.getNodeAffinity() == null
                ? null
                : new AffinityBuilder()
                        .withNodeAffinity(given.getNodeAffinity())
                        .build();
    }

    /** The container that looks for devices must find what the one that uses them does. */
    private Container ofSameTerms(Container init) {
        return DeviceNeeds.CONTAINER.equals(init.getName()) ? wished(init).build() : init;
    }

    private ContainerBuilder wished(Container own) {
        return own.toBuilder()
                .withEnv(environment(own.getEnv()))
                .withSecurityContext(PodSecurity.merge(own.getSecurityContext(), wish.containerSecurityContext()))
                .addAllToVolumeMounts(
                        wish.volumeMounts().stream().map(TemplatedPod::mount).toList());
    }

    private Container over(Container own) {
        ContainerBuilder container = wished(own);
        if (wish.startupLimit() != null) {
            container.withStartupProbe(
                    Probes.startup((int) ApiDuration.of(wish.startupLimit()).toSeconds()));
        }
        return container.build();
    }

    /** What the operator names itself the API server refuses in a podTemplate, so a name that is in both is that of a mere default. */
    private List<EnvVar> environment(List<EnvVar> own) {
        Set<String> given = wish.env().stream().map(EnvironmentVariable::name).collect(Collectors.toSet());
        List<EnvVar> all = new ArrayList<>(own);
        all.removeIf(variable -> given.contains(variable.getName()));
        wish.env()
                .forEach(variable -> all.add(new EnvVarBuilder()
                        .withName(variable.name())
                        .withValue(variable.value())
                        .withValueFrom(variable.valueFrom())
                        .build()));
        return all;
    }

    private List<TopologySpreadConstraint> constraints() {
        return wish.topologySpreadConstraints().stream()
                .map(constraint -> constraint.getLabelSelector() == null
                        ? constraint.toBuilder()
                                .withNewLabelSelector()
                                .withMatchLabels(selector)
                                .endLabelSelector()
                                .build()
                        : constraint)
                .toList();
    }

    /** So that a lost machine costs as little as possible. */
    private Affinity spread(Affinity given) {
        return (given == null ? new AffinityBuilder() : given.toBuilder())
                .editOrNewPodAntiAffinity()
                .addNewPreferredDuringSchedulingIgnoredDuringExecution()
                .withWeight(PREFERENCE)
                .withNewPodAffinityTerm()
                .withTopologyKey("kubernetes.io/hostname")
                .withNewLabelSelector()
                .withMatchLabels(selector)
                .endLabelSelector()
                .endPodAffinityTerm()
                .endPreferredDuringSchedulingIgnoredDuringExecution()
                .endPodAntiAffinity()
                .build();
    }

    private static Volume volume(ExtraVolume given) {
        return new VolumeBuilder()
                .withName(given.name())
                .withConfigMap(given.configMap())
                .withSecret(given.secret())
                .withProjected(given.projected())
                .withEmptyDir(given.emptyDir())
                .withHostPath(given.hostPath())
                .withPersistentVolumeClaim(given.persistentVolumeClaim())
                .withCsi(given.csi())
                .build();
    }

    private static VolumeMount mount(ExtraVolumeMount given) {
        return new VolumeMountBuilder()
                .withName(given.name())
                .withMountPath(given.mountPath())
                .withSubPath(given.subPath())
                .withReadOnly(given.readOnly() ? true : null)
                .build();
    }

    private static <T> T given(T wish, T own) {
        return wish == null ? own : wish;
    }
}
