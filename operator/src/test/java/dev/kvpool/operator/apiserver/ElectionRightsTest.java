// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.OperatorBeans;
import dev.kvpool.operator.engine.TransferEngineReconciler;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * What an election asks of the API server is what the chart's Role gives in the operator's namespace, no less and no more. That it works
 * says nothing of the Role where the operator sees the whole cluster: there the rights on pools' Leases would do as well.
 */
class ElectionRightsTest {
    private static final String NAMESPACE = "election-rights";
    private static final String ELECTION_NAMESPACE = "kvpool-system";
    private static final String ROLE = "kvpool-election";
    private static final String LEASE = "kvpool-operator";

    /** The SDK does not start an operator that lacks it, and never uses it. */
    private static final String LOOKED_FOR = "coordination.k8s.io/leases update " + LEASE;

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void anElectionTakesTheRightsOfItsRole() {
        ApiServer.shared().createNamespace(NAMESPACE);
        ApiServer.shared().applyElectionRights();
        RequestedRights requested = new RequestedRights();
        try (KubernetesClient client = ApiServer.shared().client();
                KubernetesClient restricted = ApiServer.shared().operatorClient(requested)) {
            client.leases()
                    .inNamespace(ELECTION_NAMESPACE)
                    .withName(LEASE)
                    .withTimeoutInMillis(LIMIT.toMillis())
                    .delete();
            Set<String> granted = granted(client);
            assertThat(granted).contains(LOOKED_FOR);
            granted.remove(LOOKED_FOR);
            Operator operator = new Operator(configuration -> configuration
                    .withKubernetesClient(restricted)
                    .withCloseClientOnStop(false)
                    .withLeaderElectionConfiguration(OperatorBeans.election(ELECTION_NAMESPACE, "operator")
                            .buildForTest(false)));
            operator.register(
                    new TransferEngineReconciler(InstantSource.system()),
                    configuration -> configuration.settingNamespace(NAMESPACE));
            operator.start();
            try {
                await().atMost(LIMIT)
                        .until(() -> requested.in(ELECTION_NAMESPACE).containsAll(granted));
            } finally {
                operator.stop();
            }
            assertThat(requested.in(ELECTION_NAMESPACE)).isEqualTo(granted);
        }
    }

    /** As GROUP/RESOURCE VERB, with the name where the right is to one object only. */
    private static Set<String> granted(KubernetesClient client) {
        Role role = client.rbac()
                .roles()
                .inNamespace(ELECTION_NAMESPACE)
                .withName(ROLE)
                .get();
        return role.getRules().stream().flatMap(rule -> rights(rule).stream()).collect(Collectors.toSet());
    }

    private static List<String> rights(PolicyRule rule) {
        String resource =
                rule.getApiGroups().getFirst() + "/" + rule.getResources().getFirst() + " ";
        String name = rule.getResourceNames().isEmpty()
                ? ""
                : " " + rule.getResourceNames().getFirst();
        return rule.getVerbs().stream().map(verb -> resource + verb + name).toList();
    }
}
