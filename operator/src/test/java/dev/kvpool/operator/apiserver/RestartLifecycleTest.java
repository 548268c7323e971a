// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Annotation kvpool.dev/restart on a real API server: all pods, or those of a role, are replaced in their turn. */
class RestartLifecycleTest {
    private static final String SPEC = "{onDataLoss: Move, replicas: 2, storage: [{name: default, capacity: 1Gi}]}";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in("restarts");

    @Test
    void thePodsOfOneRoleAndThenAllOfThem() {
        PoolUnderTest pool = OPERATOR.make("demo", SPEC).ready();
        Set<String> masters = uids(pool, PoolLabels.ROLE_MASTER);
        Set<String> storage = uids(pool, PoolLabels.ROLE_STORAGE);

        pool.annotate(PoolLabels.restart(PoolLabels.ROLE_MASTER), "2026-01-01T12:00:00Z");
        pool.play(() -> replaced(pool, PoolLabels.ROLE_MASTER, masters) && isAtRest(pool));
        assertThat(uids(pool, PoolLabels.ROLE_STORAGE)).isEqualTo(storage);

        pool.annotate(PoolLabels.RESTART, "2026-01-01T12:30:00Z");
        Set<String> newMasters = uids(pool, PoolLabels.ROLE_MASTER);
        pool.play(() -> {
            assertThat(uids(pool, PoolLabels.ROLE_STORAGE).size()
                            + uids(pool, PoolLabels.ROLE_MASTER).size())
                    .as("pods, one of which may be away")
                    .isGreaterThanOrEqualTo(3);
            return replaced(pool, PoolLabels.ROLE_MASTER, newMasters)
                    && replaced(pool, PoolLabels.ROLE_STORAGE, storage)
                    && isAtRest(pool);
        });
    }

    @Test
    void whatIsNoTimeRestartsNothingAndIsSaid() {
        PoolUnderTest pool = OPERATOR.make("typo", SPEC).ready();
        Set<String> masters = uids(pool, PoolLabels.ROLE_MASTER);

        pool.annotate(PoolLabels.RESTART, "tomorrow");
        pool.play(() -> pool.has(Reason.REQUEST_NOT_UNDERSTOOD));
        assertThat(pool.message(ConditionType.SPEC_APPLIED)).contains("\"tomorrow\"");
        assertThat(uids(pool, PoolLabels.ROLE_MASTER)).isEqualTo(masters);

        pool.annotate(PoolLabels.RESTART, null);
        pool.play(() -> isAtRest(pool));
    }

    private static boolean isAtRest(PoolUnderTest pool) {
        return pool.status().steps().isEmpty() && pool.has(Reason.COMPLETE) && pool.has(Reason.APPLIED);
    }

    private static boolean replaced(PoolUnderTest pool, String role, Set<String> before) {
        Set<String> now = uids(pool, role);
        return now.size() == before.size() && now.stream().noneMatch(before::contains);
    }

    private static Set<String> uids(PoolUnderTest pool, String role) {
        return pool.labelled(Pod.class, role).stream()
                .map(pod -> pod.getMetadata().getUid())
                .collect(Collectors.toSet());
    }
}
