// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The operator has no right that it does not use: a pool's life, and what was asked of the API server for it. */
class RightsAreUsedTest {
    private static final String NAMESPACE = "used-rights";
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Set<String> ROLES = Set.of("kvpool-pools", "kvpool-nodes");

    /** Nobody can give a right that he does not have: the masters update their Lease by the role the operator makes. */
    private static final Set<String> GIVEN_ON = Set.of("coordination.k8s.io/leases update");

    @Test
    void everyRightOfTheChartIsUsed() throws IOException {
        RequestedRights requested = new RequestedRights();
        try (OperatorUnderTest operator = new OperatorUnderTest(NAMESPACE, requested)) {
            ClusterActor cluster = new ClusterActor(operator.client(), NAMESPACE);
            operator.applyEngine("engine", "{}");
            operator.applyPool("used", """
                    {transferEngine: engine, storage: [
                      {name: a, capacity: 1Gi},
                      {name: b, capacity: 1Gi},
                      {name: c, capacity: 1Gi, perNode: {nodeSelector: {used-rights: "none"}}}]}""");
            await().atMost(LIMIT)
                    .until(() ->
                            Children.of(operator.client(), NAMESPACE, "used").size() == 17);
            cluster.runPodsOf("used-master");
            cluster.takeLease("used-master", "used-master-0", 1);
            await().atMost(LIMIT).until(() -> cluster.isLabelledLeader("used-master-0"));
            cluster.waitingPodOf("used-a", "older-settings");
            await().atMost(LIMIT).until(() -> requested.all().contains("/pods delete"));
            operator.applyPool("used", "{transferEngine: engine, storage: [{name: a, capacity: 1Gi}]}");
            operator.masters().say("used-master-0", ScriptedMasters.leader("used-master-0", 1, 0, List.of()));
            operator.applyPool("used", "{image: 'kvpool:9', storage: [{name: a, capacity: 1Gi}]}");
            await().atMost(LIMIT).until(() -> requested.all().contains("batch/jobs patch"));
            operator.applyPool(
                    "used",
                    "{image: 'kvpool:0.1.0', networkPolicy: {enabled: false}, storage: [{name: a, capacity: 1Gi}]}");

            operator.applyPool("directories", """
                    {storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {used-rights: "none"}},
                      volume: {type: hostPath, path: /dev/shm/kvpool}}]}""");

            Set<String> granted = granted(operator.client());
            granted.removeAll(GIVEN_ON);
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(requested.all())
                            .as("rights that were used, of those in the chart")
                            .containsAll(granted));
        }
    }

    private static Set<String> granted(KubernetesClient client) throws IOException {
        Set<String> rights = new TreeSet<>();
        try (InputStream manifest = Files.newInputStream(Path.of("..", "manifests", "kvpool.yaml"))) {
            client.load(manifest).items().stream()
                    .filter(item -> item instanceof ClusterRole
                            && ROLES.contains(item.getMetadata().getName()))
                    .flatMap(item -> ((ClusterRole) item).getRules().stream())
                    .forEach(rule -> rights.addAll(rights(rule)));
        }
        assertThat(rights).isNotEmpty();
        return rights;
    }

    private static List<String> rights(PolicyRule rule) {
        return rule.getApiGroups().stream()
                .flatMap(group -> rule.getResources().stream()
                        .flatMap(resource -> rule.getVerbs().stream().map(verb -> group + "/" + resource + " " + verb)))
                .toList();
    }
}
