// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import dev.kvpool.api.v1alpha1.ApiGroup;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.plugin.failure.Sentences;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.FieldValidateable.Validation;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A custom resource in a file, as the API server would take it: checked, and with its defaults, and nothing is stored. */
public final class SpecFile {
    private SpecFile() {}

    /**
     * Reads it.
     *
     * @param kind what it must be
     * @throws PluginException when it is something else, for another namespace, or the API server refuses it
     */
    public static <R extends HasMetadata> R read(Path file, Class<R> kind, Cluster on) {
        GenericKubernetesResource wanted = parse(file, on);
        String expected = HasMetadata.getKind(kind);
        if (!expected.equals(wanted.getKind()) || !ApiGroup.API_VERSION.equals(wanted.getApiVersion())) {
            throw new PluginException("%s holds a %s of %s, not a %s of %s"
                    .formatted(file, wanted.getKind(), wanted.getApiVersion(), expected, ApiGroup.API_VERSION));
        }
        String name = wanted.getMetadata() == null ? null : wanted.getMetadata().getName();
        if (name == null) {
            throw new PluginException("%s has no metadata.name".formatted(file));
        }
        String namespace = wanted.getMetadata().getNamespace();
        if (namespace != null && !namespace.equals(on.namespace())) {
            throw new PluginException("%s is for namespace %s, and this is about namespace %s; -n names another"
                    .formatted(file, namespace, on.namespace()));
        }
        try {
            return on.client().getKubernetesSerialization().convertValue(asStored(wanted, kind, on), kind);
        } catch (KubernetesClientException e) {
            throw new PluginException("%s would be refused: %s".formatted(file, Sentences.of(e)));
        }
    }

    private static GenericKubernetesResource parse(Path file, Cluster on) {
        try {
            GenericKubernetesResource parsed = on.client()
                    .getKubernetesSerialization()
                    .unmarshal(Files.readString(file), GenericKubernetesResource.class);
            if (parsed == null) {
                throw new PluginException("%s is empty".formatted(file));
            }
            return parsed;
        } catch (IOException e) {
            throw new PluginException("%s cannot be read: %s".formatted(file, e));
        } catch (IllegalArgumentException | KubernetesClientException e) {
            throw new PluginException("%s holds no single object in YAML or JSON".formatted(file));
        }
    }

    /** The whole file counts: a field that is not in it goes back to its default, as with kubectl apply. */
    private static GenericKubernetesResource asStored(
            GenericKubernetesResource wanted, Class<? extends HasMetadata> kind, Cluster on) {
        var all = on.client()
                .genericKubernetesResources(ResourceDefinitionContext.fromResourceType(kind))
                .inNamespace(on.namespace());
        GenericKubernetesResource actual =
                all.withName(wanted.getMetadata().getName()).get();
        wanted.getMetadata().setNamespace(on.namespace());
        wanted.getMetadata()
                .setResourceVersion(actual == null ? null : actual.getMetadata().getResourceVersion());
        var asked = all.resource(wanted).dryRun().fieldValidation(Validation.STRICT);
        return actual == null ? asked.create() : asked.update();
    }
}
