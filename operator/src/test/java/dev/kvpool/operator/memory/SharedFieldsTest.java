// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Managed fields say the same however they are read, and equal ones are one. */
class SharedFieldsTest {
    private final KubernetesSerialization shared =
            new KubernetesSerialization(new ObjectMapper().registerModule(SharedFields.module()), true);

    @Test
    void theySayWhatTheySaidBefore() {
        String text = object(
                "a", "{\"f:data\": {\".\": {}, \"f:x\": {}}, \"f:metadata\": {\"k:{\\\"uid\\\":\\\"1\\\"}\": {}}}");

        ConfigMap plain = new KubernetesSerialization().unmarshal(text, ConfigMap.class);

        assertThat(shared.unmarshal(text, ConfigMap.class)).isEqualTo(plain);
        assertThat(fields(plain)).containsOnlyKeys("f:data", "f:metadata");
    }

    @Test
    void equalPartsOfDifferentObjectsAreOne() {
        ConfigMap one = shared.unmarshal(
                object("a", "{\"f:data\": {\"f:x\": {}}, \"f:metadata\": {\"f:one\": {}}}"), ConfigMap.class);
        ConfigMap other = shared.unmarshal(
                object("b", "{\"f:metadata\": {\"f:other\": {}}, \"f:data\": {\"f:x\": {}}}"), ConfigMap.class);

        assertThat(fields(one).get("f:data")).isSameAs(fields(other).get("f:data"));
        assertThat(fields(one).get("f:metadata")).isNotEqualTo(fields(other).get("f:metadata"));
    }

    @Test
    void whatIsNoTreeIsRefused() {
        assertThatThrownBy(() -> shared.unmarshal(object("a", "{\"f:data\": 1}"), ConfigMap.class))
                .hasStackTraceContaining("managed fields are not objects within objects");
        assertThatThrownBy(() -> shared.unmarshal(
                        object("a", "{\"f:a\":".repeat(100) + "{}" + "}".repeat(100)), ConfigMap.class))
                .hasStackTraceContaining("at most 64 deep");
    }

    private static Map<String, Object> fields(ConfigMap map) {
        return map.getMetadata().getManagedFields().getFirst().getFieldsV1().getAdditionalProperties();
    }

    private static String object(String name, String fields) {
        return """
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "%s", "managedFields": [
                  {"manager": "m", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": %s}]}}
                """.formatted(name, fields);
    }
}
