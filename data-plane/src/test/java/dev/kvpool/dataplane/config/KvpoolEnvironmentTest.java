// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
        assertThat(environment.misspellings()).isEmpty();
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
        assertThat(environment.misspellings()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "KVPOOL_PROT,KVPOOL_PORT",
        "KVPOOL_PORTS,KVPOOL_PORT",
        "KVPOOL_DATADIR,KVPOOL_DATA_DIR",
        "KVPOOL_DATA_DRI,KVPOOL_DATA_DIR",
        "KVPOOL_DADA_DIRR,KVPOOL_DATA_DIR"
    })
    void whatIsNearASettingIsAMisspelling(String name, String likely) {
        assertThat(environment(name).misspellings()).containsExactly(new Misspelling(name, likely));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"KVPOOL_", "KVPOOL_P", "KVPOOL_HOST", "KVPOOL_LEADER_PORT", "KVPOOL_WEB_UI", "KVPOOL_DATABASE"})
    void whatIsNearNoneIsAnotherPrograms(String name) {
        KvpoolEnvironment environment = environment(name);

        assertThat(environment.misspellings()).isEmpty();
        assertThat(environment.settings()).isEmpty();
        assertThat(environment.serviceLinks()).isEmpty();
    }

    /** KVPOOL_REUSE is near a setting KVPOOL_REUSED, and meant as it stands. */
    @Test
    void variablesOfOurOtherProgramsAreNoMisspellings() throws IOException {
        Set<String> variables = variablesOf(
                Path.of("../native/python/engines/src"),
                Path.of("../native/python/mooncake/src"),
                Path.of("../native/src"),
                Path.of("../operator/src/main"));

        assertThat(variables)
                .contains("KVPOOL_REUSE", "KVPOOL_PROTOCOL_OVERRIDE", "KVPOOL_UCX_LIBRARY", "KVPOOL_IMAGE");
        for (String variable : variables) {
            List<Setting<?>> almost = List.of(Setting.optional(
                    (variable.substring("KVPOOL_".length()) + "D")
                            .toLowerCase(Locale.ROOT)
                            .replace('_', '-'),
                    Formats.DIRECTORY,
                    ""));
            assertThat(KvpoolEnvironment.of(Map.of(variable, "x"), almost).misspellings())
                    .as("add %s to those of other programs", variable)
                    .isEmpty();
        }
    }

    private static KvpoolEnvironment environment(String name) {
        return KvpoolEnvironment.of(Map.of(name, "x"), KNOWN);
    }

    /** Names in quotes or as placeholders of properties, in the sources below these directories. */
    private static Set<String> variablesOf(Path... directories) throws IOException {
        Pattern variable = Pattern.compile("[\"$]\\{?(KVPOOL_[A-Z][A-Z_]*[A-Z])[\":}]");
        Set<String> found = new TreeSet<>();
        for (Path directory : directories) {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
                    variable.matcher(text).results().forEach(match -> found.add(match.group(1)));
                }
            }
        }
        return found;
    }
}
