// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.pod.PodTemplate;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMapProjection;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whom the Job asks that checks an upgrade. */
class PreflightJobTest {
    /** Masters that sign nothing take the token in place of a certificate. */
    @Test
    void whereOthersMakeTheCertificatesItShowsItsToken() {
        Job job = new PoolSketch(DirectorySpec.csi().replace("{security", "{image: 'kvpool:next', security"))
                        .engine("{}")
                        .status(PoolSketch.asking("kvpool:next", PoolSketch.IMAGE))
                        .set("a", 1)
                        .masters(1, 1, PoolSketch.leader(List.of()))
                        .pod(DirectorySpec.pod("demo-master-0", PoolLabels.ROLE_MASTER, ""))
                        .pod(DirectorySpec.pod("demo-a-0", PoolLabels.ROLE_STORAGE, ""))
                        .plan()
                        .apply()
                        .stream()
                        .filter(Job.class::isInstance)
                        .map(Job.class::cast)
                        .findFirst()
                        .orElseThrow();

        PodSpec pod = job.getSpec().getTemplate().getSpec();
        assertThat(pod.getInitContainers()).isEmpty();
        assertThat(pod.getServiceAccountName()).isEqualTo("demo-preflight");
        assertThat(pod.getContainers().getFirst().getArgs())
                .contains("--token-file=/etc/kvpool/identity/token", "--roots=/etc/kvpool/identity/ca.crt")
                .noneMatch(argument -> argument.startsWith("--tls-dir"));
        assertThat(pod.getVolumes())
                .filteredOn(volume -> volume.getProjected() != null)
                .singleElement()
                .satisfies(volume -> assertThat(volume.getProjected().getSources())
                        .extracting(VolumeProjection::getConfigMap)
                        .filteredOn(Objects::nonNull)
                        .extracting(ConfigMapProjection::getName)
                        .containsExactly("demo-identity"));
    }

    /** Where all nodes are tainted, say, or a quota admits pods of some priority only, no upgrade would ever be checked. */
    @Test
    void itMayBeWhereMastersMayBeAndIsAdmittedAsTheyAre() {
        String template = """
                {nodeSelector: {pool: infra}, tolerations: [{key: infra, operator: Exists}], priorityClassName: cache,
                 schedulerName: volcano, runtimeClassName: kata, securityContext: {runAsUser: 1234},
                 containerSecurityContext: {runAsGroup: 1235}, labels: {team: caches}, annotations: {sidecar.istio.io/inject: 'false'},
                 affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                   {matchExpressions: [{key: zone, operator: Exists}]}]}},
                  podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]}}}""";
        PoolSketch sketch = new PoolSketch(
                        "{image: 'kvpool:next', masters: {podTemplate: %s}, storage: [{name: a, capacity: 1Gi}]}"
                                .formatted(template))
                .status(PoolSketch.asking("kvpool:next", PoolSketch.IMAGE))
                .set("a", 1)
                .masters(1, 1, PoolSketch.leader(List.of()));
        PodTemplate masters = sketch.observation().spec().masters().podTemplate();

        PodTemplateSpec made = sketch.plan().apply().stream()
                .filter(Job.class::isInstance)
                .map(job -> ((Job) job).getSpec().getTemplate())
                .findFirst()
                .orElseThrow();
        PodSpec pod = made.getSpec();

        assertThat(made.getMetadata().getLabels())
                .containsEntry("team", "caches")
                .containsEntry(PoolLabels.POOL, "demo");
        assertThat(made.getMetadata().getAnnotations()).containsEntry("sidecar.istio.io/inject", "false");
        assertThat(pod.getServiceAccountName()).isEqualTo("demo-master");
        assertThat(pod.getNodeSelector()).isEqualTo(masters.nodeSelector());
        assertThat(pod.getTolerations()).isEqualTo(masters.tolerations());
        assertThat(pod.getPriorityClassName()).isEqualTo("cache");
        assertThat(pod.getSchedulerName()).isEqualTo("volcano");
        assertThat(pod.getRuntimeClassName()).isEqualTo("kata");
        assertThat(pod.getSecurityContext().getRunAsUser()).isEqualTo(1234);
        assertThat(pod.getContainers().getFirst().getSecurityContext().getRunAsGroup())
                .isEqualTo(1235);
        assertThat(pod.getAffinity().getNodeAffinity())
                .isEqualTo(masters.affinity().getNodeAffinity());
        assertThat(pod.getAffinity().getPodAntiAffinity())
                .as("each Kubernetes node may have a master")
                .isNull();
    }

    @ParameterizedTest(name = "of 3 masters {0} do not run: {1} are asked")
    @CsvSource({"'', 0 1 2", "2, 0 1", "1 2, 0"})
    void mastersThatRunAreAsked(String broken, String asked) {
        PoolSketch sketch = new PoolSketch(
                        "{image: 'kvpool:next', masters: {replicas: 3}, storage: [{name: a, capacity: 1Gi}]}")
                .status(PoolSketch.asking("kvpool:next", PoolSketch.IMAGE))
                .set("a", 1)
                .masters(3, 1, PoolSketch.leader(List.of()));
        for (String ordinal : broken.isEmpty() ? new String[0] : broken.split(" ")) {
            sketch.pod(PoolSketch.notReady(
                    PoolSketch.pod("demo-master-" + ordinal, PoolLabels.ROLE_MASTER, "", true, "a")));
        }

        List<String> arguments = sketch.plan().apply().stream()
                .filter(Job.class::isInstance)
                .map(job -> ((Job) job)
                        .getSpec()
                        .getTemplate()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getArgs())
                .findFirst()
                .orElseThrow();

        String addresses = List.of(asked.split(" ")).stream()
                .map("demo-master-%s.demo-master.ns.svc:9003"::formatted)
                .reduce((one, other) -> one + "," + other)
                .orElseThrow();
        assertThat(arguments).contains("--admins=" + addresses);
    }
}
