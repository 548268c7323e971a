// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KvpoolEnvironmentTest {
    private static final List<Setting<?>> KNOWN =
            List.of(Setting.required("port", Formats.PORT, ""), Setting.optional("data-dir", Formats.DIRECTORY, ""));

    @Test
    void settingsAreTakenAndOtherProgramsVariablesLeftAlone() {
        KvpoolEnvironment environment =
                KvpoolEnvironment.of(Map.of("KVPOOL_PORT", "50051", "KVPOOL_DATA_DIR", "/d", "HOME", "/root"), KNOWN);

        assertThat(environment.settings())
                .containsOnly(Map.entry("KVPOOL_PORT", "50051"), Map.entry("KVPOOL_DATA_DIR", "/d"));
        assertThat(environment.serviceLinks()).isEmpty();
        assertThat(environment.unknown()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "KVPOOL_PORT,tcp://10.0.0.1:50051",
        "KVPOOL_SERVICE_HOST,10.0.0.1",
        "KVPOOL_SERVICE_PORT,50051",
        "KVPOOL_SERVICE_PORT_RPC,50051",
        "KVPOOL_PORT_50051_TCP,tcp://10.0.0.1:50051",
        "KVPOOL_PORT_50051_TCP_ADDR,10.0.0.1",
        "KVPOOL_LEADER_PORT,tcp://10.0.0.1:50051",
        "KVPOOL_LEADER_SERVICE_HOST,10.0.0.1",
        "KVPOOL_OPERATOR_PORT_53_UDP_PROTO,udp"
    })
    void variablesThatKubernetesMakesForServicesAreIgnored(String name, String value) {
        KvpoolEnvironment environment = KvpoolEnvironment.of(Map.of(name, value), KNOWN);

        assertThat(environment.serviceLinks()).containsExactly(name);
        assertThat(environment.settings()).isEmpty();
        assertThat(environment.unknown()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"KVPOOL_PROT,50051", "KVPOOL_,x", "KVPOOL_DATADIR,/d", "KVPOOL_LEADER_PORT,50051"})
    void anythingElseIsUnknown(String name, String value) {
        assertThat(KvpoolEnvironment.of(Map.of(name, value), KNOWN).unknown()).containsExactly(name);
    }
}
