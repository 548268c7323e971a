// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.OnCluster;
import dev.kvpool.e2e.install.Operator;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.readiness.Readiness;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What an administrator sees after `helm install`. */
@OnCluster
@Order(1)
@ResourceLock(Operator.LOCK)
class InstallIT {

    @Test
    @DisplayName("Helm installs the operator, which then runs with restricted rights")
    void helmInstallsTheOperator(Operator operator) {
        assertThat(operator.helm().list(Operator.NAMESPACE)).contains("\"status\":\"deployed\"", "kvpool-0.1.0");
        assertThat(operator.pods()).isNotEmpty().allSatisfy(pod -> {
            assertThat(Readiness.isPodReady(pod)).as("ready").isTrue();
            assertRestricted(pod);
        });
    }

    @Test
    @DisplayName("the build left out nothing that the operator looks for when it starts")
    void nothingIsMissingAtTheStart(Operator operator, Cluster cluster) {
        assertThat(operator.pods())
                .isNotEmpty()
                .allSatisfy(pod -> assertThat(cluster.kubectl()
                                .run(
                                        "logs",
                                        "-n",
                                        Operator.NAMESPACE,
                                        pod.getMetadata().getName()))
                        .contains("controller started")
                        .doesNotContain("marked as unused and removed"));
    }

    @Test
    @DisplayName("the tests that come with the chart pass")
    void chartTestsPass(Operator operator) {
        assertThat(operator.helm().test(Operator.RELEASE, Operator.NAMESPACE)).containsPattern("Phase: +Succeeded");
    }

    @Test
    @DisplayName("the API server knows both kinds, with short names and words that explain the fields")
    void apiServerKnowsTheKinds(Operator operator, Cluster cluster) {
        String kinds = cluster.kubectl().run("api-resources", "--api-group=kvpool.dev", "--no-headers");
        assertThat(kinds).containsPattern("kvcachepools +kvp +kvpool.dev/v1alpha1 +true +KvCachePool");
        assertThat(kinds).containsPattern("transferengines +te +kvpool.dev/v1alpha1 +true +TransferEngine");
        assertThat(cluster.kubectl().run("explain", "kvp.spec.storage.capacity"))
                .contains("Size of the segment of each storage node");
    }

    private static void assertRestricted(Pod pod) {
        assertThat(pod.getSpec().getContainers()).allSatisfy(container -> {
            var context = container.getSecurityContext();
            assertThat(context.getAllowPrivilegeEscalation())
                    .as("privilege escalation")
                    .isFalse();
            assertThat(context.getCapabilities().getDrop()).as("dropped").contains("ALL");
            assertThat(context.getReadOnlyRootFilesystem()).as("read-only root").isTrue();
        });
    }
}
