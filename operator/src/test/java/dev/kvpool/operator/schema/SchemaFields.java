// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.schema;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Collections;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The fields of a custom resource's spec, as paths such as {@code spec.storage.perNode.nodeSelector}. */
public final class SchemaFields {
    /** Types of Kubernetes itself, which are one field to us. */
    private static final Set<String> FOREIGN = Set.of(
            "affinity",
            "tolerations",
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

    private SchemaFields() {}

    /**
     * Every field that holds a value of its own, of the CRD in a file of module crds.
     *
     * @param file for example kvcachepools.kvpool.dev.yaml
     */
    public static Set<String> of(String file) {
        return Collections.unmodifiableSet(schemas(file).keySet());
    }

    /** The same fields, with what the schema says of each. */
    public static SortedMap<String, JSONSchemaProps> schemas(String file) {
        return schemas(file, "spec", false);
    }

    /** The fields of a part of the resource, such as {@code status}, and the objects that they are in. */
    public static SortedMap<String, JSONSchemaProps> withObjects(String file, String part) {
        return schemas(file, part, true);
    }

    private static SortedMap<String, JSONSchemaProps> schemas(String file, String part, boolean objects) {
        var crd = new KubernetesSerialization()
                .unmarshal(
                        SchemaFields.class.getResourceAsStream("/META-INF/kvpool/crds/" + file),
                        CustomResourceDefinition.class);
        JSONSchemaProps root =
                crd.getSpec().getVersions().getFirst().getSchema().getOpenAPIV3Schema();
        SortedMap<String, JSONSchemaProps> fields = new TreeMap<>();
        walk(part, root.getProperties().get(part), objects, fields);
        return fields;
    }

    /** A path as the API server writes it, without indexes and keys. */
    public static String withoutIndexes(String path) {
        return path.replaceAll("\\[[^]]*]", "");
    }

    private static void walk(
            String path, JSONSchemaProps schema, boolean objects, SortedMap<String, JSONSchemaProps> fields) {
        JSONSchemaProps inner =
                schema.getItems() == null ? schema : schema.getItems().getSchema();
        boolean foreign = FOREIGN.contains(path.substring(path.lastIndexOf('.') + 1));
        if (foreign || inner.getProperties() == null || inner.getProperties().isEmpty()) {
            fields.put(path, schema);
            return;
        }
        if (objects) {
            fields.put(path, schema);
        }
        inner.getProperties().forEach((name, property) -> walk(path + "." + name, property, objects, fields));
    }
}
