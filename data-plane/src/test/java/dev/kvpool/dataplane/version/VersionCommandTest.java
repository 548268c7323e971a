// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.version;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.cli.CommandRunner;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.StopSignal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

class VersionCommandTest {
    @Test
    void jsonHasTheNumbersAndWhatIsLinkedIn() throws Exception {
        JsonNode said = new ObjectMapper().readTree(said("--json"));

        assertThat(said.path("product").asText()).isEqualTo(ProductVersion.text());
        assertThat(said.path("wire").path("max").asInt()).isPositive();
        JsonNode openssl = StreamSupport.stream(said.path("linked").spliterator(), false)
                .filter(one -> one.path("name").asText().equals("OpenSSL"))
                .findFirst()
                .orElseThrow();
        assertThat(openssl.path("version").asText()).matches("[0-9]+\\.[0-9]+\\.[0-9]+.*");
        assertThat(openssl.path("license").asText()).isEqualTo("Apache-2.0");
    }

    @Test
    void textHasThemToo() {
        assertThat(said().lines())
                .hasSize(2)
                .first()
                .asString()
                .isEqualTo(Versions.ofThisBuild().text());
        assertThat(said()).contains("linked in: OpenSSL ", " (Apache-2.0), libstdc++ ");
    }

    @Test
    void whatIsLinkedInIsReadFromCycloneDx() {
        String sbom = """
                {"bomFormat": "CycloneDX", "components": [
                 {"name": "a", "version": "1", "licenses": [{"expression": "MIT"}], "purl": "pkg:generic/a@1"}]}
                """;

        assertThat(LinkedCode.read(sbom)).isEqualTo(List.of(new LinkedCode("a", "1", "MIT")));
    }

    private static String said(String... flags) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        Console console = new Console(new ByteArrayInputStream(new byte[0]), print, print, new StopSignal());
        String[] arguments =
                Stream.concat(Stream.of("version"), Stream.of(flags)).toArray(String[]::new);

        assertThat(new CommandRunner(List.of(new VersionCommand()), Map.of(), console).run(arguments))
                .isEqualTo(ExitCode.OK);
        return out.toString(StandardCharsets.UTF_8);
    }
}
