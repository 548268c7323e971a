// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.DirectorySpec;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TenantCheckTest {
    private static final String STORAGE = "storage: [{name: a, capacity: 1Gi}]";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {socketDirectory: /run/kvpool} | %s                          | protocol shm in TransferEngine demo (remove socketDirectory)
            {protocols: [ucx, tcp]}        | %s                          | protocol ucx in TransferEngine demo (remove it)
            {protocols: [ascend, tcp], accelerator: {chip: A2}, trustedFabric: true} | %s | protocol ascend in TransferEngine demo (remove it)
            {agents: {}}                   | %s                          | agents in TransferEngine demo (remove them)
            {}                             | storage: []                 | memory of engines (add a storage set)
            {}                             | engineSegmentSize: 1Gi, %s  | memory of engines (remove engineSegmentSize)
            """)
    void whatOpensMemoryToAllIsRefusedForTenants(String engine, String rest, String sentence) {
        assertThat(TenantCheck.of(sketch("chat", engine, rest).observation(), PoolSketch.SETTINGS))
                .singleElement()
                .satisfies(problem -> {
                    assertThat(problem.reason()).isEqualTo(Reason.TENANTS_SHARE_MEMORY);
                    assertThat(problem.message()).contains("Tenants chat").contains(sentence);
                });
        assertThat(TenantCheck.of(sketch("default", engine, rest).observation(), PoolSketch.SETTINGS))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"{}", "'{protocols: [shm, tcp]}'"})
    void memoryThatStorageNodesShareWithNobodyIsNoHindrance(String engine) {
        assertThat(TenantCheck.of(sketch("chat", engine, "%s").observation(), PoolSketch.SETTINGS))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {namespace: ns, name: demo-storage}   | would be node and tenant chat rw
            {namespace: ns, name: demo-admin}     | would be admin and tenant chat rw
            {namespace: ns, name: demo-preflight} | would be monitor and tenant chat rw
            {namespace: kvpool-system, name: kvpool} | would be operator and tenant chat rw
            {namespace: other, name: engine}      | would be tenant chat rw and tenant search ro
            """)
    void anAccountIsOneThing(String account, String sentence) {
        PoolSketch sketch =
                new PoolSketch(("{security: {mode: Required}, tenants: [{name: chat, serviceAccounts: [%s]},"
                                + " {name: search, access: ReadOnly, serviceAccounts: [{namespace: other, name: engine}]}], %s}")
                        .formatted(account, STORAGE));

        assertThat(TenantCheck.of(sketch.observation(), PoolSketch.SETTINGS))
                .singleElement()
                .extracting(Finding::reason, Finding::message)
                .satisfies(parts -> {
                    assertThat(parts.get(0)).isEqualTo(Reason.ACCOUNT_IN_TWO_ROLES);
                    assertThat((String) parts.get(1)).contains(sentence);
                });
    }

    /** Certificates that name ServiceAccounts say nothing else either. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {namespace: ns, name: demo-storage} | would be node and tenant chat rw
            {namespace: ns, name: demo-master}  | would be master and tenant chat rw
            {namespace: ns, name: demo-admin}   | would be none and tenant chat rw
            {namespace: ns, name: engine}       |
            """)
    void anAccountIsOneThingInNamesOfOthersToo(String account, String sentence) {
        PoolSketch sketch = new PoolSketch(DirectorySpec.named("cluster.local")
                .replace("{security", "{tenants: [{name: chat, serviceAccounts: [%s]}], security".formatted(account)));

        List<Finding> problems = TenantCheck.of(sketch.observation(), PoolSketch.SETTINGS);
        if (sentence == null) {
            assertThat(problems).isEmpty();
        } else {
            assertThat(problems)
                    .singleElement()
                    .satisfies(problem -> assertThat(problem.message()).contains(sentence));
        }
    }

    private static PoolSketch sketch(String tenant, String engine, String rest) {
        return new PoolSketch(
                        "{transferEngine: demo, security: {mode: Required}, tenants: [{name: %s, serviceAccounts: [{namespace: other, name: engine}]}], %s}"
                                .formatted(tenant, rest.replace("%s", STORAGE)))
                .engine(engine);
    }
}
