// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.OnCluster;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Pool;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Specs that cannot work: what one sees says what is wrong. */
@OnCluster
@Order(4)
@TestInstance(Lifecycle.PER_CLASS)
class InvalidSpecIT {

    private static final String NAMESPACE = "kvpool-e2e-invalid";

    private Cluster cluster;

    @BeforeAll
    void createNamespace(Cluster cluster, Operator operator) {
        this.cluster = cluster;
        cluster.createNamespace(NAMESPACE, "restricted");
    }

    @AfterAll
    void deleteNamespace() {
        if (cluster != null) {
            cluster.deleteNamespace(NAMESPACE);
        }
    }

    @ParameterizedTest(name = "{0}")
    @DisplayName("the API server refuses a spec and says why")
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            no storage             | {storage: []}                                                                  | spec.storage
            capacity too small     | {storage: [{name: a, capacity: 1Mi}]}                                          | at least 64Mi
            capacity not a size    | {storage: [{name: a, capacity: plenty}]}                                       | quantities must match
            two sets of one name   | {storage: [{name: a, capacity: 1Gi}, {name: a, capacity: 1Gi}]}                | Duplicate value
            a name in use          | {storage: [{name: master, capacity: 1Gi}]}                                     | choose another set name
            no masters             | {masters: {replicas: 0}, storage: [{name: a, capacity: 1Gi}]}                  | spec.masters.replicas
            a lease without a unit | {cache: {objectLease: '10'}, storage: [{name: a, capacity: 1Gi}]}              | objectLease must be one whole number with a unit
            an unknown medium      | {storage: [{name: a, capacity: 1Gi, medium: Tape}]}                            | Unsupported value
            not a version          | {version: latest, storage: [{name: a, capacity: 1Gi}]}                         | version must be three numbers with dots
            """)
    void apiServerRefuses(String what, String spec, String message) {
        String yaml = pool("refused", spec);

        var result = cluster.kubectl().attempt(yaml, "apply", "--namespace", NAMESPACE, "-f", "-");

        assertThat(result.status()).as("kubectl's exit status").isNotZero();
        assertThat(result.errors()).contains(message);
        assertThat(cluster.kubectl().run("get", "kvp", "--namespace", NAMESPACE, "--output=name"))
                .doesNotContain("refused");
    }

    @Test
    @DisplayName("a misspelled field is refused instead of ignored")
    void misspelledField() {
        String yaml = pool("misspelled", "{storage: [{name: a, capcity: 1Gi, capacity: 1Gi}]}");

        var result = cluster.kubectl().attempt(yaml, "apply", "--namespace", NAMESPACE, "-f", "-");

        assertThat(result.status()).as("kubectl's exit status").isNotZero();
        assertThat(result.errors()).contains("unknown field \"spec.storage[0].capcity\"");
    }

    @Test
    @DisplayName("a pool whose transfer engine does not exist says so, and works once it does")
    void missingTransferEngine() {
        cluster.kubectl()
                .apply(NAMESPACE, pool("engineless", "{transferEngine: fast, storage: [{name: a, capacity: 64Mi}]}"));
        var pool = new Pool(cluster, NAMESPACE, "engineless");

        Wait.until("the pool says that its transfer engine is missing", Limits.STATUS, () -> {
            KvCachePoolStatus status = pool.resource().getStatus();
            assertThat(status.phase()).isEqualTo(PoolPhase.INVALID);
            assertThat(status.message()).contains("TransferEngine", "fast");
        });
        assertThat(pool.pods()).isEmpty();

        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: TransferEngine
                metadata: {name: fast}
                spec: {protocols: [tcp]}
                """);
        pool.awaitReady();
    }

    private static String pool(String name, String spec) {
        return """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec: %s
                """.formatted(name, spec);
    }
}
