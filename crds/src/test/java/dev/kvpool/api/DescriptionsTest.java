// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code kubectl explain} explains every field. */
class DescriptionsTest {
    /** Of types of Kubernetes itself only the field that has one is ours to describe. */
    private static final Set<String> FOREIGN = Set.of(
            "tolerations",
            "affinity",
            "topologySpreadConstraints",
            "securityContext",
            "containerSecurityContext",
            "valueFrom",
            "configMap",
            "secret",
            "projected",
            "emptyDir",
            "hostPath",
            "persistentVolumeClaim",
            "csi");

    private final List<String> silent = new ArrayList<>();
    private int described;

    @Test
    void everyFieldHasADescription(@TempDir Path scratch) {
        CrdSchemas.generate(scratch).forEach((file, yaml) -> {
            CustomResourceDefinition crd =
                    new KubernetesSerialization().unmarshal(yaml, CustomResourceDefinition.class);
            crd.getSpec()
                    .getVersions()
                    .forEach(version -> walk(
                            crd.getSpec().getNames().getKind(),
                            version.getSchema().getOpenAPIV3Schema()));
        });

        assertThat(silent).as("fields without a description").isEmpty();
        assertThat(described).isGreaterThan(200);
    }

    private void walk(String path, JSONSchemaProps schema) {
        if (schema.getDescription() == null || schema.getDescription().isBlank()) {
            silent.add(path);
        }
        described++;
        if (!FOREIGN.contains(path.substring(path.lastIndexOf('.') + 1))) {
            inner(path, schema);
        }
    }

    private void inner(String path, JSONSchemaProps schema) {
        if (schema.getProperties() != null) {
            schema.getProperties().forEach((name, property) -> walk(path + "." + name, property));
        }
        if (schema.getItems() != null) {
            inner(path, schema.getItems().getSchema());
        }
    }
}
