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
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The operator has no right that it does not use: a pool's life, and what was asked of the API server for it. */
class RightsAreUsedTest {
    private static final Set<String> ROLES = Set.of("kvpool-pools", "kvpool-nodes");

    /** A role can give only rights that its maker has: the masters update their Lease by the role the operator makes. */
    private static final Set<String> GIVEN_ON = Set.of("coordination.k8s.io/leases update");

    /** The API server asks for them where owner references change: PoolLifecycleTest changes those of all. */
    private static final Set<String> BEHIND_A_PATCH = Set.of(
            "/services delete",
            "/configmaps delete",
            "/serviceaccounts delete",
            "policy/poddisruptionbudgets delete",
            "rbac.authorization.k8s.io/roles delete",
            "rbac.authorization.k8s.io/rolebindings delete",
            "coordination.k8s.io/leases delete");

    @Test
    void everyRightOfTheChartIsUsed() throws IOException {
        try (OperatorUnderTest operator = OperatorUnderTest.in("used-rights").start()) {
            ClusterActor cluster = operator.cluster();
            operator.applyEngine("engine", "{}");
            PoolUnderTest pool = operator.make("used", """
                    {transferEngine: engine, storage: [
                      {name: a, capacity: 1Gi},
                      {name: b, capacity: 1Gi},
                      {name: c, capacity: 1Gi, perNode: {nodeSelector: {used-rights: "none"}}}]}""").awaitChildren(17);
            cluster.runPodsOf("used-master");
            cluster.takeLease("used-master", "used-master-0", 1);
            await().until(() -> cluster.isLabelledLeader("used-master-0"));
            cluster.waitingPodOf("used-a", "older-settings");
            await().until(() -> operator.usedRights().contains("/pods delete"));
            pool.apply("{transferEngine: engine, storage: [{name: a, capacity: 1Gi}]}");
            operator.masters().say("used-master-0", ScriptedMasters.leader("used-master-0", 1, 0, List.of()));
            pool.apply("{image: 'kvpool:9', storage: [{name: a, capacity: 1Gi}]}");
            await().until(() -> operator.usedRights().contains("batch/jobs patch"));
            pool.apply("{image: 'kvpool:0.1.0', networkPolicy: {enabled: false}, storage: [{name: a, capacity: 1Gi}]}");

            operator.make("directories", """
                    {storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {used-rights: "none"}},
                      volume: {type: hostPath, path: /dev/shm/kvpool}}]}""");

            Set<String> granted = granted(operator.client());
            granted.removeAll(GIVEN_ON);
            granted.removeAll(BEHIND_A_PATCH);
            await().untilAsserted(() -> assertThat(operator.usedRights())
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
