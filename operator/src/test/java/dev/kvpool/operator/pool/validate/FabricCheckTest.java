// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FabricCheckTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {protocols: [ucx, tcp]}                          | ucx
            {protocols: [ascend, tcp], accelerator: {chip: A2}} | ascend
            """)
    void whatHasNoTlsIsRefusedWhereTlsIsRequiredUnlessItsNetworkIsTrusted(String engine, String protocol) {
        assertThat(problems("Required", engine))
                .containsExactly(new Finding(
                        Reason.FABRIC_NOT_TRUSTED,
                        "The pool requires TLS, and protocol %s in TransferEngine demo authenticates no peer and encrypts nothing. Set trustedFabric: true there if every host on that network is trusted, or remove the protocol."
                                .formatted(protocol)));
        assertThat(problems("Required", engine.replaceFirst("\\{", "{trustedFabric: true, ")))
                .isEmpty();
        assertThat(problems("Permissive", engine)).isEmpty();
        assertThat(problems("\"Off\"", engine)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"{}", "'{socketDirectory: /run/kvpool}'"})
    void tcpHasTlsAndSharedMemoryLeavesNoMachine(String engine) {
        assertThat(problems("Required", engine)).isEmpty();
    }

    private static List<Finding> problems(String mode, String engine) {
        return FabricCheck.of(
                new PoolSketch("{security: {mode: %s}, storage: [{name: a, capacity: 1Gi}]}".formatted(mode))
                        .engine(engine)
                        .observation());
    }
}
