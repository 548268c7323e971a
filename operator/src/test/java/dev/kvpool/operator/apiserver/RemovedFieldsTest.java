// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.ApiGroup;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.operator.schema.FieldChange;
import dev.kvpool.operator.schema.FieldChange.Kind;
import dev.kvpool.operator.schema.SchemaFields;
import dev.kvpool.operator.schema.SpecDocument;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Gatherers;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A file that is applied means what is in it, whatever was in it when it was applied before: what has been removed from it is taken
 * back. Of a map whose last entry goes, or an object whose last field does, server-side apply leaves a null.
 */
class RemovedFieldsTest {
    private static final String NAMESPACE = "removed-fields";

    /** The API server waits for its disk with most of them. */
    private static final int AT_ONCE = 8;

    private static KubernetesClient client;

    private record Replacement(SpecDocument first, SpecDocument then) {}

    @BeforeAll
    static void connect() {
        client = ApiServer.shared().client();
        ApiServer.shared().createNamespace(NAMESPACE);
    }

    @AfterAll
    static void disconnect() {
        client.close();
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void whatIsNoLongerAppliedIsTakenBack(Kind kind) {
        List<Replacement> all = kind.changes().stream()
                .flatMap(change -> Stream.of(change.before(), change.after())
                        .filter(whole -> !change.isRefusedBefore() || whole.equals(change.after()))
                        .flatMap(whole ->
                                lessThan(kind, whole, change).stream().map(less -> new Replacement(whole, less))))
                .toList();
        List<String> allowed = IntStream.range(0, all.size())
                .boxed()
                .gather(Gatherers.mapConcurrent(AT_ONCE, i -> outcome(kind, "c" + i, all.get(i))))
                .flatMap(Optional::stream)
                .toList();
        List<String> wrong = allowed.stream().filter(text -> !text.isEmpty()).toList();

        assertThat(allowed)
                .as("changes that are allowed")
                .hasSizeGreaterThan(kind.changes().size());
        // What is left of perNode: {nodeSelector: ...} is no perNode: {}, and must not be read as a set without
        // perNode; nor what is
        // left of emptyDir: {medium: ...} as a volume without a source, nor of quotas as a tenant without.
        assertThat(wrong)
                .allMatch(text -> Stream.of(
                                "spec.storage[0].perNode",
                                "podTemplate.volumes[0].emptyDir",
                                "spec.tenants[0].bytes",
                                "spec.tenants[0].objects")
                        .anyMatch(field -> text.contains(field + ": Invalid value: \"null\"")));
    }

    /** The other spec of the change, and this one without the field, without what the field is in, and so on. */
    private static Set<SpecDocument> lessThan(Kind kind, SpecDocument whole, FieldChange change) {
        Set<SpecDocument> less = new HashSet<>(List.of(change.before(), change.after()));
        if (whole.valuesOf(SchemaFields.of(kind.crd())).containsKey(change.field())) {
            for (String path = change.field(); path.contains("."); path = path.substring(0, path.lastIndexOf('.'))) {
                less.add(whole.without(path));
            }
        }
        less.remove(whole);
        return less;
    }

    /**
     * What is wrong with applying one spec after another, judged by a replacement of the whole object: empty text for nothing, nothing
     * when the replacement is refused as well, so that the change is not allowed at all.
     */
    private static Optional<String> outcome(Kind kind, String name, Replacement specs) {
        SpecDocument first = specs.first();
        SpecDocument then = specs.then();
        apply(kind, name, first);
        try {
            Object replaced;
            try {
                replaced = spec(kind, resource(kind, name, then).dryRun().update());
            } catch (KubernetesClientException refused) {
                return Optional.empty();
            }
            Object applied = spec(kind, apply(kind, name, then));
            return Optional.of(
                    applied.equals(replaced)
                            ? ""
                            : "%s, then %s: reads %s".formatted(first.text(), then.text(), applied));
        } catch (KubernetesClientException refused) {
            return Optional.of("%s, then %s: %s".formatted(first.text(), then.text(), refused.getMessage()));
        } finally {
            resource(kind, name, first).delete();
        }
    }

    private static GenericKubernetesResource apply(Kind kind, String name, SpecDocument spec) {
        return resource(kind, name, spec).fieldManager("user").serverSideApply();
    }

    private static Resource<GenericKubernetesResource> resource(Kind kind, String name, SpecDocument spec) {
        String yaml = """
                apiVersion: %s
                kind: %s
                metadata: {name: %s, namespace: %s}
                spec: %s
                """.formatted(ApiGroup.API_VERSION, kind.title(), name, NAMESPACE, spec.text());
        var object = client.getKubernetesSerialization().unmarshal(yaml, GenericKubernetesResource.class);
        return client.genericKubernetesResources(ApiGroup.API_VERSION, kind.title())
                .inNamespace(NAMESPACE)
                .resource(object);
    }

    /** As the operator reads it. */
    private static Object spec(Kind kind, GenericKubernetesResource object) {
        Class<? extends CustomResource<?, ?>> type = switch (kind) {
            case POOL -> KvCachePool.class;
            case ENGINE -> TransferEngine.class;
        };
        return client.getKubernetesSerialization().convertValue(object, type).getSpec();
    }
}
