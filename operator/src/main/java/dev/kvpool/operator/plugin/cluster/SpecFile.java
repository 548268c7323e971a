// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import dev.kvpool.api.v1alpha1.ApiGroup;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.plugin.failure.Sentences;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Custom resources in a file, as the API server would store them if kubectl applied the file: checked, and with their defaults, and nothing
 * is stored. Objects of other kinds in the same file say nothing of pools.
 */
public final class SpecFile {
    /** An object may begin on the line of its separator. */
    private static final Pattern BEFORE_A_DOCUMENT = Pattern.compile("(?m)^(?=---(?:[ \\t]|$))");

    private final Path file;
    private final Cluster on;
    private final ApplyOptions options;
    private final List<GenericKubernetesResource> objects;

    private SpecFile(Path file, Cluster on, ApplyOptions options, List<GenericKubernetesResource> objects) {
        this.file = file;
        this.on = on;
        this.options = options;
        this.objects = objects;
    }

    /**
     * Reads it.
     *
     * @throws PluginException when it cannot be read or holds no objects
     */
    public static SpecFile of(Path file, Cluster on) {
        try {
            return of(file, Files.readString(file), on);
        } catch (IOException e) {
            throw new PluginException("%s cannot be read: %s".formatted(file, e));
        }
    }

    /** The same of what was read from somewhere else. */
    public static SpecFile of(Path file, String content, Cluster on) {
        List<GenericKubernetesResource> objects = new ArrayList<>();
        KubernetesSerialization text = on.client().getKubernetesSerialization();
        try {
            for (String document : BEFORE_A_DOCUMENT.split(content, -1)) {
                objects.addAll(listed(text.unmarshal(document, GenericKubernetesResource.class), text));
            }
        } catch (IllegalArgumentException | KubernetesClientException | YamlEngineException e) {
            throw new PluginException("%s does not hold objects in YAML or JSON".formatted(file));
        }
        if (objects.isEmpty()) {
            throw new PluginException("%s is empty".formatted(file));
        }
        return new SpecFile(file, on, new ApplyOptions(), objects);
    }

    /** The same, applied with these options. */
    public SpecFile applied(ApplyOptions how) {
        return new SpecFile(file, on, how, objects);
    }

    /** What kubectl get writes of several is one list. A document may be empty but for comments. */
    private static List<GenericKubernetesResource> listed(
            GenericKubernetesResource parsed, KubernetesSerialization text) {
        if (parsed == null) {
            return List.of();
        }
        return "List".equals(parsed.getKind())
                        && parsed.getAdditionalProperties().get("items") instanceof Collection<?> items
                ? items.stream()
                        .map(item -> text.convertValue(item, GenericKubernetesResource.class))
                        .toList()
                : List.of(parsed);
    }

    /**
     * The one of a kind.
     *
     * @throws PluginException when there is none or are several, when it is for another namespace, or the API server refuses it
     */
    public <R extends HasMetadata> R one(Class<R> kind) {
        List<GenericKubernetesResource> found = some(kind);
        if (found.size() > 1) {
            throw new PluginException("%s holds several objects of kind %s (%s): give each a file of its own"
                    .formatted(
                            file,
                            HasMetadata.getKind(kind),
                            found.stream().map(this::name).collect(Collectors.joining(", "))));
        }
        return stored(found.getFirst(), kind);
    }

    /** Those of a kind that are of the cluster's namespace and whose names are asked for: others are not asked of the API server. */
    public <R extends HasMetadata> List<R> all(Class<R> kind, Predicate<String> asked) {
        return of(kind).stream()
                .filter(wanted -> asked.test(name(wanted)) && namespace(wanted).equals(on.namespace()))
                .map(wanted -> stored(wanted, kind))
                .toList();
    }

    /**
     * All of a kind that are of the cluster's namespace.
     *
     * @throws PluginException when there is none
     */
    public <R extends HasMetadata> List<R> all(Class<R> kind) {
        List<GenericKubernetesResource> found = some(kind);
        List<R> here = all(kind, any -> true);
        return here.isEmpty() ? List.of(stored(found.getFirst(), kind)) : here;
    }

    private List<GenericKubernetesResource> some(Class<? extends HasMetadata> kind) {
        List<GenericKubernetesResource> found = of(kind);
        if (found.isEmpty()) {
            throw new PluginException("%s holds %s, and no %s of %s"
                    .formatted(
                            file,
                            objects.stream()
                                    .map(object -> "a %s of %s".formatted(object.getKind(), object.getApiVersion()))
                                    .distinct()
                                    .collect(Collectors.joining(", ")),
                            HasMetadata.getKind(kind),
                            ApiGroup.API_VERSION));
        }
        return found;
    }

    private List<GenericKubernetesResource> of(Class<? extends HasMetadata> kind) {
        return objects.stream()
                .filter(object -> HasMetadata.getKind(kind).equals(object.getKind())
                        && ApiGroup.API_VERSION.equals(object.getApiVersion()))
                .toList();
    }

    private String name(GenericKubernetesResource wanted) {
        if (wanted.getMetadata() == null || wanted.getMetadata().getName() == null) {
            throw new PluginException("%s has a %s without metadata.name".formatted(file, wanted.getKind()));
        }
        return wanted.getMetadata().getName();
    }

    private String namespace(GenericKubernetesResource wanted) {
        return Objects.requireNonNullElse(wanted.getMetadata().getNamespace(), on.namespace());
    }

    private <R extends HasMetadata> R stored(GenericKubernetesResource wanted, Class<R> kind) {
        String name = name(wanted);
        String namespace = namespace(wanted);
        if (!namespace.equals(on.namespace())) {
            throw new PluginException("%s of %s is for namespace %s, and this is about namespace %s; -n names another"
                    .formatted(name, file, namespace, on.namespace()));
        }
        wanted.getMetadata().setNamespace(namespace);
        try {
            return on.client()
                    .getKubernetesSerialization()
                    .convertValue(new KubectlApply(on, options, kind).stored(wanted), kind);
        } catch (KubernetesClientException e) {
            throw new PluginException("%s would be refused: %s".formatted(file, Sentences.of(e)));
        }
    }
}
