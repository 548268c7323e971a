// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExpectedNodesFileTest {
    @TempDir
    Path directory;

    private ExpectedNodesFile file(String text) throws IOException {
        return new ExpectedNodesFile(Files.writeString(directory.resolve("nodes"), text));
    }

    @Test
    void idsAndZonesAreReadLineByLine() throws IOException {
        assertThat(file("# nodes\n\n a-0 \na-1 east-1a\nset.host\tb\n").read())
                .isEqualTo(Map.of("a-0", "", "a-1", "east-1a", "set.host", "b"));
    }

    @Test
    void anEmptyFileExpectsNobody() throws IOException {
        assertThat(file("").read()).isEmpty();
    }

    @Test
    void aChangedZoneIsAChange() throws IOException {
        ExpectedNodesFile file = file("a east\n");
        file.read();

        assertThat(file.readIfChanged()).isEmpty();
        file("a west\n");
        assertThat(file.readIfChanged()).contains(Map.of("a", "west"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a east west", "a -east", "a e/w", "a east\na west"})
    void aWrongLineIsNamed(String text) throws IOException {
        int line = text.lines().toList().size();

        assertThatThrownBy(() -> file(text).read())
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("line " + line + " of the file of expected nodes ");
    }

    @Test
    void aZoneThatIsTooLongIsRefused() {
        assertThatThrownBy(() -> file("a " + "z".repeat(64)).read()).hasMessageContaining("1 to 63");
    }

    @Test
    void bytesThatAreNoTextAreRefused() throws IOException {
        Path file = Files.write(directory.resolve("nodes"), "a \u00e9".getBytes(StandardCharsets.ISO_8859_1));

        assertThatThrownBy(() -> new ExpectedNodesFile(file).read()).hasMessageContaining("UTF-8");
    }
}
