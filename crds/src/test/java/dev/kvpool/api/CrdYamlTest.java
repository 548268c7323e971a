// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The committed YAML is what the Java types say. */
class CrdYamlTest {
    private static final Path COMMITTED = Path.of("yaml");

    @Test
    void committedYamlIsCurrent(@TempDir Path scratch) throws IOException {
        Map<String, String> generated = CrdSchemas.generate(scratch);

        if (Boolean.getBoolean("crds.update")) {
            replace(generated);
        }

        assertThat(generated).containsOnlyKeys("kvcachepools.kvpool.dev.yaml", "transferengines.kvpool.dev.yaml");
        assertThat(committed())
                .as("crds/yaml is stale; regenerate it with: mvn -pl crds test -Dcrds.update=true")
                .isEqualTo(generated);
    }

    private static Map<String, String> committed() throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (var paths = Files.list(COMMITTED)) {
            for (Path path : paths.toList()) {
                files.put(path.getFileName().toString(), Files.readString(path));
            }
        }
        return files;
    }

    private static void replace(Map<String, String> generated) throws IOException {
        for (String stale : committed().keySet()) {
            Files.delete(COMMITTED.resolve(stale));
        }
        for (var file : generated.entrySet()) {
            Files.writeString(COMMITTED.resolve(file.getKey()), file.getValue());
        }
    }
}
