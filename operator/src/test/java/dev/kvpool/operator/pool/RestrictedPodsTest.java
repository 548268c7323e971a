// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kvpool.operator.apiserver.ApiServer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A namespace that enforces the restricted pod security level admits every pod of a pool, but where hardware forbids it. */
class RestrictedPodsTest {
    private static final String RESTRICTED = "restricted";
    private static final List<String> LEVELS = List.of("baseline", RESTRICTED);
    private static final String SETS =
            "storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi, perNode: {nodeSelector: {a: b}}}]";

    private static KubernetesClient client;

    @BeforeAll
    static void makeNamespaces() {
        client = ApiServer.shared().client();
        LEVELS.forEach(level -> client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(namespace(level))
                        .withLabels(Map.of(PoolLabels.POD_SECURITY, level))
                        .endMetadata()
                        .build())
                .create());
    }

    @AfterAll
    static void close() {
        client.close();
    }

    @Test
    void mastersStorageNodesPreflightAndPullsAreAdmitted() {
        List<Pod> pods = pods(new PoolSketch("{" + SETS + "}"), RESTRICTED);

        assertThat(pods)
                .extracting(pod -> pod.getMetadata().getName())
                .startsWith("demo-master", "demo-a", "demo-b", "demo-preflight")
                .hasSize(6);
        assertThat(pods)
                .allSatisfy(pod -> assertThatNoException()
                        .isThrownBy(() -> client.resource(pod).dryRun().create()));
    }

    @Test
    void hugePagesAreAdmitted() {
        assertThat(refusals(withEngine("{memory: {hugePages: 2Mi}}"))).isEmpty();
    }

    @Test
    void theNetworkOfTheNodeIsNotAndOnlyStorageNodesAskForIt() {
        assertThat(refusals(withEngine("{hostNetwork: true, ports: {base: 40000, count: 8}}")))
                .hasSize(2)
                .allSatisfy(refusal -> assertThat(refusal)
                        .contains("violates PodSecurity", "host namespaces (hostNetwork=true)")
                        .doesNotContain("demo-master", "runAsNonRoot", "seccompProfile", "allowPrivilegeEscalation"));
    }

    @Test
    void cardsAskToLockMemoryAndNothingElse() {
        assertThat(refusals(withEngine("{protocols: [ucx, tcp], rdma: {resourceName: rdma/hca}}")))
                .hasSize(2)
                .allSatisfy(refusal -> assertThat(refusal)
                        .contains("unrestricted capabilities", "IPC_LOCK")
                        .doesNotContain("demo-master", "hostPath", "runAsNonRoot", "allowPrivilegeEscalation"));
    }

    @Test
    void acceleratorsAskToLockMemoryAndForFilesOfTheHostAndNothingElse() {
        assertThat(refusals(withEngine("{protocols: [ascend, tcp], accelerator: {chip: A2}}")))
                .hasSize(2)
                .allSatisfy(refusal -> assertThat(refusal)
                        .contains("IPC_LOCK", "restricted volume types", "hostPath")
                        .doesNotContain("demo-master", "runAsNonRoot", "allowPrivilegeEscalation"));
    }

    @Test
    void aDirectoryOfTheNodeIsNotAndAsksForAnOwnerOfIt() {
        assertThat(
                        refusals(
                                new PoolSketch(
                                        "{deletionPolicy: Retain, storage: [{name: a, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /kv}}]}")))
                .singleElement()
                .asString()
                .contains("restricted volume types", "hostPath", "runAsUser=0", "container \"directory\"")
                .doesNotContain("container \"node\"", "allowPrivilegeEscalation", "seccompProfile");
    }

    /** Whatever the API server refuses, the operator has to say: a set that gets no pods says nothing by itself. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{memory: {hugePages: 2Mi}}",
                "{protocols: [ucx, tcp]}",
                "{agents: {}}",
                "{socketDirectory: /run/kvpool}",
                "{hostNetwork: true, ports: {base: 40000, count: 8}}",
                "{protocols: [ascend, tcp], accelerator: {chip: A2}}",
                "{protocols: [ascend, tcp], accelerator: {chip: A2, driverFrom: Host}}",
                "{protocols: [ucx, tcp], rdma: {resourceName: rdma/hca}}",
            })
    void whatANamespaceRefusesMakesThePoolInvalidAndNothingElseDoes(String engine) {
        for (String level : LEVELS) {
            List<Finding> problems =
                    PoolValidator.validate(withEngine(engine).podSecurity(level).observation(), PoolSketch.SETTINGS);

            assertThat(problems.isEmpty())
                    .as("at level %s the operator says %s", level, problems)
                    .isEqualTo(refusals(withEngine(engine), level).isEmpty());
        }
    }

    /** Pod by pod, for each of the three roles. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{securityContext: {runAsUser: 1000, fsGroup: 1000}}",
                "{securityContext: {runAsUser: 0, runAsNonRoot: false}}",
                "{securityContext: {seccompProfile: {type: Unconfined}}}",
                "{securityContext: {seLinuxOptions: {level: 's0:c1,c2'}}}",
                "{securityContext: {seLinuxOptions: {type: spc_t}}}",
                "{securityContext: {appArmorProfile: {type: Unconfined}}}",
                "{securityContext: {sysctls: [{name: net.ipv4.ip_local_port_range, value: 1024 65535}]}}",
                "{securityContext: {sysctls: [{name: kernel.msgmax, value: '1'}]}}",
                "{securityContext: {supplementalGroups: [1000]}}",
                "{containerSecurityContext: {readOnlyRootFilesystem: false}}",
                "{containerSecurityContext: {privileged: true, allowPrivilegeEscalation: true}}",
                "{containerSecurityContext: {allowPrivilegeEscalation: true}}",
                "{containerSecurityContext: {runAsNonRoot: false}}",
                "{containerSecurityContext: {runAsUser: 0, runAsNonRoot: false}}",
                "{containerSecurityContext: {capabilities: {add: [NET_BIND_SERVICE]}}}",
                "{containerSecurityContext: {capabilities: {add: [CHOWN]}}}",
                "{containerSecurityContext: {capabilities: {add: [SYS_NICE]}}}",
                "{containerSecurityContext: {capabilities: {drop: [NET_RAW]}}}",
                "{containerSecurityContext: {procMount: Unmasked}}",
                "{containerSecurityContext: {seccompProfile: {type: Localhost, localhostProfile: a.json}}}",
                "{volumes: [{name: a, hostPath: {path: /opt/a}}], volumeMounts: [{name: a, mountPath: /opt/a}]}",
                "{volumes: [{name: a, emptyDir: {}}, {name: b, secret: {secretName: b}}, {name: c, csi: {driver: d}}]}",
            })
    void whatANamespaceRefusesOfAPodTemplateMakesThePoolInvalidAndNothingElseDoes(String template) {
        for (String role : List.of(
                "{masters: {podTemplate: %s}, storage: []}",
                "{storage: [{name: a, capacity: 1Gi, podTemplate: %s}]}")) {
            for (String level : LEVELS) {
                PoolSketch sketch = new PoolSketch(role.formatted(template)).podSecurity(level);
                List<Finding> problems = PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS);

                assertThat(problems.isEmpty())
                        .as("%s: at level %s the operator says %s", role, level, problems)
                        .isEqualTo(refusals(new PoolSketch(role.formatted(template)), level)
                                .isEmpty());
            }
        }
    }

    /** As on OpenShift: still restricted, and nothing of the pods names a user. */
    @Test
    void podsWhoseUserThePlatformGivesNameNone() {
        PoolSketch sketch = new PoolSketch("{" + SETS + "}").settings(PoolSketch.PLATFORM_USER);

        assertThat(refusals(sketch)).isEmpty();
        List<Pod> pods = pods(sketch, RESTRICTED).stream()
                // Those are of another sketch.
                .filter(pod -> !pod.getMetadata().getName().startsWith("demo-pull"))
                .toList();
        assertThat(pods).hasSizeGreaterThan(3).allSatisfy(pod -> {
            assertThat(pod.getSpec().getSecurityContext().getRunAsUser()).isNull();
            assertThat(pod.getSpec().getSecurityContext().getRunAsGroup()).isNull();
            assertThat(pod.getSpec().getSecurityContext().getFsGroup()).isNull();
            assertThat(pod.getSpec().getSecurityContext().getRunAsNonRoot()).isTrue();
        });
    }

    private static PoolSketch withEngine(String engine) {
        return new PoolSketch("{transferEngine: demo, " + SETS + "}").engine(engine);
    }

    private static List<String> refusals(PoolSketch sketch) {
        return refusals(sketch, RESTRICTED);
    }

    private static List<String> refusals(PoolSketch sketch, String level) {
        return pods(sketch, level).stream()
                .map(pod -> catchThrowableOfType(
                        KubernetesClientException.class,
                        () -> client.resource(pod).dryRun().create()))
                .filter(refusal -> refusal != null)
                .map(Throwable::getMessage)
                .toList();
    }

    /** One pod of each template the operator makes for the pool, its preflight included, and of what brings images to nodes. */
    private static List<Pod> pods(PoolSketch sketch, String level) {
        Stream<HasMetadata> children = sketch
                .status(PoolSketch.asking(PoolSketch.IMAGE, "kvpool:before"))
                .masters(2, 1, PoolSketch.leader(List.of()))
                .plan()
                .apply()
                .stream();
        Stream<HasMetadata> pulls =
                PullJobTest.answered("kvpool:next").plan().apply().stream().filter(Job.class::isInstance);
        return Stream.concat(children, pulls)
                .flatMap(child -> template(child).map(template -> pod(child, template, level)).stream())
                .toList();
    }

    private static Optional<PodTemplateSpec> template(HasMetadata child) {
        return switch (child) {
            case StatefulSet set -> Optional.of(set.getSpec().getTemplate());
            case DaemonSet set -> Optional.of(set.getSpec().getTemplate());
            case Job job -> Optional.of(job.getSpec().getTemplate());
            default -> Optional.empty();
        };
    }

    /** Without its service account, which is made with the pool and is no part of pod security. */
    private static Pod pod(HasMetadata child, PodTemplateSpec template, String level) {
        return new PodBuilder()
                .withNewMetadata()
                .withName(child.getMetadata().getName())
                .withNamespace(namespace(level))
                .withLabels(template.getMetadata().getLabels())
                .endMetadata()
                .withSpec(template.getSpec().toBuilder()
                        .withServiceAccountName(null)
                        .withAutomountServiceAccountToken(false)
                        .build())
                .build();
    }

    private static String namespace(String level) {
        return level + "-pods";
    }
}
