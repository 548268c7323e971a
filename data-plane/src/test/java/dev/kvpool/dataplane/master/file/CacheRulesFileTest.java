// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.master.LoopbackMaster;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheRulesFileTest {
    @TempDir
    Path directory;

    private Path path;
    private CacheRulesFile file;

    @BeforeEach
    void place() {
        path = directory.resolve("cache-rules");
        file = new CacheRulesFile(path, LoopbackMaster.RULES);
    }

    private void write(String text) throws IOException {
        Files.writeString(path, text);
    }

    @Test
    void whatItSaysIsToldOnceForEachChange() throws IOException {
        write("replicas=2\nend\n");
        assertThat(file.readIfChanged()).hasValueSatisfying(version -> {
            // printf 'replicas=2\nend\n' | sha256sum
            assertThat(version.digest()).isEqualTo("dfa2f787a13a7078");
            assertThat(version.rules().replicas()).isEqualTo(2);
        });
        assertThat(file.readIfChanged()).isEmpty();

        write("replicas=3\nend\n");
        assertThat(file.readIfChanged())
                .hasValueSatisfying(
                        version -> assertThat(version.rules().replicas()).isEqualTo(3));
    }

    @Test
    void whatKilledMastersHaveLeftGoesWithALaterWrite() throws IOException {
        Path former = directory.resolve("cache-rules.0b7c1f64-12ab-4c7e-9a55-0123456789ab");
        Path underWay = directory.resolve("cache-rules.0b7c1f64-12ab-4c7e-9a55-0123456789ac");
        Path another = directory.resolve("cache-rules.backup");
        for (Path path : List.of(former, underWay, another)) {
            Files.writeString(path, "x");
            Files.setLastModifiedTime(path, FileTime.from(Instant.now().minus(Duration.ofHours(2))));
        }
        Files.setLastModifiedTime(underWay, FileTime.from(Instant.now()));

        file.write(Map.of());
        assertThat(directory).isDirectoryNotContaining("glob:**/" + former.getFileName());
        assertThat(List.of(path, underWay, another)).allMatch(Files::exists);
    }

    @Test
    void whatCannotBeDeletedKeepsNoChangeOut() throws IOException {
        Path former = directory.resolve("cache-rules.0b7c1f64-12ab-4c7e-9a55-0123456789ab");
        Files.createDirectories(former.resolve("not-empty"));
        Files.setLastModifiedTime(former, FileTime.from(Instant.now().minus(Duration.ofHours(2))));

        file.write(Map.of());

        assertThat(path).exists();
    }

    @Test
    void oneThatWasNeverThereSaysNothing() throws IOException {
        assertThat(file.readIfChanged()).isEmpty();
    }

    @Test
    void oneThatIsGoneIsAProblemUntilItIsBack() throws IOException {
        write("end\n");
        file.readIfChanged();
        Files.delete(path);

        assertThatThrownBy(() -> file.readIfChanged()).hasMessageContaining("is not there any more");
        write("end\n");
        assertThat(file.readIfChanged()).as("it says what it said before").isEmpty();
    }

    @Test
    void aWrongOneIsAProblemEachTimeUntilItIsMended() throws IOException {
        write("replicas=2\n");
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> file.readIfChanged())
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(path.toString())
                    .hasMessageContaining("not whole");
        }

        write("replicas=2\nend\n");
        assertThat(file.readIfChanged()).isPresent();
    }

    @Test
    void bytesThatAreNoTextAreRefused() throws IOException {
        Files.write(path, "# \u00e9\nend".getBytes(StandardCharsets.ISO_8859_1));

        assertThatThrownBy(() -> file.readIfChanged()).hasMessageContaining("UTF-8");
    }

    @Test
    void aHugeOneIsRefused() throws IOException {
        write("#".repeat(1 << 17) + "\nend\n");

        assertThatThrownBy(() -> file.readIfChanged()).hasMessageContaining("larger than 65536 bytes");
    }

    @Test
    void aDirectoryIsRefused() throws IOException {
        Files.createDirectory(path);

        assertThatThrownBy(() -> file.readIfChanged()).isInstanceOf(IOException.class);
    }

    /** A leader that was deposed may still be writing. */
    @Test
    void whatAnotherMasterIsWritingIsLeftAlone() throws IOException {
        Path others = Files.createDirectory(directory.resolve("cache-rules.next"));
        file.write(Map.of());
        assertThat(file.readIfChanged()).isPresent();
        try (Stream<Path> all = Files.list(directory)) {
            assertThat(all).containsExactlyInAnyOrder(others, path);
        }
    }
}
