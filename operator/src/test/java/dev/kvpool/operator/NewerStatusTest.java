// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineStatus;
import dev.kvpool.api.v1alpha1.status.RollPhase;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * After {@code helm rollback} an operator reads a status that a newer one wrote: with fields it does not know, which a cluster with the
 * newer CRD keeps, and with values it does not know. An object that cannot be read ends the informer, and with it every pool.
 */
class NewerStatusTest {
    private static final String NEWER = "OfANewerVersion";
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private final ObjectMapper mapper = new ObjectMapper();
    private final KubernetesSerialization client = new KubernetesSerialization(mapper, true);

    NewerStatusTest() {
        new OperatorBeans().objectsOfTheCluster().customize(mapper);
    }

    static Stream<String> enumsOfPools() {
        return enums(KvCachePoolStatus.class, "").stream();
    }

    static Stream<String> enumsOfEngines() {
        return enums(TransferEngineStatus.class, "").stream();
    }

    @Test
    void allValuesOfThisVersionAreRead() {
        KvCachePoolStatus status = pool(sample(KvCachePoolStatus.class)).getStatus();

        assertThat(status.steps()).hasSize(1);
        assertThat(status.conditions()).hasSize(1);
        assertThat(status).hasNoNullFieldsOrProperties();
        assertThat(enumsOfPools()).contains("/steps/0/kind", "/roll/phase", "/phase", "/conditions/0/status");
    }

    @Test
    void unknownFieldsAreLeftOut() {
        JsonNode plain = sample(KvCachePoolStatus.class);

        assertThat(pool(withFurtherFields(plain)).getStatus())
                .isEqualTo(pool(plain).getStatus());
    }

    @ParameterizedTest
    @MethodSource("enumsOfPools")
    void anUnknownValueOfAPoolCostsAtMostTheEntryItIsIn(String path) {
        JsonNode written = withUnknown(sample(KvCachePoolStatus.class), path);

        KvCachePool read = pool(written);

        assertThat(read.getMetadata().getName()).isEqualTo("demo");
        assertThat(read.getSpec().storage()).hasSize(1);
        assertThat(read.getStatus().observedGeneration()).isEqualTo(1);
        assertThat(read.getStatus().steps())
                .allSatisfy(step ->
                        assertThat(step).extracting("kind", "because", "state").doesNotContainNull());
        assertThat(read.getStatus().conditions())
                .allSatisfy(condition -> assertThat(condition.status()).isNotNull());
        assertThat(Stream.ofNullable(read.getStatus().lastFailover()))
                .allSatisfy(failover -> assertThat(failover.cause()).isNotNull());
        assertThat(read.getStatus().roll().image()).isEqualTo("text");
        assertThat(read.getStatus().roll().phase()).isNotNull();
    }

    @Test
    void anUpgradeInAnUnknownPhaseOrModeAsksTheNewImageAgain() {
        for (String field : List.of("/roll/phase", "/roll/mode")) {
            JsonNode rolling = sample(KvCachePoolStatus.class);
            ((ObjectNode) rolling.at("/roll")).put("phase", "Rolling");

            assertThat(pool(withUnknown(rolling, field)).getStatus().roll().phase())
                    .as(field)
                    .isEqualTo(RollPhase.PREFLIGHT);
        }
    }

    @ParameterizedTest
    @MethodSource("enumsOfEngines")
    void anUnknownValueOfATransferEngineCostsAtMostTheEntryItIsIn(String path) {
        TransferEngine read = read(
                "TransferEngine",
                "{}",
                withUnknown(withFurtherFields(sample(TransferEngineStatus.class)), path),
                TransferEngine.class);

        assertThat(read.getStatus().observedGeneration()).isEqualTo(1);
        assertThat(read.getStatus().conditions())
                .allSatisfy(condition -> assertThat(condition.status()).isNotNull());
    }

    private KvCachePool pool(JsonNode status) {
        return read(
                "KvCachePool", "{\"storage\": [{\"name\": \"a\", \"capacity\": \"1Gi\"}]}", status, KvCachePool.class);
    }

    private <T extends CustomResource<?, ?>> T read(String kind, String spec, JsonNode status, Class<T> type) {
        return client.unmarshal("""
                {"apiVersion": "kvpool.dev/v1alpha1", "kind": "%s", "metadata": {"name": "demo"}, "spec": %s, "status": %s}
                """.formatted(kind, spec, status), type);
    }

    private static JsonNode withUnknown(JsonNode status, String path) {
        int last = path.lastIndexOf('/');
        ((ObjectNode) status.at(path.substring(0, last))).put(path.substring(last + 1), NEWER);
        return status;
    }

    private static JsonNode withFurtherFields(JsonNode node) {
        JsonNode copy = node.deepCopy();
        addFields(copy);
        return copy;
    }

    private static void addFields(JsonNode node) {
        node.forEach(NewerStatusTest::addFields);
        if (node instanceof ObjectNode object) {
            object.put("newer", NEWER).putObject("alsoNewer").putArray("list").add(1);
        }
    }

    private static List<String> enums(Class<?> type, String path) {
        List<String> found = new ArrayList<>();
        if (type.isEnum()) {
            found.add(path);
        } else if (type.isRecord()) {
            for (RecordComponent part : type.getRecordComponents()) {
                String inside = path + "/" + part.getName();
                found.addAll(
                        part.getType() == List.class
                                ? enums(element(part.getGenericType()), inside + "/0")
                                : enums(part.getType(), inside));
            }
        }
        return found;
    }

    /** All fields, with the first value of each enumeration. */
    private JsonNode sample(Class<?> type) {
        if (type.isRecord()) {
            ObjectNode object = JSON.objectNode();
            for (RecordComponent part : type.getRecordComponents()) {
                object.set(part.getName(), sample(part));
            }
            return object;
        }
        if (type.isEnum()) {
            return mapper.valueToTree(type.getEnumConstants()[0]);
        }
        if (type == Boolean.class) {
            return JSON.booleanNode(true);
        }
        if (type == String.class || type == Quantity.class) {
            return JSON.textNode(type == String.class ? "text" : "1");
        }
        return JSON.numberNode(1);
    }

    private JsonNode sample(RecordComponent part) {
        if (part.getType() != List.class) {
            return sample(part.getType());
        }
        ArrayNode list = JSON.arrayNode();
        list.add(sample(element(part.getGenericType())));
        return list;
    }

    private static Class<?> element(Type list) {
        return (Class<?>) ((ParameterizedType) list).getActualTypeArguments()[0];
    }
}
