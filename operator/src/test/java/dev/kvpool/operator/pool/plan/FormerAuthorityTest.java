// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.DirectorySpec;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FormerAuthorityTest {
    private static final String OWN =
            "{security: {mode: %s}, storage: [{name: a, capacity: 1Gi}], transferEngine: demo}";
    private static final HasMetadata TRUST = new ConfigMapBuilder()
            .withNewMetadata()
            .withName("demo-trust")
            .endMetadata()
            .build();

    /** Where certificates come from: of others, of the pool's own authority, or there are none. */
    @ParameterizedTest(name = "spec: {0}, template of masters: {1}, a master: {2}, a storage node: {3}")
    @CsvSource(nullValues = "-", textBlock = """
            others, others, -,      ready,   false
            others, others, others, ready,   true
            others, others, others, -,       true
            others, others, others, waiting, false
            others, others, own,    ready,   false
            others, own,    -,      ready,   false
            others, own,    own,    ready,   false
            others, none,   none,   ready,   false
            others, -,      -,      ready,   false
            own,    own,    own,    ready,   false
            own,    others, others, ready,   false
            none,   none,   none,   ready,   false
            """)
    void itGoesWhenNoPodHasOrGetsACertificateOfIt(String spec, String template, String pod, String node, boolean goes) {
        PoolSketch sketch = new PoolSketch(spec(spec)).child(TRUST);
        if (template != null) {
            new PoolSketch(spec(template))
                    .engine("{}").plan().apply().stream()
                            .filter(child -> child instanceof StatefulSet
                                    && child.getMetadata().getName().equals("demo-master"))
                            .forEach(sketch::child);
            assertThat(sketch.observation().children()).hasSize(2);
        }
        if (pod != null) {
            sketch.pod(DirectorySpec.pod(
                    "demo-master-0",
                    PoolLabels.ROLE_MASTER,
                    switch (pod) {
                        case "others" -> Map.of(PoolLabels.CERTIFICATES, PoolLabels.OF_DIRECTORY);
                        case "own" -> Map.of(PoolLabels.AUTHORITY, "0123456789abcdef");
                        default -> Map.of(PoolLabels.TLS, "off");
                    },
                    ""));
        }
        if (node != null) {
            sketch.pod(DirectorySpec.pod(
                    "demo-a-0",
                    PoolLabels.ROLE_STORAGE,
                    Map.of(PoolLabels.TLS, "required"),
                    node.equals("ready") ? "" : "no master takes its certificate"));
        }

        assertThat(FormerAuthority.of(sketch.observation())).isEqualTo(goes ? Optional.of(TRUST) : Optional.empty());
    }

    private static String spec(String certificates) {
        return switch (certificates) {
            case "others" ->
                DirectorySpec.secrets(DirectorySpec.root()).replace("{certificates", "{mode: Required, certificates");
            case "own" -> OWN.formatted("Required");
            default -> OWN.formatted("\"Off\"");
        };
    }
}
