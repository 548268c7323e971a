// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.pod.PodTemplate;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Pods of all golden pools: were the image among their settings, all of them would be replaced after each upgrade. */
class SettingsDigestTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden");
    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    @Test
    void itDoesNotDependOnAnyImage() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(GOLDEN)) {
            files = all.filter(file -> file.getFileName().toString().matches("out-(statefulset|daemonset)-.*"))
                    .toList();
        }
        long inits = 0;
        for (Path file : files) {
            PodSpec pod = pod(file);
            inits = Math.max(inits, pod.getInitContainers().size());
            String before = SettingsDigest.of(pod, PodTemplate.EMPTY, Map.of());
            for (Container container : Stream.concat(pod.getContainers().stream(), pod.getInitContainers().stream())
                    .toList()) {
                container.setImage("registry.example/other:2");
                assertThat(SettingsDigest.of(pod, PodTemplate.EMPTY, Map.of()))
                        .as("%s, %s", file, container.getName())
                        .isEqualTo(before);
            }
            pod.getContainers().getFirst().setName("other");
            assertThat(SettingsDigest.of(pod, PodTemplate.EMPTY, Map.of()))
                    .as("%s", file)
                    .isNotEqualTo(before);
        }
        assertThat(inits).as("init containers of one pod").isGreaterThan(1);
    }

    private static PodSpec pod(Path file) throws IOException {
        HasMetadata workload = YAML.unmarshal(Files.readString(file));
        return workload instanceof StatefulSet set
                ? set.getSpec().getTemplate().getSpec()
                : ((DaemonSet) workload).getSpec().getTemplate().getSpec();
    }
}
