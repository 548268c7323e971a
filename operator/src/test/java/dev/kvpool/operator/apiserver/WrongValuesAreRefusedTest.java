// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kvpool.operator.schema.FieldChange;
import dev.kvpool.operator.schema.FieldChange.Kind;
import dev.kvpool.operator.schema.SchemaFields;
import dev.kvpool.operator.schema.SpecDocument;
import dev.kvpool.operator.schema.WrongValues;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the schema makes wrong of each field is refused by that field's name, in a spec that is right otherwise: too long, too many,
 * too large, of another type. A field without bounds fails.
 */
class WrongValuesAreRefusedTest {
    private static KubernetesClient client;

    @BeforeAll
    static void connect() {
        client = ApiServer.shared().client();
    }

    @AfterAll
    static void disconnect() {
        client.close();
    }

    static Stream<Arguments> fields() {
        return Stream.of(Kind.values())
                .flatMap(kind -> kind.changes().stream().map(change -> Arguments.of(kind, change)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("fields")
    void onlyTheWrongValueIsRefused(Kind kind, FieldChange change) {
        if (!change.isRefusedBefore()) {
            assertThatCode(() -> create(kind, change.before())).doesNotThrowAnyException();
        }
        assertThatCode(() -> create(kind, change.after())).doesNotThrowAnyException();

        JSONSchemaProps schema = SchemaFields.schemas(kind.crd()).get(change.field());
        List<Object> wrong = new ArrayList<>(WrongValues.outOfBounds(schema));
        wrong.add(WrongValues.ofAnotherType(schema));
        for (Object value : wrong) {
            assertThat(refused(kind, change.after().with(change.field(), value)))
                    .as("fields by which %s is refused", value)
                    .anySatisfy(field -> assertThat(field + ".").startsWith(change.field() + "."));
        }
    }

    private static List<String> refused(Kind kind, SpecDocument spec) {
        var refusal = catchThrowableOfType(KubernetesClientException.class, () -> create(kind, spec));
        return refusal == null
                ? List.of()
                : refusal.getStatus().getDetails().getCauses().stream()
                        .map(StatusCause::getField)
                        .map(SchemaFields::withoutIndexes)
                        .toList();
    }

    /** As the API server would take it: nothing is stored. */
    private static void create(Kind kind, SpecDocument spec) {
        var resource = client.getKubernetesSerialization()
                .unmarshal(
                        "--- {apiVersion: kvpool.dev/v1alpha1, kind: %s, metadata: {name: wrong, namespace: default}}"
                                .formatted(kind.title()),
                        GenericKubernetesResource.class);
        resource.setAdditionalProperty("spec", spec.values());
        client.resource(resource).dryRun().create();
    }
}
