// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The digests of settings that pods of the golden pools carry, compared with golden/settings.txt: a change of code that makes others
 * touches every running pool when the operator is upgraded, and nothing else says so. {@code -Dgolden.update=true} writes the file.
 */
class SettingsAreKeptTest {
    private static final Path FILE = GoldenPool.ALL.resolve("settings.txt");
    private static final String MEANING = """
            # The settings that pods of the golden pools carry: pool, set of pods, digest.
            # A line that changes means that an operator with this change does this to each running pool like it, unasked, when the turn
            # comes to it: it replaces masters, agents and storage pods (those on volumes that outlive them, or with onDataLoss: Wait,
            # only when a user asks). If that is meant, say so in CHANGELOG.md. A new line means nothing.
            """;

    @Test
    void anOperatorOfThisBuildLeavesRunningPodsAlone() throws IOException {
        Map<String, String> digests = digests();
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(FILE, text(digests));
        }
        String committed = Files.readString(FILE);
        List<String> changed = committed
                .lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split(": ", 2))
                .filter(line ->
                        digests.containsKey(line[0]) && !digests.get(line[0]).equals(line[1]))
                .map(line -> line[0])
                .toList();
        assertThat(changed).as("pods with other settings.%n%s", MEANING).isEmpty();
        assertThat(committed)
                .as("%s is stale; -Dgolden.update=true writes it anew", FILE)
                .isEqualTo(text(digests));
    }

    private static String text(Map<String, String> digests) {
        return digests.entrySet().stream()
                .map(digest -> digest.getKey() + ": " + digest.getValue() + "\n")
                .collect(Collectors.joining("", MEANING, ""));
    }

    private static Map<String, String> digests() throws IOException {
        Map<String, String> digests = new TreeMap<>();
        for (String name : GoldenPool.names()) {
            for (HasMetadata child : GoldenPool.of(name).plan().apply()) {
                template(child)
                        .map(pod -> pod.getMetadata().getAnnotations())
                        .map(annotations -> annotations.get(PoolLabels.SETTINGS))
                        .ifPresent(digest ->
                                digests.put(name + " " + child.getMetadata().getName(), digest));
            }
        }
        return digests;
    }

    private static Optional<PodTemplateSpec> template(HasMetadata child) {
        return switch (child) {
            case StatefulSet set -> Optional.of(set.getSpec().getTemplate());
            case DaemonSet set -> Optional.of(set.getSpec().getTemplate());
            default -> Optional.empty();
        };
    }
}
